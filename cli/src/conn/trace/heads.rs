//! Heads of messages in text, written by the encoder that writes them for the network.

use proto_conn::{
    Headers, Message, Method, Talk as _, Url,
    client::Options,
    http::{self, ClientSession, SendOptions, TargetForm, auth},
    ws,
};
use proto_core::Instant;

/// Returns the lines of a request's head, with an empty one at its end.
pub(super) fn of_request(request: &Message, url: &Url, options: &Options) -> Vec<String> {
    let is_proxied = options.proxy.as_ref().is_some_and(|proxy| !proxy.excepts(url)) && !url.scheme.is_tls();
    let form =
        if is_proxied { TargetForm::Absolute { scheme: url.scheme.name() } } else { TargetForm::Origin };
    encode(request.clone(), url, options, form)
}

/// Returns the lines of a WebSocket handshake's head, with an empty one at its end.
pub(super) fn of_handshake(url: &Url, options: &Options) -> Vec<String> {
    let mut request = Message::request(Method::Get, url.target.clone(), "");
    if ws::handshake::request(&mut request.headers, &options.ws, [0; 16]).is_err() {
        return vec![];
    }
    request.headers.remove("Sec-WebSocket-Key");
    encode(request, url, options, TargetForm::Origin)
}

/// Returns the lines of fields.
pub(in crate::conn) fn field_lines(fields: &Headers) -> impl Iterator<Item = String> {
    fields.iter().map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value)))
}

fn encode(mut request: Message, url: &Url, options: &Options, form: TargetForm<'_>) -> Vec<String> {
    for (name, value) in options.headers.iter() {
        if request.headers.get(name).is_none() {
            // They were checked when they became options.
            let _ = request.headers.append(name, value);
        }
    }
    if let Some(user) = url.userinfo.as_ref().filter(|_| request.headers.get("Authorization").is_none()) {
        let value = auth::basic(&user.user, user.password.as_deref().unwrap_or_default());
        let _ = value.map(|value| request.headers.append("Authorization", value));
    }
    let host = url.authority();
    let how = SendOptions {
        form,
        target: &url.target,
        host: &host,
        keep_alive: options.keep_alive,
        decode: options.decode,
        ..SendOptions::default()
    };
    let Ok(mut session) = ClientSession::new(http::Config::default()) else { return vec![] };
    if session.send(Instant::ZERO, &request, &how).is_err() {
        // The connection will say why.
        return vec![];
    }
    let (mut head, mut pieces) = (Vec::new(), Vec::new());
    session.outgoing().take(&mut head, &mut pieces);
    let head = String::from_utf8_lossy(&head);
    let end = head.find("\r\n\r\n").unwrap_or(head.len());
    let lines = head.get(..end).unwrap_or_default().split("\r\n").map(str::to_owned);
    lines.chain([String::new()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_of_a_request_has_what_options_and_url_add() {
        let url = Url::parse("http://me:secret@robot:8080/arm?joint=1").unwrap();
        let mut options = Options::default();
        options.headers.append("X-One", "1").unwrap();
        let request = Message::request(Method::Post, "", "body");
        let lines = of_request(&request, &url, &options);
        assert_eq!(lines.first().unwrap(), "POST /arm?joint=1 HTTP/1.1");
        for line in
            ["Host: robot:8080", "X-One: 1", "Authorization: Basic bWU6c2VjcmV0", "Content-Length: 4", ""]
        {
            assert!(lines.iter().any(|there| there == line), "{line:?} is missing: {lines:?}");
        }
    }

    #[test]
    fn the_head_of_a_handshake_has_no_key_that_is_not_the_real_one() {
        let url = Url::parse("ws://robot/feed").unwrap();
        let lines = of_handshake(&url, &Options::default());
        assert!(lines.iter().any(|line| line.eq_ignore_ascii_case("upgrade: websocket")), "{lines:?}");
        assert!(!lines.iter().any(|line| line.to_lowercase().contains("key")), "{lines:?}");
    }
}
