//! What other implementations really send is understood, and written back to the same bytes.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "the helpers of a test fail it by panicking"
)]

use proto_core::Reader;
use proto_raknet::Motd;
use proto_raknet::wire::{Connected, DataHeader, DatagramKind, Frame, Offline};
use serde::Deserialize;

#[test]
fn every_offline_datagram_of_real_peers_is_written_back_to_the_same_bytes() {
    for capture in Capture::all() {
        for (datagram, message) in capture.offline() {
            let mut written = Vec::new();
            message.emit(&mut written);
            let padding = padding_of(&message, datagram, written.len());
            written.extend_from_slice(padding);
            assert_eq!(written, datagram, "{}: {message:?}", capture.name);
        }
    }
}

#[test]
fn every_capture_holds_a_whole_offline_handshake() {
    for capture in Capture::all() {
        let names: Vec<&str> = capture.offline().map(|(_, message)| name_of(&message)).collect();
        let handshake: Vec<&str> =
            names.iter().copied().skip_while(|name| name.starts_with("unconnected")).collect();
        assert_eq!(handshake, ["request 1", "reply 1", "request 2", "reply 2"], "{}", capture.name);
    }
}

#[test]
fn only_the_datagrams_before_the_session_are_offline_messages() {
    for capture in Capture::all() {
        for datagram in &capture.datagrams {
            let of_session = DatagramKind::of(datagram[0]).is_some();
            let offline = Offline::classify(datagram, capture.cookie).is_some();
            assert_ne!(of_session, offline, "{}: {datagram:02x?}", capture.name);
        }
    }
}

#[test]
fn what_one_message_says_is_what_the_next_one_repeats() {
    for capture in Capture::all() {
        let (mut cookie_given, mut cookie_returned, mut mtu) = (None, None, u16::MAX);
        for (_, message) in capture.offline() {
            match message {
                Offline::Request1(request) => mtu = request.mtu(),
                Offline::Reply1(reply) => {
                    cookie_given = reply.cookie;
                    assert_eq!(reply.mtu, mtu, "{}", capture.name);
                }
                Offline::Request2(request) => cookie_returned = request.cookie,
                Offline::Reply2(reply) => assert!(reply.mtu <= mtu && !reply.security, "{}", capture.name),
                Offline::Ping(_)
                | Offline::Pong(_)
                | Offline::Refusal(_)
                | Offline::IncompatibleVersion(_)
                | Offline::OutOfBand(_) => {}
            }
        }
        assert_eq!(cookie_given, cookie_returned, "{}", capture.name);
        assert_eq!(cookie_given.is_some(), capture.cookie, "{}", capture.name);
    }
}

#[test]
fn the_pongs_of_real_servers_carry_a_motd() {
    let mut names = Vec::new();
    for capture in Capture::all() {
        for (_, message) in capture.offline() {
            if let Offline::Pong(pong) = message {
                let motd = Motd::parse(pong.data).unwrap();
                let written = motd.to_pong_data().unwrap();
                // The C++ peer was given a text without the length that Bedrock puts in front.
                assert!(written == pong.data || written[2..] == *pong.data, "{}", capture.name);
                names.push(motd.name);
            }
        }
    }
    assert_eq!(names, ["native", "go-raknet echo"]);
}

#[test]
fn every_message_that_runs_a_real_connection_is_written_back_to_the_same_bytes() {
    for capture in Capture::all() {
        let messages = capture.unsplit_messages();
        let mut counts = [0_usize; 3];
        for message in &messages {
            let Some(connected) = Connected::classify(message) else { continue };
            let connected =
                connected.unwrap_or_else(|error| panic!("{}: {error}: {message:02x?}", capture.name));
            counts[0] += usize::from(matches!(connected, Connected::Request(_)));
            counts[1] += usize::from(matches!(connected, Connected::Accepted(_)));
            counts[2] += usize::from(matches!(connected, Connected::NewIncoming(_)));
            let mut written = Vec::new();
            connected.emit(&mut written);
            assert_eq!(&written, message, "{}: {connected:?}", capture.name);
        }
        assert!(counts.iter().all(|&count| count > 0), "{}: {counts:?}", capture.name);
    }
}

/// The part of a datagram that no field stands for and that is not written back.
///
/// There is one such case: `raknet-native` fills its first reply with zeros up to the size of the probe.
fn padding_of<'a>(message: &Offline<'_>, datagram: &'a [u8], written: usize) -> &'a [u8] {
    let padding = &datagram[written..];
    let is_reply = matches!(message, Offline::Reply1(_));
    assert!(padding.iter().all(|&byte| byte == 0) && (is_reply || padding.is_empty()), "{message:?}");
    padding
}

fn name_of(message: &Offline<'_>) -> &'static str {
    match message {
        Offline::Ping(_) => "unconnected ping",
        Offline::Pong(_) => "unconnected pong",
        Offline::Request1(_) => "request 1",
        Offline::Reply1(_) => "reply 1",
        Offline::Request2(_) => "request 2",
        Offline::Reply2(_) => "reply 2",
        Offline::Refusal(_) => "refusal",
        Offline::IncompatibleVersion(_) => "version refusal",
        Offline::OutOfBand(_) => "out of band",
    }
}

/// One file of `tests/captures`.
struct Capture {
    name: &'static str,
    /// Whether the server demanded a cookie.
    cookie: bool,
    datagrams: Vec<Vec<u8>>,
}

impl Capture {
    fn all() -> impl Iterator<Item = Self> {
        [
            ("cpp_to_cpp_protocol11", false),
            ("cpp_split_4096", false),
            ("cpp_small_with_loss", false),
            ("cpp_client_to_go_cookie_server", true),
            ("go_client_to_cpp", false),
            ("jsp_client_to_cpp_protocol10", false),
        ]
        .into_iter()
        .map(|(name, cookie)| Self { name, cookie, datagrams: datagrams_of(name) })
    }

    fn offline(&self) -> impl Iterator<Item = (&[u8], Offline<'_>)> {
        self.datagrams.iter().filter_map(|datagram| {
            let message = Offline::classify(datagram, self.cookie)?;
            Some((&datagram[..], message.unwrap_or_else(|error| panic!("{}: {error}", self.name))))
        })
    }

    /// The messages of all frames except the parts of split ones.
    fn unsplit_messages(&self) -> Vec<Vec<u8>> {
        let mut messages = Vec::new();
        for datagram in &self.datagrams {
            if DatagramKind::of(datagram[0]) != Some(DatagramKind::Data) {
                continue;
            }
            let mut r = Reader::new(datagram);
            DataHeader::parse(&mut r).unwrap();
            while !r.is_empty() {
                let frame = Frame::parse(&mut r).unwrap_or_else(|error| panic!("{}: {error}", self.name));
                if frame.split.is_none() {
                    messages.push(frame.payload.to_vec());
                }
            }
        }
        messages
    }
}

fn datagrams_of(name: &str) -> Vec<Vec<u8>> {
    #[derive(Deserialize)]
    struct Line {
        hex: String,
    }
    let path = format!("{}/tests/captures/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    text.lines()
        .map(|line| {
            let Line { hex } = serde_json::from_str(line).unwrap();
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
        })
        .collect()
}
