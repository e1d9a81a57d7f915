//! The negotiation of permessage-deflate (RFC 6455 §9.1, RFC 7692 §5 and §7.1).

use alloc::{format, string::String};

use crate::{
    Headers,
    headers::{is_token, trim_blanks},
    ws::{Config, Deflate, Role},
};

/// What was agreed on about compression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeflateParams {
    /// The largest window of what the client sends, as a power of two: 8 to 15.
    pub client_max_window_bits: u8,
    /// The largest window of what the server sends.
    pub server_max_window_bits: u8,
    /// The client packs each message for itself.
    pub client_no_context_takeover: bool,
    /// The server packs each message for itself.
    pub server_no_context_takeover: bool,
}

impl DeflateParams {
    /// Returns the window of what a side sends, and whether it packs each message for itself.
    #[cfg_attr(not(feature = "deflate"), allow(dead_code, reason = "nothing is packed"))]
    pub(in crate::ws) const fn of_sender(self, role: Role) -> (u8, bool) {
        match role {
            Role::Client => (self.client_max_window_bits, self.client_no_context_takeover),
            Role::Server => (self.server_max_window_bits, self.server_no_context_takeover),
        }
    }
}

/// Returns what a client offers.
pub(super) fn offer(config: &Config) -> Option<String> {
    let deflate = usable(config)?;
    let mut offer = String::from(NAME);
    // Without this parameter the server may not ask for a smaller window (RFC 7692 §7.1.2.2).
    push(&mut offer, CLIENT_BITS, Some(deflate.client_max_window_bits).filter(|&bits| bits < MAX_BITS));
    if deflate.server_max_window_bits < MAX_BITS {
        push(&mut offer, SERVER_BITS, Some(deflate.server_max_window_bits));
    }
    push_flags(&mut offer, deflate.client_no_context_takeover, deflate.server_no_context_takeover);
    Some(offer)
}

/// Returns what a server takes of a client's offers, and how it answers.
pub(super) fn choose(headers: &Headers, config: &Config) -> Option<(DeflateParams, String)> {
    let deflate = usable(config)?;
    headers.list(FIELD).find_map(|offer| choose_one(&Params::parse(offer)?, deflate))
}

fn choose_one(offer: &Params, deflate: &Deflate) -> Option<(DeflateParams, String)> {
    let asked = match offer.server_bits {
        None => MAX_BITS,
        // In an offer it has a value (RFC 7692 §7.1.2.1).
        Some(bits) => bits?,
    };
    let params = DeflateParams {
        // The client's window can be made smaller only if it says that it can do that (RFC 7692 §7.1.2.2).
        client_max_window_bits: match offer.client_bits {
            None => MAX_BITS,
            Some(hint) => hint.unwrap_or(MAX_BITS).min(deflate.client_max_window_bits),
        },
        server_max_window_bits: asked.min(deflate.server_max_window_bits),
        client_no_context_takeover: offer.client_forgets || deflate.client_no_context_takeover,
        server_no_context_takeover: offer.server_forgets || deflate.server_no_context_takeover,
    };
    let mut answer = String::from(NAME);
    if offer.server_bits.is_some() || params.server_max_window_bits < MAX_BITS {
        push(&mut answer, SERVER_BITS, Some(params.server_max_window_bits));
    }
    if params.client_max_window_bits < MAX_BITS {
        push(&mut answer, CLIENT_BITS, Some(params.client_max_window_bits));
    }
    push_flags(&mut answer, params.client_no_context_takeover, params.server_no_context_takeover);
    Some((params, answer))
}

/// Checks a server's answer to our [`offer`].
pub(super) fn agreed(headers: &Headers, config: &Config) -> Result<Option<DeflateParams>, &'static str> {
    let mut answers = headers.list(FIELD);
    let Some(answer) = answers.next() else { return Ok(None) };
    let (None, Some(deflate)) = (answers.next(), usable(config)) else {
        return Err("an extension that was not offered");
    };
    let answer = Params::parse(answer)
        .ok_or("an extension that was not offered, or with parameters it does not have")?;
    let client_bits = match answer.client_bits {
        None => deflate.client_max_window_bits,
        Some(Some(bits)) if bits <= deflate.client_max_window_bits => bits,
        Some(_) => return Err("a larger window for compression than was offered"),
    };
    let server_bits = match answer.server_bits {
        // Left out, it means the largest, which was offered if we named no other (RFC 7692 §7.1.2.1).
        None if deflate.server_max_window_bits == MAX_BITS => MAX_BITS,
        Some(Some(bits)) if bits <= deflate.server_max_window_bits => bits,
        None | Some(_) => return Err("a larger window for compression than was asked for"),
    };
    if deflate.server_no_context_takeover && !answer.server_forgets {
        return Err("compression over several messages, although it was not to be (RFC 7692 §7.1.1.1)");
    }
    Ok(Some(DeflateParams {
        client_max_window_bits: client_bits,
        server_max_window_bits: server_bits,
        client_no_context_takeover: answer.client_forgets || deflate.client_no_context_takeover,
        server_no_context_takeover: answer.server_forgets,
    }))
}

/// An offer of, or an answer to, permessage-deflate. `Some(None)` is a parameter without a value.
#[derive(Debug, Default)]
struct Params {
    client_bits: Option<Option<u8>>,
    server_bits: Option<Option<u8>>,
    client_forgets: bool,
    server_forgets: bool,
}

impl Params {
    /// Reads one member of the list. `None` if it is another extension, or one with parameters that are unknown,
    /// doubled or have values that they cannot have (RFC 7692 §7.1).
    fn parse(extension: &[u8]) -> Option<Self> {
        // Values are numbers, so no semicolon of a quoted string is missed.
        let mut parts = extension.split(|&byte| byte == b';').map(trim_blanks);
        if !parts.next()?.eq_ignore_ascii_case(NAME.as_bytes()) {
            return None;
        }
        let mut params = Self::default();
        for part in parts {
            let (name, value) = match part.iter().position(|&byte| byte == b'=') {
                None => (part, None),
                Some(at) => {
                    let value = part.get(at + 1..).unwrap_or_default();
                    (trim_blanks(part.get(..at)?), Some(window_bits(trim_blanks(value))?))
                }
            };
            let name = core::str::from_utf8(name).ok().filter(|name| name.bytes().all(is_token))?;
            let doubled = match name {
                CLIENT_BITS => params.client_bits.replace(value).is_some(),
                SERVER_BITS => params.server_bits.replace(value).is_some(),
                CLIENT_FORGETS if value.is_none() => core::mem::replace(&mut params.client_forgets, true),
                SERVER_FORGETS if value.is_none() => core::mem::replace(&mut params.server_forgets, true),
                _ => return None,
            };
            if doubled {
                return None;
            }
        }
        Some(params)
    }
}

/// Reads a window size: 8 to 15, without leading zeros, perhaps quoted.
fn window_bits(value: &[u8]) -> Option<u8> {
    let quoted = value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\""));
    match *quoted.unwrap_or(value) {
        [digit @ b'8'..=b'9'] => Some(digit - b'0'),
        [b'1', digit @ b'0'..=b'5'] => Some(10 + digit - b'0'),
        _ => None,
    }
}

fn push(text: &mut String, name: &str, bits: Option<u8>) {
    text.push_str("; ");
    text.push_str(name);
    if let Some(bits) = bits {
        text.push_str(&format!("={bits}"));
    }
}

fn push_flags(text: &mut String, client_forgets: bool, server_forgets: bool) {
    if client_forgets {
        push(text, CLIENT_FORGETS, None);
    }
    if server_forgets {
        push(text, SERVER_FORGETS, None);
    }
}

/// Returns what is configured, if this build can do it.
fn usable(config: &Config) -> Option<&Deflate> {
    config.deflate.as_ref().filter(|_| cfg!(feature = "deflate"))
}

const FIELD: &str = "sec-websocket-extensions";
const NAME: &str = "permessage-deflate";
const CLIENT_BITS: &str = "client_max_window_bits";
const SERVER_BITS: &str = "server_max_window_bits";
const CLIENT_FORGETS: &str = "client_no_context_takeover";
const SERVER_FORGETS: &str = "server_no_context_takeover";
/// The largest window of DEFLATE, which needs no mention.
const MAX_BITS: u8 = 15;
