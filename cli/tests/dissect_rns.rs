//! Reticulum in captures: datagrams and streams are understood, signatures judged, and keys open what they can.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "the helpers of a test fail it by panicking"
)]

mod command;

use command::{Finished, iolite_with_input};
use netsim::capture::{CaptureWriter, UdpPacket};
use proto_rns::iface::Framing;
use serde_json::Value;
use std::{fs, time::Duration};

/// The recorded packets of the reference.
fn vectors() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../proto-rns/tests/vectors/rns.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn bytes_of(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// A conversation: who is there, a packet and its proofs, a link.
fn conversation() -> Vec<Vec<u8>> {
    let vectors = vectors();
    [
        &vectors["announce"]["with_app_data"],
        &vectors["path_request"]["endpoint"],
        &vectors["packet"]["single_data"],
        &vectors["proof"]["implicit"],
        &vectors["proof"]["explicit"],
        &vectors["link"]["mtu500_request"],
        &vectors["link"]["mtu500_proof"],
        &vectors["link"]["data"],
        &vectors["link"]["keepalive_initiator"],
        &vectors["tunnel"]["synthesize"],
    ]
    .map(|vector| bytes_of(&vector["raw"]))
    .to_vec()
}

/// A capture with a datagram for each packet.
fn datagrams(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = CaptureWriter::new();
    let [from, to] = ["10.0.0.1:4242", "10.0.0.2:4242"].map(|end| end.parse().unwrap());
    for (at, payload) in packets.iter().enumerate() {
        let packet = UdpPacket { from, to, payload, is_truncated: false };
        writer.write_udp(Duration::from_secs(at as u64), &packet, "");
    }
    writer.into_bytes()
}

/// A classic capture of IP packets with the pieces of one TCP stream.
fn stream(pieces: &[&[u8]]) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(0xa1b2_c3d4_u32.to_le_bytes());
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(65_535_u32.to_le_bytes());
    file.extend(101_u32.to_le_bytes());
    let mut sequence = 1_u32;
    for piece in pieces {
        let total = 40 + piece.len() as u32;
        file.extend([0; 8]);
        file.extend(total.to_le_bytes());
        file.extend(total.to_le_bytes());
        file.extend([0x45, 0]);
        file.extend((total as u16).to_be_bytes());
        file.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x10, 0x92, 0x10, 0x93]);
        file.extend(sequence.to_be_bytes());
        file.extend([0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0]);
        file.extend(*piece);
        sequence += piece.len() as u32;
    }
    file
}

fn dissected(capture: &[u8], more: &[&str]) -> Finished {
    let finished = iolite_with_input(&[&["dissect", "-"], more].concat(), capture);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    finished
}

/// Returns what the messages are.
fn kinds(finished: &Finished) -> Vec<String> {
    finished.json_lines().iter().map(|line| line["kind"].as_str().unwrap_or("?").to_owned()).collect()
}

const KINDS: [&str; 10] = [
    "Announce",
    "PathRequest",
    "Data",
    "Proof",
    "Proof",
    "LinkRequest",
    "LinkRequestProof",
    "Data",
    "KeepAlive",
    "TunnelSynthesis",
];

#[test]
fn a_conversation_in_datagrams_is_understood_and_its_signatures_judged() {
    let finished = dissected(&datagrams(&conversation()), &["--json"]);
    assert_eq!(kinds(&finished), KINDS);
    let lines = finished.json_lines();
    for signed in [0, 3, 4, 6, 9] {
        assert_eq!(lines[signed]["signature"], "valid", "{}", lines[signed]);
    }
    assert_eq!(lines[0]["app_data"], "hello app data");
    assert_eq!(lines[0]["identity"], "0b586e4a729968b321ffc949fc7088b8");
    assert_eq!(lines[1]["for"], "e1887775ced5edaf8858bdd9da2d5b64");
    assert_eq!(lines[5]["link"], "5af89892f9767af7ab48c50d1b6e8046");
    assert_eq!(lines[7]["destination"], lines[5]["to"]);
}

#[test]
fn a_signature_that_is_wrong_is_shown_as_such() {
    let mut packets = conversation();
    *packets[0].last_mut().unwrap() ^= 1;
    *packets[6].last_mut().unwrap() ^= 1;
    let lines = dissected(&datagrams(&packets), &["--json"]).json_lines();
    assert_eq!(lines[0]["signature"], "INVALID");
    // Nobody has said truly who the destination is.
    assert_eq!(lines[3]["signature"], "not checked");
    let told = dissected(&datagrams(&packets), &[]);
    assert!(told.stdout.contains("signature=INVALID"), "{}", told.stdout);
}

#[test]
fn frames_on_streams_are_found_wherever_segments_end() {
    for (framing, more) in [(Framing::Hdlc, &["--json"][..]), (Framing::Kiss, &["--json", "--rns-kiss"])] {
        let mut bytes = Vec::new();
        conversation().iter().for_each(|packet| framing.frame(&[packet], &mut bytes));
        for len in [1, 7, 100, 1_000_000] {
            let pieces: Vec<&[u8]> = bytes.chunks(len.min(60_000)).collect();
            let finished = dissected(&stream(&pieces), more);
            // A keep-alive of one byte is a frame, too.
            assert_eq!(kinds(&finished), KINDS, "{framing:?} {len}");
        }
    }
}

#[test]
fn an_identity_opens_packets_but_never_links() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("identity");
    fs::write(&file, bytes_of(&vectors()["identity"]["A"]["private"])).unwrap();
    let file = file.to_str().unwrap();
    let capture = datagrams(&conversation());
    let lines = dissected(&capture, &["--json", "--identity", file]).json_lines();
    assert_eq!((&lines[2]["decrypted"], &lines[2]["text"]), (&true.into(), &"hello reticulum".into()));
    assert!(lines[7]["note"].as_str().unwrap().contains("no identity recovers them"), "{}", lines[7]);
    let closed = dissected(&capture, &["--json"]).json_lines();
    assert!(closed[2]["decrypted"].is_null());
}

#[test]
fn an_access_code_is_taken_off_by_those_who_know_it() {
    let masked = bytes_of(&vectors()["ifac"]["name_and_key_16"]["masked"]);
    let capture = datagrams(&[masked]);
    let known = ["--json", "--rns-port", "4242", "--ifac-name", "testnet", "--ifac-pass", "secret"];
    assert_eq!(kinds(&dissected(&capture, &known)), ["Data"]);
    assert_eq!(kinds(&dissected(&capture, &known[..3])), ["Masked"]);
    let wrong = ["--json", "--rns-port", "4242", "--ifac-name", "testnet", "--ifac-pass", "guess"];
    assert_eq!(kinds(&dissected(&capture, &wrong)), ["Masked"]);
}

#[test]
fn a_damaged_packet_is_shown_with_its_place() {
    let mut packets = conversation();
    packets[6].truncate(60);
    let lines = dissected(&datagrams(&packets), &["--json", "--rns-port", "4242"]).json_lines();
    assert_eq!(lines[6]["malformed"]["offset"], 19, "{}", lines[6]);
}

#[test]
fn a_file_that_is_no_identity_is_refused() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let finished = iolite_with_input(&["dissect", "-", "--identity", manifest], &datagrams(&[]));
    assert_eq!(finished.code, Some(4), "{finished:?}");
}
