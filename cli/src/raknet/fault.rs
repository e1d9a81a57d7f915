//! RakNet's faults in the words of the command line: what happened, where, what to do.

use runtime_tokio::raknet::{BindFailed, CloseReason, ConnectFailed, ConnectFailure, SendFailed};
use std::{io, net::SocketAddr};

use crate::failure::Failure;

/// A listener could not be bound.
pub(crate) fn bind(address: SocketAddr, error: &BindFailed) -> Failure {
    match error {
        BindFailed::Io(error) => {
            let failure = Failure::network(format_args!("cannot listen on {address}: {error}"));
            if error.kind() == io::ErrorKind::AddrInUse {
                failure.advise("another program listens there; choose another port with --listen")
            } else if error.kind() == io::ErrorKind::AddrNotAvailable {
                failure.advise("this machine does not have that address; 0.0.0.0 stands for all it has")
            } else {
                failure
            }
        }
        BindFailed::Config(_) | _ => Failure::usage(format_args!("cannot listen on {address}: {error}")),
    }
}

/// A session could not be opened.
pub(crate) fn connect(server: SocketAddr, error: &ConnectFailed) -> Failure {
    match error {
        ConnectFailed::Failed(reason) => {
            let failure = Failure::network(format_args!("cannot connect to {server}: {reason}"));
            match advice(*reason) {
                Some(advice) => failure.advise(advice),
                None => failure,
            }
        }
        ConnectFailed::Config(_) | ConnectFailed::Options(_) => {
            Failure::usage(format_args!("cannot connect to {server}: {error}"))
        }
        ConnectFailed::Io(_) | _ => Failure::network(format_args!("cannot connect to {server}: {error}")),
    }
}

/// A message was not taken.
pub(crate) fn send(server: SocketAddr, error: SendFailed) -> Failure {
    match error {
        SendFailed::Closed(reason) => closed(server, reason),
        SendFailed::Refused(refusal) => {
            let failure = Failure::usage(format_args!("cannot send this message: {refusal}"));
            if matches!(refusal, proto_raknet::SendError::Reserved { .. }) {
                failure.advise("put another byte first with --prefix")
            } else {
                failure
            }
        }
        error => Failure::network(error),
    }
}

/// A session ended before its time.
pub(crate) fn closed(peer: SocketAddr, reason: CloseReason) -> Failure {
    Failure::network(format_args!("the session with {peer} ended: {reason}"))
}

fn advice(reason: ConnectFailure) -> Option<String> {
    match reason {
        ConnectFailure::NoAnswer => {
            Some("check address and port, that the server runs, and that no firewall drops UDP".into())
        }
        ConnectFailure::IncompatibleProtocolVersion { server } => {
            Some(format!("try --protocol {}", server.0))
        }
        ConnectFailure::InvalidPassword => Some("give the server's password with --password".into()),
        ConnectFailure::NoFreeIncomingConnections
        | ConnectFailure::IpRecentlyConnected
        | ConnectFailure::AlreadyConnected => Some("try again later".into()),
        ConnectFailure::HandshakeTimeout
        | ConnectFailure::Banned
        | ConnectFailure::EncryptionRequired
        | ConnectFailure::Refused
        | ConnectFailure::Cancelled
        | ConnectFailure::LinkDown
        | _ => None,
    }
}
