//! The side that begins every operation.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bench_peer::{
    Fault,
    rns::{Command, Content, Kind, course},
};
use personal_rns::{prelude::*, routing::links::LinkId, runtime::SegmentCompression};
use tokio::io::{AsyncRead, ReadBuf};

use crate::{destination, interface};

/// Finds the responder, opens the links and runs the course.
pub(crate) async fn run(command: &Command) -> Result<(), Fault> {
    let client = interface::client(command);
    let node = PrnsNode::new(PrnsNodeRecipe {
        transport_identity: None,
        pre_configured_destinations: [destination(
            ResourceStrategy::AcceptNone,
            ServeMyRequestEndpoints::No,
        )?],
        app_state: (),
        storage: GrowableHeap,
        request_endpoints: request_endpoints![],
        on_event: |_event, _state| {},
        interfaces: move |node: &PrnsNodeHandle| {
            node.attach(client);
        },
        persistence: NoPersistence,
    });
    let handle = node.handle();
    tokio::select! {
        ended = node.run() => Err(format!("the node ended: {ended:?}").into()),
        done = measure(command, handle) => done,
    }
}

async fn measure(command: &Command, handle: PrnsNodeHandle) -> Result<(), Fault> {
    let destination = DestinationHash::new(parse_hash(&command.destination)?);
    find(&handle, destination).await?;
    let links = if command.work.kind == Kind::Packet { 0 } else { command.work.links };
    let mut initiator = Initiator { handle, destination, links: Vec::new(), kind: command.work.kind };
    for _ in 0..links {
        let link = initiator.handle.establish_link(destination).await;
        initiator.links.push(link.map_err(|error| format!("no link: {error:?}"))?);
    }
    course::run(command, initiator).await
}

/// Asks until the interface is up and somebody answers.
async fn find(handle: &PrnsNodeHandle, destination: DestinationHash) -> Result<(), Fault> {
    for _ in 0..ATTEMPTS {
        let asked = tokio::time::timeout(ATTEMPT, handle.request_path(destination)).await;
        if asked.is_ok_and(|found| found.is_ok()) {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err("the responder was not found".into())
}

struct Initiator {
    handle: PrnsNodeHandle,
    destination: DestinationHash,
    links: Vec<LinkId>,
    kind: Kind,
}

impl course::Initiator for Initiator {
    async fn perform(&self, link: usize, number: u64, content: &Arc<Content>) -> Result<usize, Fault> {
        let size = content.size(number);
        let failed = |what: &str, why: &dyn std::fmt::Debug| Fault::from(format!("{what} {number}: {why:?}"));
        if self.kind == Kind::Packet {
            let sent = self.handle.send_single_packet(self.destination, &content.of(number)).await;
            return sent.map(|_| size).map_err(|error| failed("packet", &error));
        }
        let link = *self.links.get(link).ok_or("no such link")?;
        match self.kind {
            Kind::Message => {
                let sent = self.handle.send_link_packet(link, &content.of(number)).await;
                sent.map_err(|error| failed("message", &error))?;
            }
            Kind::Resource => {
                let source = Source { content: Arc::clone(content), number, position: 0 };
                let sent = self.handle.send_resource_with_compression(
                    link,
                    size as u64,
                    source,
                    SegmentCompression::Never,
                );
                sent.await.map_err(|error| failed("resource", &error))?;
            }
            Kind::Request => {
                let mut request = [0xc4, 8, 0, 0, 0, 0, 0, 0, 0, 0];
                request[2..].copy_from_slice(&number.to_le_bytes());
                let answered =
                    self.handle.request(link, RequestEndpointId::of(Command::PATH), &request).await;
                let (response, _) = answered.map_err(|error| failed("request", &error))?;
                if content.check(bytes_of_value(&response))? != number {
                    return Err(format!("request {number} got another one's response").into());
                }
            }
            Kind::Packet | Kind::RelayedPacket | Kind::RelayedPart => {
                return Err(format!("an initiator knows no {}", self.kind).into());
            }
        }
        Ok(size)
    }
}

/// The contents of a resource, as they are asked for.
struct Source {
    content: Arc<Content>,
    number: u64,
    position: usize,
}

impl AsyncRead for Source {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        while buf.remaining() > 0 {
            let piece = self.content.piece(self.number, self.position, buf.remaining());
            if piece.is_empty() {
                break;
            }
            buf.put_slice(piece.as_ref());
            let len = piece.len();
            self.position += len;
        }
        Poll::Ready(Ok(()))
    }
}

/// The bytes in a MessagePack value of them, or nothing.
pub(crate) fn bytes_of_value(value: &[u8]) -> &[u8] {
    let head = match value.first() {
        Some(0xc4) => 2,
        Some(0xc5) => 3,
        Some(0xc6) => 5,
        _ => value.len(),
    };
    value.get(head..).unwrap_or_default()
}

fn parse_hash(digits: &str) -> Result<[u8; 16], Fault> {
    let mut hash = [0; 16];
    for (at, byte) in hash.iter_mut().enumerate() {
        let pair = digits.get(2 * at..2 * at + 2).ok_or("a destination has 32 digits")?;
        *byte = u8::from_str_radix(pair, 16)?;
    }
    Ok(hash)
}

const ATTEMPTS: usize = 50;
const ATTEMPT: std::time::Duration = std::time::Duration::from_millis(500);
const PAUSE: std::time::Duration = std::time::Duration::from_millis(50);
