//! Reticulum on tokio: two nodes over a real TCP connection.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

use proto_rns::{
    crypto::Dalek,
    dest::{DestinationName, LocalDestination},
    identity::Identity,
    iface::{Framing, InterfaceConfig, Medium, Target},
    link::{LinkConfig, ProofStrategy, RequestPolicies, RequestPolicy},
    resource::{ResourceConfig, Strategy},
    wire::{MessageType, StreamId},
};
use runtime_tokio::rns::{Destination, Link, LinkStream, Progress, RnsNode};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const S: Duration = Duration::from_secs(1);

fn free_port() -> SocketAddr {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn server(bind: SocketAddr) -> InterfaceConfig {
    InterfaceConfig::new("server", Medium::TcpServer { bind, framing: Framing::Hdlc, backbone: false })
}

fn client(peer: SocketAddr) -> InterfaceConfig {
    let target = Target::Address(peer);
    InterfaceConfig::new("client", Medium::TcpClient { target, framing: Framing::Hdlc, backbone: false })
}

fn open_to_all(name: &str) -> LocalDestination {
    let identity = Identity::from_bytes(&Dalek, &[5; 64]);
    let mut destination = LocalDestination::single(DestinationName::parse(name).unwrap(), identity);
    let mut requests = RequestPolicies::default();
    requests.allow("/upper", RequestPolicy::All);
    destination.proofs = ProofStrategy::All;
    destination.links = Some(LinkConfig {
        proofs: ProofStrategy::All,
        requests: Arc::new(requests),
        resources: ResourceConfig { strategy: Strategy::All, ..ResourceConfig::default() },
        ..LinkConfig::default()
    });
    destination
}

/// Starts two nodes of which the second has heard the first one's destination.
async fn pair() -> (RnsNode, Destination, RnsNode) {
    let address = free_port();
    let a = RnsNode::builder().interface(server(address)).spawn().unwrap();
    let b = RnsNode::builder().interface(client(address)).spawn().unwrap();
    let destination = a.register(open_to_all("test.tokio")).unwrap();
    let mut announces = b.announces();
    let interface = b.with_node(|node, _| node.interfaces().next().unwrap().0);
    b.interface_up(interface).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    destination.announce(Some(b"hello")).unwrap();
    let heard = tokio::time::timeout(5 * S, announces.next()).await.unwrap().unwrap();
    assert_eq!((heard.destination, &heard.app_data[..]), (destination.hash(), &b"hello"[..]));
    (a, destination, b)
}

async fn linked() -> (Link, Link, Destination, RnsNode, RnsNode) {
    let (a, destination, b) = pair().await;
    let link = b.connect(destination.hash()).await.unwrap();
    let other = destination.accept().await.unwrap();
    (link, other, destination, a, b)
}

#[tokio::test]
async fn a_packet_is_delivered_and_proved() {
    let (_a, destination, b) = pair().await;
    b.deliver(destination.hash(), b"packet").await.unwrap();
    assert_eq!(&destination.recv().await.unwrap().data[..], b"packet");
}

#[tokio::test]
async fn a_link_carries_packets_both_ways_and_says_when_it_is_closed() {
    let (link, other, _destination, _a, _b) = linked().await;
    link.send(b"there").unwrap().await.unwrap();
    assert_eq!(&other.recv().await.unwrap()[..], b"there");
    let identity = Identity::from_bytes(&Dalek, &[9; 64]);
    link.identify(&identity).unwrap();
    assert_eq!(other.identified().await.unwrap(), *identity.public());
    other.close();
    link.closed().await;
    assert!(link.recv().await.is_err());
}

#[tokio::test]
async fn a_request_is_answered() {
    let (link, other, ..) = linked().await;
    tokio::spawn(async move {
        while let Ok(request) = other.next_request().await {
            let upper = request.data.to_ascii_uppercase();
            other.respond(request.id, &upper).unwrap();
        }
    });
    let response = link.request("/upper", b"\xa3abc").await.unwrap();
    assert_eq!(&response.data[..], b"\xa3ABC");
}

#[tokio::test]
async fn a_resource_arrives_and_tells_how_far_it_is() {
    let (link, other, ..) = linked().await;
    let data: Vec<u8> = (0..5_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let transfer = link.send_resource(data.clone(), Some(vec![0xa1, b'm']), false).unwrap();
    let mut seen = Progress::default();
    while let Some(progress) = transfer.progressed(seen).await {
        assert!(progress.done >= seen.done);
        seen = progress;
    }
    transfer.await.unwrap();
    let resource = other.next_resource().await.unwrap();
    assert!(resource.data == data);
    assert_eq!(resource.metadata.as_deref(), Some(&[0xa1, b'm'][..]));
    assert!(seen.done > 0);
}

#[tokio::test]
async fn messages_and_a_stream_arrive_whole_and_in_order() {
    let (link, other, ..) = linked().await;
    other.open_channel().unwrap();
    for n in 0..100_u8 {
        link.send_message(MessageType(1), &[n]).await.unwrap();
    }
    for n in 0..100 {
        assert_eq!(&other.next_message().await.unwrap().1[..], [n]);
    }
    let id = StreamId::new(3).unwrap();
    let (mut here, mut there) = (LinkStream::new(link.stream(id)), LinkStream::new(other.stream(id)));
    let sent: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
    let copy = sent.clone();
    let writer = tokio::spawn(async move {
        here.write_all(&copy).await.unwrap();
        here.shutdown().await.unwrap();
        here
    });
    let mut got = Vec::new();
    there.read_to_end(&mut got).await.unwrap();
    assert!(got == sent);
    drop(writer.await.unwrap());
}
