//! The echo server with those who talk to it.

mod command;

use command::{Running, iolite, iolite_with_input};

fn serve(more: &[&str]) -> (Running, String) {
    let mut server =
        Running::start(&[&["raknet", "serve", "--listen", "127.0.0.1:0", "--json"], more].concat());
    let address = server.address();
    (server, address)
}

#[test]
fn a_ping_shows_the_description_and_the_statistics() {
    let (_server, address) = serve(&["--motd", "A; test", "--max-connections", "7"]);
    let ping = iolite(&["raknet", "ping", &address, "-n", "3", "-i", "20ms"]);
    assert_eq!(ping.code, Some(0), "{ping:?}");
    for text in ["A; test", "0 of 7", "seq=3", "3 sent, 3 answered, 0.0 % lost", "min/avg/max/mdev"] {
        assert!(ping.stdout.contains(text), "{text:?} is missing: {}", ping.stdout);
    }
}

#[test]
fn a_ping_tells_machines_the_same() {
    let (_server, address) = serve(&["--motd", "A test"]);
    let lines = iolite(&["raknet", "ping", &address, "-n", "2", "-i", "20ms", "--json"]).json_lines();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["event"], &lines[0]["motd"]["name"]), (&"pong".into(), &"A test".into()));
    assert_eq!((&lines[2]["sent"], &lines[2]["received"]), (&2.into(), &2.into()));
    assert!(lines[2]["rtt_ms"]["avg"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_ping_that_nobody_answers_says_so() {
    // Bound and never read: the pings vanish.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let ping = iolite(&["raknet", "ping", &address, "-n", "2", "-i", "10ms", "-t", "200ms"]);
    assert_eq!(ping.code, Some(1), "{ping:?}");
    assert!(ping.stdout.contains("2 sent, 0 answered, 100.0 % lost"), "{}", ping.stdout);
    assert!(ping.stderr.contains("did not answer") && ping.stderr.contains("help:"), "{}", ping.stderr);
}

#[test]
fn text_comes_back_with_every_reliability() {
    let (_server, address) = serve(&[]);
    for reliability in
        ["unreliable", "unreliable-sequenced", "reliable", "reliable-ordered", "reliable-sequenced"]
    {
        let send =
            iolite(&["raknet", "send", &address, "hello", "--echo", "-r", reliability, "-c", "5", "--json"]);
        assert_eq!(send.code, Some(0), "{reliability}: {send:?}");
        let result = &send.json_lines()[0];
        assert_eq!((&result["echoed"], &result["bytes"]), (&1.into(), &6.into()), "{reliability}: {result}");
    }
}

#[test]
fn lines_of_standard_input_are_messages_with_receipts() {
    let (_server, address) = serve(&[]);
    let send = iolite_with_input(
        &["raknet", "send", &address, "--lines", "--echo", "--receipt"],
        b"one\ntwo\n\nthree\n",
    );
    assert_eq!(send.code, Some(0), "{send:?}");
    assert!(send.stdout.contains("3 of 3 echoed and compared, 3 of 3 acknowledged"), "{}", send.stdout);
}

#[test]
fn a_long_file_comes_back_whole() {
    let (_server, address) = serve(&[]);
    let file = std::env::temp_dir().join(format!("iolite-send-{}", std::process::id()));
    std::fs::write(&file, vec![7; 1 << 20]).unwrap();
    let send = iolite(&["raknet", "send", &address, "--file", file.to_str().unwrap(), "--echo"]);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(send.code, Some(0), "{send:?}");
    assert!(send.stdout.contains("1.0 MiB") && send.stdout.contains("1 of 1 echoed"), "{}", send.stdout);
}

#[test]
fn a_first_byte_that_raknet_keeps_for_itself_is_refused_with_advice() {
    let (_server, address) = serve(&[]);
    let send = iolite(&["raknet", "send", &address, "x", "--prefix", "15"]);
    assert_eq!(send.code, Some(2), "{send:?}");
    assert!(send.stderr.contains("0x15") && send.stderr.contains("--prefix"), "{}", send.stderr);
}

#[test]
fn who_is_not_let_in_learns_why_and_what_to_do() {
    let (_server, address) = serve(&["--password", "secret", "--protocol", "10"]);
    let send = |more: &[&str]| iolite(&[&["raknet", "send", address.as_str(), "x"], more].concat());
    let wrong_version = send(&[]);
    assert_eq!(wrong_version.code, Some(3), "{wrong_version:?}");
    assert!(wrong_version.stderr.contains("--protocol 10"), "{wrong_version:?}");
    let wrong_password = send(&["--protocol", "10", "--password", "guess"]);
    assert_eq!(wrong_password.code, Some(3), "{wrong_password:?}");
    assert!(wrong_password.stderr.contains("the password is wrong"), "{wrong_password:?}");
    assert_eq!(send(&["--protocol", "10", "--password", "secret", "--echo"]).code, Some(0));
}

#[test]
fn an_address_in_use_is_named() {
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let serve = iolite(&["raknet", "serve", "--listen", &address]);
    assert_eq!(serve.code, Some(3), "{serve:?}");
    assert!(serve.stderr.contains(&address) && serve.stderr.contains("another program"), "{}", serve.stderr);
}

#[test]
fn without_cookies_and_with_shards_it_serves_as_well() {
    let (_server, address) = serve(&["--cookies", "off", "--shards", "3"]);
    for _ in 0..4 {
        let send = iolite(&["raknet", "send", &address, "hello", "--echo"]);
        assert_eq!(send.code, Some(0), "{send:?}");
    }
}

#[test]
fn ctrl_c_ends_the_server_in_good_order() {
    let (mut server, address) = serve(&[]);
    assert_eq!(iolite(&["raknet", "send", &address, "hello", "--echo"]).code, Some(0));
    assert_eq!(server.event("opened")["protocol"], 11);
    assert_eq!(server.event("ended")["reason"], "closed by the peer");
    assert_eq!(server.interrupt(), Some(0));
}
