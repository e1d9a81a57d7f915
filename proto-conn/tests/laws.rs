//! The laws of machines, for both roles and several protocols.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use core::num::NonZeroUsize;
use netsim::laws::{self, Subject, SubjectLink};
use proto_conn::{
    Message, Method, Url,
    client::{Connection, Options, Reconnect},
    http::BodyKind,
    server::{Config, PeerId, Server},
};
use proto_core::{DatagramOptions, Instant, LinkEvent, LinkId, LinkRequest, Machine, Rng};
use std::net::SocketAddr;

const FIRST: LinkId = LinkId(0);
const PEER: LinkId = LinkId::FIRST_ACCEPTED;
const START: Instant = Instant::from_millis(1_000_000);

fn up() -> LinkEvent {
    LinkEvent::Up { local: Some(SocketAddr::from(([10, 0, 0, 1], 40_000))), peer: None }
}

/// A client whose first link is up.
fn client(url: &str, options: Options, seed: [u8; 32], first: Message) -> Connection {
    let mut client = Connection::new(Url::parse(url).unwrap(), options, seed).unwrap();
    client.send(START, first).unwrap();
    while client.poll_link().is_some() {}
    client.handle_link(START, FIRST, up());
    client
}

/// A server with one peer.
fn server(config: Config, seed: [u8; 32]) -> Server {
    let mut server = Server::new(config, seed).unwrap();
    let listener = server.listen(SocketAddr::from(([0, 0, 0, 0], 80)));
    while server.poll_link().is_some() {}
    server.handle_link(START, listener, up());
    let peer = Some(SocketAddr::from(([10, 9, 9, 9], 50_000)));
    server.handle_link(START, PEER, LinkEvent::Accepted { listener, peer });
    server
}

fn sent(machine: &mut impl Machine) -> Vec<u8> {
    let (mut all, mut pieces) = (vec![], vec![]);
    while machine.poll_transmit(START, NonZeroUsize::MIN, &mut all).is_some() {
        machine.poll_gather(&mut pieces);
        pieces.drain(..).for_each(|piece| all.extend_from_slice(&piece));
    }
    all
}

fn drain_links(machine: &mut impl Machine) -> Vec<LinkRequest> {
    core::iter::from_fn(|| machine.poll_link()).collect()
}

/// An HTTP client with requests under way.
struct HttpClient;

impl Subject for HttpClient {
    type Machine = Connection;

    fn build(&self, seed: [u8; 32]) -> Connection {
        let options = Options { max_redirects: 2, ..Options::default() };
        let mut client = client("http://10.9.9.9/", options, seed, Message::get());
        client.send(START, Message::request(Method::Post, "/x", "body")).unwrap();
        client
    }

    fn links(&self) -> Vec<SubjectLink> {
        vec![SubjectLink::Stream(FIRST)]
    }

    fn streams(&self, _seed: [u8; 32]) -> Vec<Vec<u8>> {
        [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nA: b\r\n\r\nhelloHTTP/1.1 204 No Content\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nT: x\r\n\r\n",
            "HTTP/1.1 302 Found\r\nLocation: /y\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\nuntil the end",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        ]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
    }

    fn command(&self, machine: &mut Connection, now: Instant, rng: &mut Rng) {
        match rng.below(5) {
            0 => drop(machine.send(now, Message::request(Method::Get, "/z", ""))),
            1 => drop(machine.send(now, Message::request(Method::Put, "/", vec![7; 40_000]))),
            2 => drop(machine.close(now, 1000, "")),
            3 => machine.pause(rng.chance(0.3)),
            _ => drop(machine.open(now)),
        }
    }

    fn event_limit(&self) -> usize {
        256 + 3 * 64 + 64
    }
}

/// A WebSocket client that is open.
struct WsClient;

impl WsClient {
    fn options() -> Options {
        let mut options = Options { reconnect: Some(Reconnect::default()), ..Options::default() };
        options.ws.keepalive = Some(proto_conn::ws::Keepalive::default());
        options
    }
}

impl Subject for WsClient {
    type Machine = Connection;

    fn build(&self, seed: [u8; 32]) -> Connection {
        let mut client = client("ws://10.9.9.9/", Self::options(), seed, Message::text("first"));
        let mut server = server(Config::default(), seed);
        server.handle_stream(START, PEER, &mut sent(&mut client));
        client.handle_stream(START, FIRST, &mut sent(&mut server));
        while client.poll_event().is_some() {}
        assert_eq!(client.state(), proto_conn::client::State::Open);
        client
    }

    fn links(&self) -> Vec<SubjectLink> {
        vec![SubjectLink::Stream(FIRST)]
    }

    fn streams(&self, _seed: [u8; 32]) -> Vec<Vec<u8>> {
        let long = [&[0x82, 126, 0x13, 0x88][..], &[9; 5_000]].concat();
        vec![
            b"\x81\x05hello\x89\x02hi\x82\x03\x00\x01\x02\x8a\x00".to_vec(),
            b"\x01\x03one\x00\x03two\x89\x00\x80\x00\x88\x02\x03\xe8".to_vec(),
            [long.clone(), long].concat(),
            b"\x81\x02\xff\xff".to_vec(),
        ]
    }

    fn command(&self, machine: &mut Connection, now: Instant, rng: &mut Rng) {
        match rng.below(5) {
            0 => drop(machine.send(now, Message::text("some text"))),
            1 => drop(machine.send(now, Message::binary(vec![7; 40_000]))),
            2 => drop(machine.send(now, Message::ping("p"))),
            3 => drop(machine.close(now, 1000, "bye")),
            _ => machine.pause(rng.chance(0.3)),
        }
    }

    fn event_limit(&self) -> usize {
        256 + 64 + 64
    }
}

/// A UDP client.
struct UdpClient;

impl Subject for UdpClient {
    type Machine = Connection;

    fn build(&self, seed: [u8; 32]) -> Connection {
        client("udp://10.9.9.9:19132", Options::default(), seed, Message::datagram("first"))
    }

    fn links(&self) -> Vec<SubjectLink> {
        vec![SubjectLink::Datagrams(FIRST)]
    }

    fn datagrams(&self, _seed: [u8; 32]) -> Vec<Vec<u8>> {
        vec![vec![], vec![1], vec![2; 1_400], vec![3; 60_000]]
    }

    fn command(&self, machine: &mut Connection, now: Instant, rng: &mut Rng) {
        match rng.below(8) {
            0 => drop(machine.close(now, 0, "")),
            _ => drop(machine.send(now, Message::datagram(vec![1; 100]))),
        }
    }

    fn event_limit(&self) -> usize {
        256 + 64
    }

    fn dropped_events(&self, machine: &Connection) -> Option<u64> {
        Some(machine.dropped_datagrams())
    }
}

/// A server with one peer that speaks HTTP, or may switch.
struct OneServer;

impl Subject for OneServer {
    type Machine = Server;

    fn build(&self, seed: [u8; 32]) -> Server {
        let mut server = server(Config::default(), seed);
        let socket = server.listen_udp(SocketAddr::from(([0, 0, 0, 0], 4_000)), DatagramOptions::default());
        assert_eq!((socket, drain_links(&mut server).len()), (LinkId(1), 1));
        server.handle_link(START, socket, up());
        server
    }

    fn links(&self) -> Vec<SubjectLink> {
        vec![SubjectLink::Stream(PEER), SubjectLink::Datagrams(LinkId(1))]
    }

    fn datagrams(&self, _seed: [u8; 32]) -> Vec<Vec<u8>> {
        vec![vec![1], vec![2; 1_400]]
    }

    fn streams(&self, _seed: [u8; 32]) -> Vec<Vec<u8>> {
        let upgrade = "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        vec![
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".to_vec(),
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nGET / HTTP/1.0\r\n\r\n".to_vec(),
            [upgrade.as_bytes(), b"\x81\x85\x00\x00\x00\x00hello\x88\x80\x01\x02\x03\x04"].concat(),
            b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        ]
    }

    fn command(&self, machine: &mut Server, now: Instant, rng: &mut Rng) {
        let peer = PeerId(PEER);
        match rng.below(6) {
            0 => drop(machine.respond(now, peer, &Message::response(200, "short"), BodyKind::Whole)),
            1 => drop(machine.respond(now, peer, &Message::response(200, vec![1; 50_000]), BodyKind::Whole)),
            2 => drop(machine.send(now, peer, &Message::text("text"))),
            3 => drop(machine.send_datagram(LinkId(1), self.peer(), "datagram".into())),
            4 => drop(machine.inform(now, peer, &Message::response(103, ""))),
            _ => {
                if rng.chance(0.2) {
                    let _ = machine.close(now, peer, 1000, "");
                }
            }
        }
    }

    fn event_limit(&self) -> usize {
        Config::default().max_events + 128
    }

    fn dropped_events(&self, machine: &Server) -> Option<u64> {
        Some(machine.dropped_datagrams())
    }
}

#[test]
fn an_http_client_obeys() {
    laws::check(&HttpClient);
}

#[test]
fn a_websocket_client_obeys() {
    laws::check(&WsClient);
}

#[test]
fn a_udp_client_obeys() {
    laws::check(&UdpClient);
}

#[test]
fn a_server_obeys() {
    laws::check(&OneServer);
}
