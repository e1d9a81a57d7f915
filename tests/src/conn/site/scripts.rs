//! Servers that are scripts of `tests/peers/conn`.

use std::process::Command;

use super::{Place, installed};

pub(super) fn node(place: &Place) -> Command {
    let mut command = installed::node_script("server.js");
    tell(&mut command, place);
    command
}

/// `kind` is a package.
pub(super) fn python(kind: &str, place: &Place) -> Command {
    let mut command = installed::python_script("server.py");
    command.arg(kind);
    tell(&mut command, place);
    command
}

fn tell(command: &mut Command, place: &Place) {
    command.args([place.ports.plain, place.ports.tls].map(|port| port.to_string()));
    command.arg(&place.files.certificate).arg(&place.files.key);
}
