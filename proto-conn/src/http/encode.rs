//! Heads to send (RFC 9112 §3, §4, §5).
//!
//! Field names and values cannot break out of their lines: [`Headers`] has no others. What a head says about length,
//! host and connection is written here, and nowhere else.

use alloc::vec::Vec;

use super::{
    host,
    options::{SendOptions, TargetForm},
    request_line::is_target,
};
use crate::{
    Code, Error, Headers, Message, Method, Phase,
    headers::{is_token, trim_blanks},
};

/// How a head announces its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announced {
    /// Not at all.
    Nothing,
    /// Content-Length.
    Length(u64),
    /// Transfer-Encoding: chunked.
    Chunked,
}

/// Which connection option of ours a head has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persistence {
    /// None: the version's own rule.
    Default,
    /// `close`.
    Close,
    /// `keep-alive`, for a peer of version 1.0.
    KeepAlive,
}

/// Appends a request's head.
pub(super) fn request(
    message: &Message,
    how: &SendOptions<'_>,
    announced: Announced,
    expects: bool,
    buf: &mut Vec<u8>,
) -> Result<(), Error> {
    let method = message.method.name();
    if method.is_empty() || !method.bytes().all(is_token) {
        return Err(bad_message("a method that is not a token"));
    }
    buf.extend_from_slice(method.as_bytes());
    buf.push(b' ');
    target(message, how, buf)?;
    buf.extend_from_slice(b" HTTP/1.1\r\n");
    // RFC 9112 §3.2: Host is there, once, and first.
    let host = own_host(&message.headers)?.unwrap_or(how.host.as_bytes());
    if !host::is_host(host) {
        return Err(bad_message("an invalid host"));
    }
    field(b"Host", host, buf);
    fields(&message.headers, buf)?;
    if how.decode && cfg!(feature = "deflate") && message.headers.get("Accept-Encoding").is_none() {
        #[cfg(feature = "deflate")]
        field(b"Accept-Encoding", super::decoding::Decoding::ACCEPTED.as_bytes(), buf);
    }
    if expects && message.headers.get("Expect").is_none() {
        field(b"Expect", b"100-continue", buf);
    }
    let persistence = if how.keep_alive { Persistence::Default } else { Persistence::Close };
    end(&message.headers, announced, persistence, buf)
}

/// Appends a response's head.
pub(super) fn response(
    message: &Message,
    announced: Announced,
    persistence: Persistence,
    buf: &mut Vec<u8>,
) -> Result<(), Error> {
    if !(100..=999).contains(&message.status) {
        return Err(bad_message("a status that does not have three digits"));
    }
    if message.headers.get("Host").is_some() {
        return Err(bad_header("Host"));
    }
    buf.extend_from_slice(b"HTTP/1.1 ");
    write_decimal(message.status.into(), buf);
    buf.push(b' ');
    buf.extend_from_slice(reason(message.status).as_bytes());
    buf.extend_from_slice(b"\r\n");
    fields(&message.headers, buf)?;
    end(&message.headers, announced, persistence, buf)
}

/// Appends a field line.
pub(super) fn field(name: &[u8], value: &[u8], buf: &mut Vec<u8>) {
    buf.extend_from_slice(name);
    buf.extend_from_slice(b": ");
    buf.extend_from_slice(value);
    buf.extend_from_slice(b"\r\n");
}

/// Appends the target in the form that was asked for (RFC 9112 §3.2).
fn target(message: &Message, how: &SendOptions<'_>, buf: &mut Vec<u8>) -> Result<(), Error> {
    let own = message.target.as_str();
    let target = if own.is_empty() { how.target } else { own };
    // RFC 9110 §7.1: a fragment is not part of a target.
    if !is_target(target.as_bytes()) || target.contains('#') {
        return Err(bad_message("a character that a target cannot have"));
    }
    let is_connect = message.method == Method::Connect;
    match how.form {
        TargetForm::Authority if is_connect && host::is_authority(target) => {}
        TargetForm::Asterisk if message.method == Method::Options => {
            buf.push(b'*');
            return Ok(());
        }
        TargetForm::Origin if target.starts_with('/') && !is_connect => {}
        TargetForm::Absolute { scheme } if target.starts_with('/') && !is_connect => {
            let sound = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
            if scheme.is_empty() || how.host.is_empty() || !scheme.bytes().all(sound) {
                return Err(bad_message("no scheme or host for the absolute form"));
            }
            buf.extend_from_slice(scheme.as_bytes());
            buf.extend_from_slice(b"://");
            buf.extend_from_slice(how.host.as_bytes());
        }
        TargetForm::Origin | TargetForm::Absolute { .. } | TargetForm::Authority | TargetForm::Asterisk => {
            return Err(bad_message("a target that is not in the form asked for"));
        }
    }
    buf.extend_from_slice(target.as_bytes());
    Ok(())
}

fn own_host(headers: &Headers) -> Result<Option<&[u8]>, Error> {
    let mut hosts = headers.get_all("Host");
    match (hosts.next(), hosts.next()) {
        (host, None) => Ok(host),
        (_, Some(_)) => Err(bad_header("Host")),
    }
}

/// Appends the application's fields, but for those that are written elsewhere.
fn fields(headers: &Headers, buf: &mut Vec<u8>) -> Result<(), Error> {
    for (name, value) in headers.iter() {
        match name.len() {
            4 if name.eq_ignore_ascii_case("Host") => {}
            10 if name.eq_ignore_ascii_case("Connection") => {}
            14 if name.eq_ignore_ascii_case("Content-Length") => return Err(bad_header(name)),
            17 if name.eq_ignore_ascii_case("Transfer-Encoding") => return Err(bad_header(name)),
            _ => field(name.as_bytes(), value, buf),
        }
    }
    Ok(())
}

/// Appends what the head says about its body and the connection, and the empty line.
fn end(
    headers: &Headers,
    announced: Announced,
    persistence: Persistence,
    buf: &mut Vec<u8>,
) -> Result<(), Error> {
    match announced {
        Announced::Nothing => {}
        Announced::Length(length) => {
            buf.extend_from_slice(b"Content-Length: ");
            write_decimal(length, buf);
            buf.extend_from_slice(b"\r\n");
        }
        Announced::Chunked => buf.extend_from_slice(b"Transfer-Encoding: chunked\r\n"),
    }
    connection(headers, persistence, buf)?;
    buf.extend_from_slice(b"\r\n");
    Ok(())
}

/// Appends the one Connection field: our option, the application's others, and `Upgrade` if there is such a field
/// (RFC 9110 §7.6.1, §7.8).
fn connection(headers: &Headers, persistence: Persistence, buf: &mut Vec<u8>) -> Result<(), Error> {
    let ours: &[u8] = match persistence {
        Persistence::Default => b"",
        Persistence::Close => b"close",
        Persistence::KeepAlive => b"keep-alive",
    };
    let upgrade: &[u8] = if headers.get("Upgrade").is_some() { b"Upgrade" } else { b"" };
    let mut separator: &[u8] = b"Connection: ";
    let mut option = |option: &[u8], buf: &mut Vec<u8>| {
        if !option.is_empty() {
            buf.extend_from_slice(core::mem::replace(&mut separator, b", "));
            buf.extend_from_slice(option);
        }
    };
    let before = buf.len();
    option(ours, buf);
    option(upgrade, buf);
    for theirs in headers.list("Connection").map(trim_blanks) {
        let is = |name: &str| theirs.eq_ignore_ascii_case(name.as_bytes());
        if is("close") || is("keep-alive") || !theirs.iter().all(|&byte| is_token(byte)) {
            return Err(bad_header("Connection"));
        }
        if !is("Upgrade") {
            option(theirs, buf);
        }
    }
    if buf.len() > before {
        buf.extend_from_slice(b"\r\n");
    }
    Ok(())
}

fn write_decimal(number: u64, buf: &mut Vec<u8>) {
    let mut digits = [b'0'; 20];
    let (mut rest, mut len) = (number, 0);
    for digit in digits.iter_mut().rev() {
        *digit += u8::try_from(rest % 10).unwrap_or(0);
        (rest, len) = (rest / 10, len + 1);
        if rest == 0 {
            break;
        }
    }
    buf.extend_from_slice(digits.get(digits.len() - len..).unwrap_or_default());
}

/// Returns a reason phrase (RFC 9110 §15). It may be empty (RFC 9112 §4).
const fn reason(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        417 => "Expectation Failed",
        426 => "Upgrade Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

fn bad_message(detail: &str) -> Error {
    Error::new(Code::BadMessage, Phase::Arguments).with_detail(detail)
}

fn bad_header(name: &str) -> Error {
    Error::new(Code::BadHeader, Phase::Arguments).with_detail(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::String;

    fn encoded(message: &Message, how: &SendOptions<'_>, announced: Announced) -> Result<String, Code> {
        let mut buf = Vec::new();
        request(message, how, announced, false, &mut buf).map_err(|error| error.code)?;
        Ok(String::from_utf8(buf).unwrap())
    }

    fn to<'a>(form: TargetForm<'a>) -> SendOptions<'a> {
        SendOptions { form, host: "a.b:81", ..SendOptions::default() }
    }

    #[test]
    fn each_form_of_target_is_written() {
        let get = Message::request(Method::Get, "/x?y", "");
        let origin = encoded(&get, &to(TargetForm::Origin), Announced::Nothing);
        assert_eq!(origin.unwrap(), "GET /x?y HTTP/1.1\r\nHost: a.b:81\r\n\r\n");
        let absolute = encoded(&get, &to(TargetForm::Absolute { scheme: "http" }), Announced::Nothing);
        assert_eq!(absolute.unwrap(), "GET http://a.b:81/x?y HTTP/1.1\r\nHost: a.b:81\r\n\r\n");
        let options = Message::request(Method::Options, "", "");
        let asterisk = encoded(&options, &to(TargetForm::Asterisk), Announced::Nothing);
        assert_eq!(asterisk.unwrap(), "OPTIONS * HTTP/1.1\r\nHost: a.b:81\r\n\r\n");
        let connect = Message::request(Method::Connect, "c.d:443", "");
        let authority = encoded(&connect, &to(TargetForm::Authority), Announced::Nothing);
        assert_eq!(authority.unwrap(), "CONNECT c.d:443 HTTP/1.1\r\nHost: a.b:81\r\n\r\n");
        assert_eq!(encoded(&connect, &to(TargetForm::Origin), Announced::Nothing), Err(Code::BadMessage));
        assert_eq!(encoded(&get, &to(TargetForm::Asterisk), Announced::Nothing), Err(Code::BadMessage));
    }

    #[test]
    fn a_target_or_method_that_would_break_out_of_its_line_is_refused() {
        for target in ["/a b", "/a\r\nX: y", "/#f", "/\u{e9}", "x", "/\0"] {
            let message = Message::request(Method::Get, target, "");
            assert_eq!(encoded(&message, &to(TargetForm::Origin), Announced::Nothing), Err(Code::BadMessage));
        }
        for method in ["", "G T", "GET / HTTP/1.1\r\nX:"] {
            let message = Message::request(Method::Other(method.into()), "/", "");
            assert_eq!(encoded(&message, &to(TargetForm::Origin), Announced::Nothing), Err(Code::BadMessage));
        }
        let how = SendOptions { host: "a\r\nX: y", ..SendOptions::default() };
        assert_eq!(encoded(&Message::get(), &how, Announced::Nothing), Err(Code::BadMessage));
    }

    #[test]
    fn fields_that_frame_the_message_are_not_the_applications() {
        for (name, value) in [
            ("content-length", "5"),
            ("Transfer-Encoding", "chunked"),
            ("Connection", "close"),
            ("Connection", "x, Keep-Alive"),
            ("connection", "a b"),
        ] {
            let message = Message::get().with_header(name, value).unwrap();
            assert_eq!(
                encoded(&message, &to(TargetForm::Origin), Announced::Nothing),
                Err(Code::BadHeader),
                "{name}"
            );
        }
        let hosts = Message::get().with_header("Host", "a").unwrap().with_header("host", "b").unwrap();
        assert_eq!(encoded(&hosts, &to(TargetForm::Origin), Announced::Nothing), Err(Code::BadHeader));
    }

    #[test]
    fn the_host_is_first_and_there_is_one_connection_field() {
        let message = Message::get().with_header("Upgrade", "websocket").unwrap();
        let message = message.with_header("Connection", "upgrade, TE").unwrap();
        let message = message.with_header("Host", "own").unwrap();
        let how = SendOptions { keep_alive: false, ..to(TargetForm::Origin) };
        assert_eq!(
            encoded(&message, &how, Announced::Length(120)).unwrap(),
            "GET / HTTP/1.1\r\nHost: own\r\nUpgrade: websocket\r\nContent-Length: 120\r\n\
             Connection: close, Upgrade, TE\r\n\r\n",
        );
    }

    #[test]
    fn numbers_are_written_in_full() {
        for number in [0, 9, 10, 12_345, u64::MAX] {
            let mut buf = Vec::new();
            write_decimal(number, &mut buf);
            assert_eq!(buf, alloc::format!("{number}").as_bytes());
        }
    }
}
