//! bedrock-protocol 3.59.0 (npm): a Bedrock client logs in to a Bedrock server in offline mode and exchanges game packets
//! with it, through `iolite raknet proxy`.
//!
//! From the login on, both encrypt above RakNet with counted ciphers: one message changed, lost or out of order, and
//! nothing after it can be read.

use tests::peers::{Bedrock, Implementation, Relay};

#[test]
fn a_bedrock_client_and_server_understand_each_other_directly() {
    if Implementation::BedrockProtocol.is_skipped() {
        return;
    }
    let (mut server, address) = Bedrock::serve();
    let mut client = Bedrock::join(address);
    play(&mut server, &mut client);
    client.leave();
    server.event("closed");
}

#[test]
fn a_bedrock_client_logs_in_and_plays_through_the_proxy() {
    if Implementation::BedrockProtocol.is_skipped() {
        return;
    }
    let (mut server, address) = Bedrock::serve();
    let mut relay = Relay::to(address);
    let mut client = Bedrock::join(relay.address());
    play(&mut server, &mut client);
    client.leave();
    server.event("closed");
    assert_eq!(relay.ended(), ("player".to_owned(), "closed by the peer".to_owned()));
}

fn play(server: &mut Bedrock, client: &mut Bedrock) {
    assert_eq!(server.joined(), "Iolite");
    assert_eq!(client.joined(), "Iolite");
    client.event("packs");
    let said = ["hello".to_owned(), "x".repeat(30_000)];
    for message in &said {
        assert_eq!(server.heard(), *message);
    }
    for message in &said {
        assert_eq!(client.heard(), message.to_uppercase());
    }
}
