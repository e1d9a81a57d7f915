//! tinyproxy, for clients that say who they are.

use std::process::Command;

use super::{Place, installed};

pub(super) fn command(place: &Place) -> Command {
    let port = place.ports.plain;
    let path = place.configure(&format!(
        "Port {port}
Listen 127.0.0.1
Allow 127.0.0.1
Timeout 30
BasicAuth user secret
"
    ));
    let mut command = installed::debian("tinyproxy", "tinyproxy", &[]);
    command.arg("-d").arg("-c").arg(path);
    command
}
