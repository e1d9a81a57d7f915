//! haproxy, with and without TLS before another server.

use std::process::Command;

use super::{Place, installed};

pub(super) fn command(place: &Place) -> Command {
    let Place { ports, behind, files, .. } = place;
    let (plain, tls, both) = (ports.plain, ports.tls, files.both.display());
    // Without a server it answers by itself, with 503.
    let behind = behind.map_or_else(String::new, |port| format!("server only 127.0.0.1:{port}"));
    let path = place.configure(&format!(
        "global
    maxconn 100
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
    timeout tunnel 30s
frontend plain
    bind 127.0.0.1:{plain}
    default_backend behind
frontend tls
    bind 127.0.0.1:{tls} ssl crt {both} alpn http/1.1
    default_backend behind
backend behind
    {behind}
"
    ));
    let mut command = installed::debian("haproxy", "haproxy", &[]);
    command.arg("-db").arg("-f").arg(path);
    command
}
