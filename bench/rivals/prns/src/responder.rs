//! The side that receives, proves and answers.

use std::collections::HashMap;

use bench_peer::{
    Fault,
    rns::{Command, Content, Reading, Ready, Witness},
};
use personal_rns::{prelude::*, routing::delivery::Delivery};

use crate::{destination, initiator::bytes_of_value, interface};

/// Serves until the process is ended.
pub(crate) async fn run(command: &Command) -> Result<(), Fault> {
    let accept = ResourceStrategy::Accept { max_uncompressed_bytes: u64::MAX, accept_compressed: true };
    let destination = destination(accept, ServeMyRequestEndpoints::Yes)?;
    let hash = destination.destination_hash().map_err(|error| format!("{error:?}"))?;
    let mut segments = HashMap::new();
    let node = PrnsNode::new(PrnsNodeRecipe {
        transport_identity: None,
        pre_configured_destinations: [destination],
        app_state: Witness::new(Content::new(&command.work)),
        storage: GrowableHeap,
        request_endpoints: request_endpoints![Contents],
        on_event: move |event, witness: &Witness| {
            if let PrnsEvent::Message(message) = event {
                see(&message, &mut segments, witness);
            }
        },
        interfaces: ManuallyAttached,
        persistence: NoPersistence,
    });
    let server = interface::server(command).await?;
    let address = server.local_addr()?;
    let _server = node.handle().supervise(server);
    let digits = hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    Ready { address, destination: digits }.print()?;
    Ok(node.run().await.map_err(|error| format!("the node ended: {error:?}"))?)
}

/// Answers with the contents that are asked for.
struct Contents;

impl RequestEndpoint<Witness> for Contents {
    const ENDPOINT_ID: &'static str = Command::PATH;
    const POLICY: RequestEndpointPolicy = RequestEndpointPolicy::AllowAll;

    async fn handle(mut context: RequestContext<'_, Witness>) -> Result<(), Decline> {
        let response = context.state.answer(bytes_of_value(context.data));
        context.respond_messagepack_bytes(&response)
    }
}

/// Checks what arrived; resources of several segments come segment by segment.
fn see(message: &Message<'_>, segments: &mut HashMap<Vec<u8>, Reading>, witness: &Witness) {
    match message {
        Message::Delivered(Delivery::Single(packet)) => witness.see(packet.plaintext),
        Message::Delivered(Delivery::Link(packet)) => witness.see(packet.plaintext),
        Message::Resource { data, .. } => witness.see(data),
        Message::ResourceSegment { original_hash, segment_index, total_segments, data, .. } => {
            let mut reading = segments.remove(original_hash.as_bytes().as_slice()).unwrap_or_default();
            if let Err(fault) = reading.read(witness.content(), data) {
                witness.fault(fault);
            }
            if segment_index == total_segments {
                witness.see_read(reading);
            } else {
                segments.insert(original_hash.as_bytes().to_vec(), reading);
            }
        }
        _ => {}
    }
}
