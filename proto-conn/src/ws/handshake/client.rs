//! A client's side of the handshake (RFC 6455 §4.1).

use alloc::string::String;

use super::{Agreed, VERSION, accept_value, extensions};
use crate::{
    Code, Error, Headers, Message, Phase, base64,
    ws::{Config, ConfigError},
};

/// Adds to a `GET` request's fields what asks for a WebSocket. The key must be fresh and random.
///
/// # Errors
/// The configuration is invalid.
pub fn request(headers: &mut Headers, config: &Config, key: [u8; 16]) -> Result<(), ConfigError> {
    config.validate()?;
    let mut add = |name, value: &[u8]| headers.append(name, value).map_err(|_| ConfigError::Header);
    add("Upgrade", b"websocket")?;
    add("Connection", b"Upgrade")?;
    add("Sec-WebSocket-Key", base64::encode(&key).as_bytes())?;
    add("Sec-WebSocket-Version", VERSION.as_bytes())?;
    if let Some(origin) = &config.origin {
        add("Origin", origin.as_bytes())?;
    }
    if !config.subprotocols.is_empty() {
        add("Sec-WebSocket-Protocol", config.subprotocols.join(", ").as_bytes())?;
    }
    if let Some(offer) = extensions::offer(config) {
        add("Sec-WebSocket-Extensions", offer.as_bytes())?;
    }
    config.headers.iter().try_for_each(|(name, value)| add(name, value))
}

/// Checks the response to a [`request`] with this key, and returns what was agreed on.
///
/// # Errors
/// [`Code::UpgradeRefused`] with the status if that is not 101; [`Code::UpgradeInvalid`] if the response is not one to
/// this request, or agrees to something else than was offered.
pub fn verify(response: &Message, key: [u8; 16], config: &Config) -> Result<Agreed, Error> {
    if response.status != 101 {
        let refused = Error::new(Code::UpgradeRefused, Phase::Upgrade);
        return Err(Error { status: Some(response.status), ..refused });
    }
    let headers = &response.headers;
    if !sole(headers, "upgrade")?.is_some_and(|value| value.eq_ignore_ascii_case(b"websocket")) {
        return Err(invalid("the field Upgrade is not \"websocket\""));
    }
    if !headers.has_token("connection", "upgrade") {
        return Err(invalid("the field Connection does not have \"Upgrade\""));
    }
    let expected = accept_value(base64::encode(&key).as_bytes());
    if sole(headers, "sec-websocket-accept")? != Some(expected.as_bytes()) {
        return Err(invalid("Sec-WebSocket-Accept does not answer the key"));
    }
    let subprotocol = match sole(headers, "sec-websocket-protocol")? {
        None => None,
        Some(name) => {
            let offered = config.subprotocols.iter().find(|offered| offered.as_bytes() == name);
            Some(offered.cloned().ok_or_else(|| invalid("a subprotocol that was not offered"))?)
        }
    };
    let deflate = extensions::agreed(headers, config).map_err(invalid)?;
    Ok(Agreed { subprotocol, deflate })
}

/// Returns the value of a field that may be there once at most.
fn sole<'a>(headers: &'a Headers, name: &'a str) -> Result<Option<&'a [u8]>, Error> {
    let mut values = headers.get_all(name);
    let value = values.next();
    if values.next().is_some() {
        Err(invalid(alloc::format!("the field {name} is there twice")))
    } else {
        Ok(value)
    }
}

fn invalid(detail: impl Into<String>) -> Error {
    Error::new(Code::UpgradeInvalid, Phase::Upgrade).with_detail(detail)
}
