//! The examples in C do what they say, against a peer of ours, and leave no memory behind.

mod support;

use std::net::SocketAddr;
use support::{
    build::Tools,
    echo::{Choice, Echo, certificate},
};

#[test]
fn get_fetches_over_http_and_https() {
    let Some(tools) = Tools::find() else { return };
    tools.c("examples/get.c", "get", &[]);
    let echo = Echo::start();
    let url = format!("http://{}/bytes/12", echo.stream);
    let said = tools.run("get", &[&url]);
    assert_eq!(said.matches("status 200 from 127.0.0.1:").count(), 2, "{said}");
    assert_eq!(said.matches("xxxxxxxxxxxx\n").count(), 2, "{said}");
    assert!(said.contains("X-Echo-Example: get.c"), "{said}");
    tools.run_checked("get", &[&url]);

    let (chain, key) = certificate();
    let ca = tools.file("ca.pem", &chain);
    let secure = Echo::with(Choice { identity: Some((chain, key)), ..Choice::default() });
    let said = tools.run("get", &[&format!("https://localhost:{}/bytes/3", secure.stream.port()), &ca]);
    assert!(said.contains("\nxxx\n"), "{said}");
}

#[test]
fn ws_echo_talks_without_losing_what_does_not_fit() {
    let Some(tools) = Tools::find() else { return };
    tools.c("examples/ws_echo.c", "ws_echo", &[]);
    let echo = Echo::start();
    let url = format!("ws://{}/", echo.stream);
    let said = tools.run("ws_echo", &[&url]);
    assert_eq!(said, "message 0\nmessage 1\nmessage 2\nclosed with 1000\n");
    tools.run_checked("ws_echo", &[&url]);
}

#[test]
fn epoll_drives_a_connection_from_a_foreign_loop() {
    let Some(tools) = Tools::find() else { return };
    tools.c("examples/epoll.c", "epoll", &["-D_GNU_SOURCE"]);
    let echo = Echo::start();
    let url = format!("http://localhost:{}/bytes/300000", echo.stream.port());
    assert_eq!(tools.run("epoll", &[&url]), "status 200, 300000 bytes\n");
    tools.run_checked("epoll", &[&url]);
}

#[test]
fn multicast_hears_what_it_says_on_the_interface_that_it_joined_on() {
    let Some(tools) = Tools::find() else { return };
    tools.c("examples/multicast.c", "multicast", &[]);
    let group: SocketAddr = "239.83.7.21:0".parse().unwrap();
    let port = std::net::UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("udp_multicast://{}:{port}", group.ip());
    let said = tools.run("multicast", &[&url, "lo"]);
    assert!(said.starts_with("hello, group (from "), "{said}");
    assert!(said.contains(&format!("to 239.83.7.21:{port}, interface 1)")), "{said}");
}
