//! Scenarios of the Reticulum face, written once and run on every runtime.
//!
//! The integration tests of the runtime crates include this folder and call [`rns_scenarios!`].
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "tests, of which clippy only sees the functions that are marked as such"
)]

#[macro_use]
#[path = "../scenarios.rs"]
mod scenarios;
#[path = "../timing.rs"]
mod timing;

use proto_rns::{
    crypto::Dalek,
    dest::{DestinationName, LocalDestination},
    identity::Identity,
    iface::{Framing, InterfaceConfig, Medium, Target},
    link::{LinkConfig, ProofStrategy, RequestPolicies, RequestPolicy},
    resource::{ResourceConfig, Strategy},
    wire::{MessageType, StreamId},
};
use runtime_core::{
    Runtime,
    rns::{Destination, FileSource, Link, Progress, RnsNode},
};
use std::{io::Write, net::SocketAddr, sync::Arc, time::Duration};
use timing::{sleep, within};

/// Makes a test of every scenario, with the runtime and a function that runs a future on it.
macro_rules! rns_scenarios {
    ($runtime:ty, $block_on:path) => {
        scenarios! { $runtime, $block_on;
            a_packet_is_delivered_and_proved
            a_link_carries_packets_both_ways_and_says_when_it_is_closed
            a_request_is_answered
            a_resource_arrives_and_tells_how_far_it_is
            a_file_is_sent_without_being_read_whole
            messages_and_a_stream_arrive_whole_and_in_order
            nobody_there_means_no_path_in_time
            a_node_that_is_shut_down_leaves_nobody_waiting
        }
    };
}

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
async fn pair<R: Runtime>() -> (RnsNode<R>, Destination<R>, RnsNode<R>) {
    let address = free_port();
    let a = RnsNode::<R>::builder().interface(server(address)).spawn().unwrap();
    let b = RnsNode::<R>::builder().interface(client(address)).spawn().unwrap();
    let destination = a.register(open_to_all("test.tokio")).unwrap();
    let mut announces = b.announces();
    let interface = b.with_node(|node, _| node.interfaces().next().unwrap().0);
    b.interface_up(interface).await.unwrap();
    sleep::<R>(Duration::from_millis(50)).await;
    destination.announce(Some(b"hello")).unwrap();
    let heard = within::<R, _>(5 * S, announces.next()).await.unwrap().unwrap();
    assert_eq!((heard.destination, &heard.app_data[..]), (destination.hash(), &b"hello"[..]));
    (a, destination, b)
}

/// The nodes are there to live as long as the links.
async fn linked<R: Runtime>() -> (Link<R>, Link<R>, Destination<R>, [RnsNode<R>; 2]) {
    let (a, destination, b) = pair::<R>().await;
    let link = b.connect(destination.hash()).await.unwrap();
    let other = destination.accept().await.unwrap();
    (link, other, destination, [a, b])
}

pub(crate) async fn a_packet_is_delivered_and_proved<R: Runtime>() {
    let (_a, destination, b) = pair::<R>().await;
    b.deliver(destination.hash(), b"packet").await.unwrap();
    assert_eq!(&destination.recv().await.unwrap().data[..], b"packet");
}

pub(crate) async fn a_link_carries_packets_both_ways_and_says_when_it_is_closed<R: Runtime>() {
    let (link, other, _destination, _nodes) = linked::<R>().await;
    link.send(b"there").unwrap().await.unwrap();
    assert_eq!(&other.recv().await.unwrap()[..], b"there");
    let identity = Identity::from_bytes(&Dalek, &[9; 64]);
    link.identify(&identity).unwrap();
    assert_eq!(other.identified().await.unwrap(), *identity.public());
    other.close();
    link.closed().await;
    assert!(link.recv().await.is_err());
}

pub(crate) async fn a_request_is_answered<R: Runtime>() {
    let (link, other, _destination, _nodes) = linked::<R>().await;
    R::spawn(async move {
        while let Ok(request) = other.next_request().await {
            let upper = request.data.to_ascii_uppercase();
            other.respond(request.id, &upper).unwrap();
        }
    });
    let response = link.request("/upper", b"\xa3abc").await.unwrap();
    assert_eq!(&response.data[..], b"\xa3ABC");
}

pub(crate) async fn a_resource_arrives_and_tells_how_far_it_is<R: Runtime>() {
    let (link, other, _destination, _nodes) = linked::<R>().await;
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

pub(crate) async fn messages_and_a_stream_arrive_whole_and_in_order<R: Runtime>() {
    let (link, other, _destination, _nodes) = linked::<R>().await;
    other.open_channel().unwrap();
    for n in 0..100_u8 {
        link.send_message(MessageType(1), &[n]).await.unwrap();
    }
    for n in 0..100 {
        assert_eq!(&other.next_message().await.unwrap().1[..], [n]);
    }
    let id = StreamId::new(3).unwrap();
    let ((mut reader, _), (_, mut writer)) = (other.stream(id), link.stream(id));
    let sent: Vec<u8> = (0..300_000_u32).map(|n| (n % 251) as u8).collect();
    let copy = sent.clone();
    R::spawn(async move {
        writer.write_all(&copy).await.unwrap();
        writer.finish().await.unwrap();
    });
    let mut got = Vec::new();
    while let Some(bytes) = reader.next().await.unwrap() {
        got.extend_from_slice(&bytes);
    }
    assert!(got == sent);
}

pub(crate) async fn a_file_is_sent_without_being_read_whole<R: Runtime>() {
    let (link, other, _destination, _nodes) = linked::<R>().await;
    let data: Vec<u8> = (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let path =
        std::env::temp_dir().join(format!("iolite-file-source-{}-{:?}", std::process::id(), link.hash()));
    std::fs::File::create(&path).unwrap().write_all(&data).unwrap();
    let source = FileSource::new(std::fs::File::open(&path).unwrap()).unwrap();
    std::fs::remove_file(&path).unwrap();
    link.send_resource(source, None, false).unwrap().await.unwrap();
    assert!(other.next_resource().await.unwrap().data == data);
}

pub(crate) async fn nobody_there_means_no_path_in_time<R: Runtime>() {
    let (_a, _destination, b) = pair::<R>().await;
    let nobody = proto_rns::DestinationHash::new([7; 16]);
    assert!(b.find_path(nobody, Duration::from_millis(200)).await.is_err());
    assert!(b.send(nobody, b"x").is_err());
    assert!(b.connect(nobody).await.is_err());
}

pub(crate) async fn a_node_that_is_shut_down_leaves_nobody_waiting<R: Runtime>() {
    let (link, other, destination, [a, _b]) = linked::<R>().await;
    let mut announces = a.announces();
    a.shutdown().await;
    assert!(announces.next().await.is_none());
    assert!(destination.recv().await.is_err());
    assert!(other.recv().await.is_err());
    assert!(within::<R, _>(5 * S, link.closed()).await.is_some());
}
