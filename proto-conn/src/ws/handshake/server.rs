//! A server's side of the handshake (RFC 6455 §4.2).

use super::{Agreed, VERSION, accept_value, extensions};
use crate::{
    Headers, Message, Method, base64,
    ws::{Config, Origins},
};

/// Checks a request for a WebSocket. Returns the response that switches over, and what it agrees on.
///
/// # Errors
/// The response that refuses: 405 to another method than `GET`; 426 to a request without upgrade or for another
/// version; 403 to an origin that is not taken; 400 to what is malformed; 500 if the configuration is invalid.
#[allow(clippy::result_large_err, reason = "a refusal is a response like the other")]
pub fn accept(request: &Message, config: &Config) -> Result<(Message, Agreed), Message> {
    let headers = &request.headers;
    if request.method != Method::Get {
        return Err(refusal(405, "Allow", "GET"));
    }
    if !headers.has_token("upgrade", "websocket") {
        return Err(refusal(426, "Upgrade", "websocket"));
    }
    if !headers.has_token("connection", "upgrade") {
        return Err(Message::response(400, "the field Connection does not have \"Upgrade\""));
    }
    if sole(headers, "sec-websocket-version") != Some(VERSION.as_bytes()) {
        return Err(refusal(426, "Sec-WebSocket-Version", VERSION));
    }
    let key = sole(headers, "sec-websocket-key");
    let key = key.filter(|key| base64::decode_exact(key).is_some_and(|bytes| bytes.len() == KEY_LEN));
    let Some(key) = key else {
        return Err(Message::response(400, "Sec-WebSocket-Key is not 16 bytes in base64"));
    };
    if !takes_origin(&config.origins, headers) {
        return Err(Message::response(403, "this origin is not taken"));
    }
    let subprotocol = choose_subprotocol(headers, config);
    let (deflate, answer) = extensions::choose(headers, config).unzip();
    let agreed = Agreed { subprotocol, deflate };
    let response = switch(key, &agreed, answer.as_deref(), config);
    response.map(|response| (response, agreed)).ok_or_else(|| Message::response(500, ""))
}

fn switch(key: &[u8], agreed: &Agreed, extensions: Option<&str>, config: &Config) -> Option<Message> {
    config.validate().ok()?;
    let mut response = Message::response(101, "");
    let mut add = |name, value: &[u8]| response.headers.append(name, value).ok();
    add("Upgrade", b"websocket")?;
    add("Connection", b"Upgrade")?;
    add("Sec-WebSocket-Accept", accept_value(key).as_bytes())?;
    if let Some(subprotocol) = &agreed.subprotocol {
        add("Sec-WebSocket-Protocol", subprotocol.as_bytes())?;
    }
    if let Some(extensions) = extensions {
        add("Sec-WebSocket-Extensions", extensions.as_bytes())?;
    }
    config.headers.iter().try_for_each(|(name, value)| add(name, value))?;
    Some(response)
}

/// Returns the first one that the client offers and we speak.
fn choose_subprotocol(headers: &Headers, config: &Config) -> Option<alloc::string::String> {
    headers
        .list("sec-websocket-protocol")
        .find_map(|offered| config.subprotocols.iter().find(|ours| ours.as_bytes() == offered).cloned())
}

fn takes_origin(origins: &Origins, headers: &Headers) -> bool {
    match (origins, headers.get("origin")) {
        (Origins::Any, _) | (Origins::Listed(_), None) => true,
        (Origins::Listed(listed), Some(origin)) => {
            listed.iter().any(|listed| origin.eq_ignore_ascii_case(listed.as_bytes()))
        }
        (Origins::Checked(check), origin) => check(origin),
    }
}

/// Returns the value of a field that is there exactly once.
fn sole<'a>(headers: &'a Headers, name: &'a str) -> Option<&'a [u8]> {
    let mut values = headers.get_all(name);
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

fn refusal(status: u16, name: &str, value: &str) -> Message {
    let mut response = Message::response(status, "");
    // Both are constants of this file.
    let _ = response.headers.append(name, value);
    if status == 426 && name != "Upgrade" {
        // RFC 9110 §15.5.22 asks for it in any 426.
        let _ = response.headers.append("Upgrade", "websocket");
    }
    response
}

const KEY_LEN: usize = 16;
