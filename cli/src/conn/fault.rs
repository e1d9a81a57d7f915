//! A connection's errors in the words of the command line: what happened, where, what to do, and with which exit code.

use proto_conn::{Code, Error, Phase, Url};

use crate::failure::Failure;

/// The exit codes of connections, as `iolite conn --help` documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Exit {
    Usage = 2,
    File = 4,
    Proxy = 5,
    Resolve = 6,
    Connect = 7,
    Upgrade = 8,
    Status = 22,
    MaxTime = 28,
    Tls = 35,
    Interface = 45,
    Redirect = 47,
    NoAnswer = 52,
    Send = 55,
    Receive = 56,
    Closed = 57,
    Certificate = 60,
}

/// An error of a connection to `url`.
pub(super) fn of(url: &Url, error: &Error) -> Failure {
    let what = match error.phase {
        Phase::Arguments => format!("cannot use {url}"),
        Phase::Resolve => format!("cannot find {}", url.host),
        Phase::Connect => format!("cannot connect to {url}"),
        Phase::Proxy => format!("the proxy opened no way to {url}"),
        Phase::Tls => format!("no TLS with {url}"),
        Phase::Upgrade => format!("no WebSocket at {url}"),
        Phase::Send => format!("cannot send to {url}"),
        Phase::FirstByte => format!("no answer from {url}"),
        Phase::Receive => format!("the answer of {url} failed"),
        Phase::Idle => format!("the connection to {url} was lost"),
        Phase::Close => format!("closing the connection to {url} failed"),
        _ => format!("the connection to {url} failed"),
    };
    let failure = Failure::coded(exit(error) as u8, format_args!("{what}: {}", reason(error)));
    match advice(error) {
        Some(advice) => failure.advise(advice),
        None => failure,
    }
}

/// What happened, without the phase.
pub(super) fn reason(error: &Error) -> String {
    let mut text = error.code.text().to_owned();
    if let Some(status) = error.status {
        text += &format!(", status {status}");
    }
    if let Some(alert) = error.alert {
        text += &format!(", alert {alert}");
    }
    if !error.detail.is_empty() {
        text += &format!(": {}", error.detail);
    }
    if let Some(os) = error.os {
        text += &format!(" (os error {os})");
    }
    text
}

/// A WebSocket that ended in another way than a normal one.
pub(super) fn closed(url: &Url, code: u16, reason: &str) -> Failure {
    let because = if reason.is_empty() { String::new() } else { format!(": {reason}") };
    Failure::coded(Exit::Closed as u8, format_args!("{url} closed the WebSocket with code {code}{because}"))
}

/// An answer whose status is an error's.
pub(super) fn status(url: &Url, status: u16) -> Failure {
    Failure::coded(Exit::Status as u8, format_args!("{url} answered with status {status}"))
}

/// Everything together took too long.
pub(super) fn max_time(url: &Url) -> Failure {
    Failure::coded(Exit::MaxTime as u8, format_args!("the dialogue with {url} took longer than --max-time"))
}

fn exit(error: &Error) -> Exit {
    match (error.code, error.phase) {
        (Code::TotalTimeout, _) => Exit::MaxTime,
        (Code::NoInterface | Code::JoinFailed, _) => Exit::Interface,
        (Code::TooManyRedirects | Code::RedirectRefused, _) => Exit::Redirect,
        (Code::TlsConfig, _) => Exit::File,
        (
            Code::CertExpired
            | Code::CertNotYetValid
            | Code::CertUnknownIssuer
            | Code::CertWrongName
            | Code::CertRevoked
            | Code::CertBadSignature
            | Code::CertWrongUse
            | Code::CertInvalid
            | Code::CertWeak
            | Code::CertSelfSigned
            | Code::PinMismatch,
            _,
        ) => Exit::Certificate,
        (_, Phase::Arguments) => Exit::Usage,
        (_, Phase::Resolve) => Exit::Resolve,
        (_, Phase::Proxy) => Exit::Proxy,
        (_, Phase::Tls) => Exit::Tls,
        (_, Phase::Upgrade) => Exit::Upgrade,
        (_, Phase::Send) => Exit::Send,
        (Code::ClosedEarly, _) | (_, Phase::FirstByte) => Exit::NoAnswer,
        (Code::AbnormalClosure, _) | (_, Phase::Idle | Phase::Close) => Exit::Closed,
        // Nobody listens there is what an ICMP message says of a datagram.
        (Code::ConnectRefused | Code::Unreachable, _) | (_, Phase::Connect) => Exit::Connect,
        _ => Exit::Receive,
    }
}

fn advice(error: &Error) -> Option<&'static str> {
    ADVICE.iter().find(|(codes, _)| codes.contains(&error.code)).map(|(_, advice)| *advice)
}

/// What the user can do about each.
const ADVICE: &[(&[Code], &str)] = &[
    (&[Code::NoAddress], "check the spelling, or give the IP address"),
    (&[Code::ConnectRefused], "check the port, and that the server runs"),
    (&[Code::Unreachable], "check the address, and the routes of this host"),
    (
        &[Code::ConnectTimeout],
        "check address and port, and that no firewall drops TCP; --connect-timeout waits longer",
    ),
    (
        &[Code::ResolveTimeout, Code::ProxyTimeout, Code::TlsTimeout, Code::UpgradeTimeout],
        "--connect-timeout waits longer",
    ),
    (&[Code::TotalTimeout], "--max-time allows more"),
    (&[Code::ProxyAuth], "give name and password in the proxy's URL: http://NAME:PASSWORD@HOST:PORT"),
    (&[Code::ProxyProtocol], "check that an HTTP proxy listens there"),
    (&[Code::TlsProtocol], "check that the server speaks TLS on this port; http and ws are without"),
    (
        &[Code::CertExpired, Code::CertNotYetValid],
        "check the clock of both hosts; -k with --pin goes by the key alone",
    ),
    (
        &[Code::CertUnknownIssuer, Code::CertSelfSigned],
        "trust its issuer with --cacert FILE, or go by its key with -k --pin SHA256; -v -k shows both",
    ),
    (&[Code::CertWrongName], "use a name that the certificate is for, or go by its key with -k --pin SHA256"),
    (
        &[Code::PinMismatch],
        "if the server has a new key, ask its owner for the pin; -v -k without --pin shows what it has",
    ),
    (
        &[Code::ClientCertRequired, Code::TlsAlert],
        "if the server wants a certificate, give it with --cert and --key",
    ),
    (&[Code::UpgradeRefused], "check the path; -v shows the server's answer"),
    (&[Code::UpgradeInvalid], "check that this is a WebSocket server, and its subprotocols"),
    (&[Code::HttpSyntax], "check that an HTTP server listens there; https and wss are with TLS"),
    (&[Code::FirstByteTimeout], "the server is connected but silent; try again later"),
    (&[Code::TooManyRedirects], "allow more with --max-redirs, or look at them one by one without -L"),
    (&[Code::RedirectRefused], "look at the answer without -L"),
    (&[Code::NoInterface], "`ip link` shows the interfaces of this host"),
    (&[Code::JoinFailed], "name an interface with --iface; without a default route there is none to choose"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn exit_of(code: Code, phase: Phase) -> u8 {
        exit(&Error::new(code, phase)) as u8
    }

    #[test]
    fn each_phase_has_its_exit_code() {
        assert_eq!(exit_of(Code::NoAddress, Phase::Resolve), 6);
        assert_eq!(exit_of(Code::ConnectTimeout, Phase::Connect), 7);
        assert_eq!(exit_of(Code::ProxyAuth, Phase::Proxy), 5);
        assert_eq!(exit_of(Code::TlsProtocol, Phase::Tls), 35);
        assert_eq!(exit_of(Code::CertExpired, Phase::Tls), 60);
        assert_eq!(exit_of(Code::UpgradeRefused, Phase::Upgrade), 8);
        assert_eq!(exit_of(Code::FirstByteTimeout, Phase::FirstByte), 52);
        assert_eq!(exit_of(Code::IncompleteBody, Phase::Receive), 56);
        assert_eq!(exit_of(Code::TotalTimeout, Phase::Receive), 28);
        assert_eq!(exit_of(Code::ConnectRefused, Phase::Receive), 7);
    }

    #[test]
    fn a_reason_has_all_that_is_known() {
        let error = Error::new(Code::UpgradeRefused, Phase::Upgrade).with_detail("why");
        let error = Error { status: Some(403), os: Some(5), ..error };
        assert_eq!(reason(&error), "the server did not switch to WebSocket, status 403: why (os error 5)");
    }
}
