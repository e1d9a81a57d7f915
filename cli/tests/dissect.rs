//! Captures are shown readably, damage with its place, and other files are refused.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of a test fail it by panicking"
)]

mod command;

use command::{iolite, iolite_with_input};
use netsim::capture::{CaptureWriter, UdpPacket};
use std::time::Duration;

/// Turns one of the recorded sessions into a capture file, and adds `more` datagrams.
fn capture(name: &str, more: &[&[u8]]) -> Vec<u8> {
    let path = format!("{}/../proto-raknet/tests/captures/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let recorded = std::fs::read_to_string(&path).unwrap();
    let lines = recorded.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let mut datagrams: Vec<(bool, f64, Vec<u8>)> = lines
        .map(|line| {
            let bytes = bytes_of(line["hex"].as_str().unwrap());
            (line["from"] == "client", line["t"].as_f64().unwrap(), bytes)
        })
        .collect();
    datagrams.extend(more.iter().map(|bytes| (true, 9.0, bytes.to_vec())));
    let mut writer = CaptureWriter::new();
    for (from_client, seconds, payload) in &datagrams {
        let ends = ["10.0.0.1:50000".parse().unwrap(), "10.0.0.2:19132".parse().unwrap()];
        let [from, to] = if *from_client { ends } else { [ends[1], ends[0]] };
        let packet = UdpPacket { from, to, payload, is_truncated: false };
        writer.write_udp(Duration::from_secs_f64(*seconds), &packet, "");
    }
    writer.into_bytes()
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn a_real_session_is_understood_to_the_last_datagram() {
    for name in [
        "cpp_client_to_go_cookie_server",
        "cpp_small_with_loss",
        "cpp_split_4096",
        "cpp_to_cpp_protocol11",
        "go_client_to_cpp",
        "jsp_client_to_cpp_protocol10",
    ] {
        let dissected = iolite_with_input(&["dissect", "-"], &capture(name, &[]));
        assert_eq!(dissected.code, Some(0), "{name}: {dissected:?}");
        assert!(
            dissected.stdout.contains(" 0 malformed, 0 of other protocols"),
            "{name}: {}",
            dissected.stdout
        );
        for message in
            ["OpenConnectionRequest1", "OpenConnectionReply2", "[ConnectionRequest guid=", "Ack numbers="]
        {
            assert!(dissected.stdout.contains(message), "{name}: {message} is missing");
        }
    }
}

#[test]
fn every_field_is_shown_on_demand() {
    let dissected =
        iolite_with_input(&["dissect", "-", "-v"], &capture("cpp_client_to_go_cookie_server", &[]));
    for text in
        ["cookie=094ece8d", "guid=91c7e465c5ea3814", "name=go-raknet echo", "continuous send=", "0000  fe "]
    {
        assert!(dissected.stdout.contains(text), "{text:?} is missing: {}", dissected.stdout);
    }
}

#[test]
fn damaged_and_foreign_datagrams_are_shown_with_place_and_reason() {
    // A frame of four bytes of which one is there; something that is not RakNet.
    let more: [&[u8]; 2] = [&[0x84, 5, 0, 0, 0x00, 0, 32, 0xfe], b"GET / HTTP/1.1"];
    let file = capture("go_client_to_cpp", &more);
    let dissected = iolite_with_input(&["dissect", "-"], &file);
    assert!(
        dissected.stdout.contains("Data number=5 malformed at byte 7: the message ends"),
        "{}",
        dissected.stdout
    );
    assert!(dissected.stdout.contains("14 B  neither RakNet nor Reticulum"), "{}", dissected.stdout);
    assert!(dissected.stdout.contains(" 1 malformed, 1 of other protocols"), "{}", dissected.stdout);

    let lines = iolite_with_input(&["dissect", "-", "--json"], &file).json_lines();
    let malformed: Vec<_> = lines.iter().filter(|line| !line["malformed"].is_null()).collect();
    assert_eq!(malformed.len(), 1);
    assert_eq!(malformed[0]["malformed"]["offset"], 7);
    assert_eq!(lines.last().unwrap()["data"], "474554202f20485454502f312e31");
}

#[test]
fn filters_leave_out_what_nobody_asked_for() {
    let file = capture("go_client_to_cpp", &[]);
    let shown = |more: &[&str]| {
        iolite_with_input(&[&["dissect", "-", "--json"], more].concat(), &file).json_lines().len()
    };
    let all = shown(&[]);
    assert!(all > 100);
    assert_eq!(shown(&["--port", "19132", "--address", "10.0.0.1"]), all);
    assert_eq!(shown(&["--port", "1"]), 0);
    assert_eq!(shown(&["--address", "10.0.0.9"]), 0);
    assert_eq!(shown(&["--limit", "3"]), 3);
}

#[test]
fn a_capture_that_ends_in_the_middle_is_shown_up_to_there() {
    let file = capture("go_client_to_cpp", &[]);
    let dissected = iolite_with_input(&["dissect", "-"], &file[..file.len() - 10]);
    assert_eq!(dissected.code, Some(4), "{dissected:?}");
    assert!(dissected.stdout.contains("105 messages"), "{}", dissected.stdout);
    assert!(dissected.stderr.contains("in the middle of a frame"), "{}", dissected.stderr);
}

#[test]
fn what_is_no_capture_is_refused_with_advice() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let dissected = iolite(&["dissect", manifest]);
    assert_eq!(dissected.code, Some(4), "{dissected:?}");
    assert!(dissected.stderr.contains("neither a pcap-ng nor a pcap"), "{}", dissected.stderr);
    assert!(dissected.stderr.contains("tcpdump"), "{}", dissected.stderr);
    assert_eq!(iolite(&["dissect", "/no/such/file"]).code, Some(4));
}
