//! The opening handshake (RFC 6455 §4): what a client asks, and how each side checks the other.

mod client;
mod extensions;
mod server;

pub use client::{request, verify};
pub use extensions::DeflateParams;
pub use server::accept;

use alloc::string::String;

use crate::base64;

/// What a handshake agreed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// The subprotocol, if both sides have one in common.
    pub subprotocol: Option<String>,
    /// The parameters of permessage-deflate, if it is used.
    pub deflate: Option<DeflateParams>,
}

/// Returns what proves that the server has read the key (RFC 6455 §4.2.2).
fn accept_value(key: &[u8]) -> String {
    let mut hash = sha1_smol::Sha1::new();
    hash.update(key);
    hash.update(b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
    base64::encode(&hash.digest().bytes())
}

/// The version of the protocol (RFC 6455 §4.1).
const VERSION: &str = "13";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Code, Headers, Message,
        ws::{Config, ConfigError, Deflate, Origins},
    };
    use alloc::{format, vec};

    const KEY: [u8; 16] = *b"the sample nonce";

    fn asked(config: &Config) -> Message {
        let mut request = Message::get();
        super::request(&mut request.headers, config, KEY).unwrap();
        request
    }

    fn agreed(client: &Config, server: &Config) -> (Agreed, Agreed) {
        let (response, by_server) = accept(&asked(client), server).unwrap();
        (verify(&response, KEY, client).unwrap(), by_server)
    }

    #[test]
    fn the_example_of_the_rfc_is_proved() {
        assert_eq!(base64::encode(&KEY), "dGhlIHNhbXBsZSBub25jZQ==");
        assert_eq!(accept_value(b"dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn both_sides_agree_on_the_first_subprotocol_that_both_have() {
        let with = |names: &[&str]| Config {
            subprotocols: names.iter().map(|&name| name.into()).collect(),
            ..Config::default()
        };
        let (client, server) = agreed(&with(&["a", "b", "c"]), &with(&["c", "b"]));
        assert_eq!(client, server);
        assert_eq!(client.subprotocol.as_deref(), Some("b"));
        assert_eq!(agreed(&with(&["a"]), &with(&["c"])).0.subprotocol, None);
        assert_eq!(agreed(&with(&[]), &with(&["c"])).0.subprotocol, None);
    }

    #[test]
    fn further_fields_and_the_origin_are_sent() {
        let mut config = Config { origin: Some("https://example.org".into()), ..Config::default() };
        config.headers.append("X-Robot", "7").unwrap();
        let request = asked(&config);
        assert_eq!(request.headers.get_str("origin"), Some("https://example.org"));
        assert_eq!(request.headers.get_str("x-robot"), Some("7"));
        let (response, _) = accept(&request, &config).unwrap();
        assert_eq!(response.headers.get_str("x-robot"), Some("7"));
        config.headers.append("Upgrade", "x").unwrap();
        assert_eq!(super::request(&mut Headers::new(), &config, KEY), Err(ConfigError::Header));
    }

    fn refused(change: impl FnOnce(&mut Message), config: &Config) -> Message {
        let mut request = asked(&Config::default());
        change(&mut request);
        accept(&request, config).unwrap_err()
    }

    #[test]
    fn a_request_that_is_no_handshake_is_refused_with_the_status_that_says_why() {
        let config = Config::default();
        let status = |change: fn(&mut Message)| refused(change, &config).status;
        assert_eq!(status(|m| m.method = crate::Method::Post), 405);
        assert_eq!(status(|m| _ = m.headers.remove("upgrade")), 426);
        assert_eq!(status(|m| m.headers.set("upgrade", "h2c").unwrap()), 426);
        assert_eq!(status(|m| m.headers.set("connection", "close").unwrap()), 400);
        assert_eq!(status(|m| _ = m.headers.remove("sec-websocket-key")), 400);
        for key in
            ["", "short", "AAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAAAAA=", "AAAAAAAAAAAAAAAAAAAA"]
        {
            assert_eq!(
                refused(|m| m.headers.set("sec-websocket-key", key).unwrap(), &config).status,
                400,
                "{key}"
            );
        }
        let twice = |m: &mut Message| m.headers.append("sec-websocket-key", base64::encode(&KEY)).unwrap();
        assert_eq!(refused(twice, &config).status, 400);
    }

    #[test]
    fn another_version_is_answered_with_ours() {
        for version in ["8", "14", "13, 8", "x"] {
            let change = |m: &mut Message| m.headers.set("sec-websocket-version", version).unwrap();
            let refusal = refused(change, &Config::default());
            assert_eq!((refusal.status, refusal.headers.get_str("sec-websocket-version")), (426, Some("13")));
        }
        let none = |m: &mut Message| _ = m.headers.remove("sec-websocket-version");
        assert_eq!(refused(none, &Config::default()).status, 426);
    }

    #[test]
    fn other_peoples_pages_are_kept_away() {
        let listed = Origins::Listed(vec!["https://good.example".into()]);
        let config = Config { origins: listed, ..Config::default() };
        let with = |origin: &str| {
            let mut request = asked(&Config::default());
            request.headers.append("Origin", origin).unwrap();
            accept(&request, &config).map(|_| ()).map_err(|refusal| refusal.status)
        };
        assert_eq!(with("https://GOOD.example"), Ok(()));
        assert_eq!(with("https://evil.example"), Err(403));
        assert!(accept(&asked(&Config::default()), &config).is_ok());
        let checked = Origins::Checked(|origin| origin == Some(b"a"));
        let config = Config { origins: checked, ..Config::default() };
        assert!(accept(&asked(&Config::default()), &config).is_err());
    }

    #[test]
    fn a_response_that_proves_nothing_is_refused() {
        let config = Config { subprotocols: vec!["a".into()], ..Config::default() };
        let (response, _) = accept(&asked(&config), &config).unwrap();
        let code = |change: fn(&mut Message)| {
            let mut response = response.clone();
            change(&mut response);
            verify(&response, KEY, &config).map_err(|error| error.code)
        };
        assert!(code(|_| ()).is_ok());
        assert_eq!(code(|m| m.status = 200), Err(Code::UpgradeRefused));
        let invalid = Err(Code::UpgradeInvalid);
        assert_eq!(code(|m| _ = m.headers.remove("upgrade")), invalid);
        assert_eq!(code(|m| m.headers.set("upgrade", "websocket2").unwrap()), invalid);
        assert_eq!(code(|m| m.headers.set("connection", "keep-alive").unwrap()), invalid);
        assert_eq!(
            code(|m| m.headers.set("sec-websocket-accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOp=").unwrap()),
            invalid
        );
        assert_eq!(code(|m| _ = m.headers.remove("sec-websocket-accept")), invalid);
        assert_eq!(code(|m| m.headers.set("sec-websocket-protocol", "A").unwrap()), invalid);
        assert_eq!(code(|m| m.headers.set("sec-websocket-protocol", "a, a").unwrap()), invalid);
        assert_eq!(
            code(|m| m.headers.set("sec-websocket-extensions", "permessage-deflate").unwrap()),
            invalid
        );
        // Tokens have no case (RFC 6455 §4.1).
        assert!(code(|m| m.headers.set("upgrade", "WebSocket").unwrap()).is_ok());
        assert!(code(|m| m.headers.set("connection", "keep-alive, UPGRADE").unwrap()).is_ok());
    }

    #[cfg(feature = "deflate")]
    #[test]
    fn compression_is_agreed_on_within_what_both_sides_want() {
        let with = |deflate: Deflate| Config { deflate: Some(deflate), ..Config::default() };
        let wide = with(Deflate::default());
        let params = agreed(&wide, &wide).0.deflate.unwrap();
        assert_eq!((params.client_max_window_bits, params.server_max_window_bits), (15, 15));
        let narrow = with(Deflate {
            client_max_window_bits: 10,
            server_max_window_bits: 9,
            client_no_context_takeover: true,
            server_no_context_takeover: true,
            ..Deflate::default()
        });
        let expected = DeflateParams {
            client_max_window_bits: 10,
            server_max_window_bits: 9,
            client_no_context_takeover: true,
            server_no_context_takeover: true,
        };
        for (client, server) in [(&wide, &narrow), (&narrow, &wide), (&narrow, &narrow)] {
            let (by_client, by_server) = agreed(client, server);
            assert_eq!(
                (by_client.deflate, by_server.deflate),
                (Some(expected), Some(expected)),
                "{client:?}"
            );
        }
        assert_eq!(agreed(&wide, &Config::default()).0.deflate, None);
        assert_eq!(agreed(&Config::default(), &wide).0.deflate, None);
    }

    #[cfg(feature = "deflate")]
    #[test]
    fn a_server_passes_over_offers_that_it_cannot_take() {
        let config = Config { deflate: Some(Deflate::default()), ..Config::default() };
        let answer = |offers: &str| {
            let mut request = asked(&Config::default());
            request.headers.append("Sec-WebSocket-Extensions", offers).unwrap();
            let (response, agreed) = accept(&request, &config).unwrap();
            let answer = response.headers.get_str("sec-websocket-extensions").map(String::from);
            assert_eq!(answer.is_some(), agreed.deflate.is_some());
            answer
        };
        let plain = "permessage-deflate";
        assert_eq!(answer("x-webkit-deflate-frame, permessage-deflate").as_deref(), Some(plain));
        for bad in [
            "server_max_window_bits",
            "server_max_window_bits=7",
            "server_max_window_bits=16",
            "server_max_window_bits=010",
            "client_max_window_bits=abc",
            "client_no_context_takeover=1",
            "server_no_context_takeover; server_no_context_takeover",
            "unknown",
        ] {
            assert_eq!(answer(&format!("permessage-deflate; {bad}")), None, "{bad}");
            assert_eq!(
                answer(&format!("permessage-deflate; {bad}, permessage-deflate")).as_deref(),
                Some(plain)
            );
        }
        assert_eq!(
            answer("permessage-deflate; server_max_window_bits=\"10\"").as_deref(),
            Some("permessage-deflate; server_max_window_bits=10")
        );
        assert_eq!(answer("permessage-deflate; client_max_window_bits").as_deref(), Some(plain));
    }

    #[cfg(feature = "deflate")]
    #[test]
    fn a_client_refuses_compression_that_it_did_not_offer() {
        let offer = Deflate { server_max_window_bits: 12, client_max_window_bits: 11, ..Deflate::default() };
        let config = Config { deflate: Some(offer), ..Config::default() };
        let verified = |extensions: &str| {
            let (mut response, _) = accept(&asked(&Config::default()), &Config::default()).unwrap();
            response.headers.append("Sec-WebSocket-Extensions", extensions).unwrap();
            verify(&response, KEY, &config).map(|agreed| agreed.deflate.unwrap())
        };
        let params = verified("permessage-deflate; server_max_window_bits=12").unwrap();
        assert_eq!((params.client_max_window_bits, params.server_max_window_bits), (11, 12));
        let forgetful = "permessage-deflate; server_max_window_bits=9; client_no_context_takeover; server_no_context_takeover; client_max_window_bits=8";
        let params = verified(forgetful).unwrap();
        assert!(params.client_no_context_takeover && params.server_no_context_takeover);
        assert_eq!((params.client_max_window_bits, params.server_max_window_bits), (8, 9));
        for bad in [
            "permessage-deflate",
            "permessage-deflate; server_max_window_bits=13",
            "permessage-deflate; server_max_window_bits=12; client_max_window_bits=12",
            "permessage-deflate; server_max_window_bits=12; client_max_window_bits",
            "permessage-deflate; server_max_window_bits=12; mode=fast",
            "permessage-deflate; server_max_window_bits=12, permessage-deflate; server_max_window_bits=12",
            "permessage-bzip2",
        ] {
            assert_eq!(verified(bad).map_err(|error| error.code), Err(Code::UpgradeInvalid), "{bad}");
        }
    }
}
