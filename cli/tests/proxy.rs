//! The proxy between clients and an echo server.

mod command;

use command::{Running, iolite, iolite_with_input};

fn serve(more: &[&str]) -> (Running, String) {
    let arguments = ["raknet", "serve", "--listen", "127.0.0.1:0", "--json", "--motd", "Behind"];
    let mut server = Running::start(&[&arguments, more].concat());
    let address = server.address();
    (server, address)
}

fn proxy(target: &str, more: &[&str]) -> (Running, String) {
    let arguments =
        ["raknet", "proxy", "--listen", "127.0.0.1:0", "--json", "--interval", "100ms", "--to", target];
    let mut proxy = Running::start(&[&arguments, more].concat());
    let address = proxy.address();
    (proxy, address)
}

#[test]
fn pings_are_answered_with_the_targets_name_and_the_proxys_port() {
    let (_server, target) = serve(&[]);
    let (mut proxy, address) = proxy(&target, &[]);
    assert_eq!(proxy.event("target")["motd"]["name"], "Behind");
    let port: u16 = address.rsplit(':').next().unwrap().parse().unwrap();
    // The proxy's own ports follow a moment after the target's name.
    let ping = iolite(&["raknet", "ping", &address, "-n", "30", "-i", "100ms", "--json"]);
    let expected = (&"Behind".into(), &port.into());
    let motds = ping.json_lines().iter().map(|line| line["motd"].clone()).collect::<Vec<_>>();
    assert!(motds.iter().any(|motd| (&motd["name"], &motd["port_v4"]) == expected), "{ping:?}");
}

#[test]
fn messages_go_through_and_come_back() {
    let (_server, target) = serve(&[]);
    let (mut proxy, address) = proxy(&target, &[]);
    let lines: String = (0..5_000).map(|number| format!("message {number}\n")).collect();
    let send = iolite_with_input(&["raknet", "send", &address, "--lines", "--echo"], lines.as_bytes());
    assert_eq!(send.code, Some(0), "{send:?}");
    assert!(send.stdout.contains("5,000 of 5,000 echoed"), "{send:?}");
    let end = proxy.event("ended");
    assert_eq!((&end["by"], &end["reason"]), (&"player".into(), &"closed by the peer".into()));
}

#[test]
fn a_long_message_goes_through_whole() {
    let (_server, target) = serve(&[]);
    let (_proxy, address) = proxy(&target, &[]);
    let long = vec![b'x'; 4 << 20];
    let send = iolite_with_input(&["raknet", "send", &address, "--echo"], &long);
    assert_eq!(send.code, Some(0), "{send:?}");
}

#[test]
fn the_target_is_spoken_to_in_the_players_version() {
    let (mut server, target) = serve(&[]);
    let (_proxy, address) = proxy(&target, &[]);
    let send = iolite(&["raknet", "send", &address, "hello", "--echo", "--protocol", "9"]);
    assert_eq!(send.code, Some(0), "{send:?}");
    assert_eq!(server.event("opened")["protocol"], 9);
}

#[test]
fn targets_and_proxies_without_cookies_are_relayed_to_as_well() {
    let (mut server, target) = serve(&["--cookies", "off"]);
    let (_proxy, address) = proxy(&target, &["--cookies", "off", "--protocol", "10"]);
    let send = iolite(&["raknet", "send", &address, "hello", "--echo"]);
    assert_eq!(send.code, Some(0), "{send:?}");
    server.event("opened");
}

#[test]
fn a_target_that_goes_takes_its_players_along() {
    let (server, target) = serve(&[]);
    let (mut proxy, address) = proxy(&target, &[]);
    let mut player = std::process::Command::new(env!("CARGO_BIN_EXE_iolite"))
        .args(["raknet", "bench", &address, "--duration", "60s"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    proxy.event("opened");
    while proxy.event("statistics")["sessions"] != 1 {}
    assert_eq!(server.interrupt(), Some(0));
    let end = proxy.event("ended");
    assert_eq!((&end["by"], &end["reason"]), (&"target".into(), &"closed by the peer".into()));
    assert_eq!(player.wait().unwrap().code(), Some(3), "the player did not learn of it");
}

#[test]
fn a_target_that_is_not_there_is_reported() {
    let nobody = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let (mut proxy, address) = proxy(&nobody, &["--timeout", "1s"]);
    assert_eq!(proxy.event("target")["answers"], false);
    let send = iolite(&["raknet", "send", &address, "hello", "--echo", "--wait", "20s"]);
    assert_eq!(send.code, Some(3), "{send:?}");
    let end = proxy.event("ended");
    assert!(end["reason"].as_str().unwrap().starts_with("no session with the target"), "{end}");
    assert_eq!(proxy.interrupt(), Some(0));
}

#[test]
fn ctrl_c_sends_the_players_away_in_good_order() {
    let (_server, target) = serve(&[]);
    let (mut proxy, address) = proxy(&target, &[]);
    let player = std::thread::spawn(move || iolite(&["raknet", "bench", &address, "--duration", "60s"]));
    while proxy.event("statistics")["sessions"] != 1 {}
    assert_eq!(proxy.interrupt(), Some(0));
    let player = player.join().unwrap();
    assert_eq!(player.code, Some(3), "{player:?}");
    assert!(player.stderr.contains("closed by the peer"), "{player:?}");
}
