//! Sessions: whatever arrives, in whatever pieces, tells the same, and ends.

use proto_conn::{
    Flags, Message, Method, StreamEnd, Talk,
    http::{self, BodyKind, ClientSession, ResponseMode, SendOptions, ServerSession},
    ws::{self, Session, handshake::Agreed},
};
use proto_core::{Instant, Rng};

const NOW: Instant = Instant::from_millis(1_000);

/// A client with a request under way. The first byte says how the answer is to be handed out.
pub fn http_client(data: &[u8]) {
    let Some((&how, stream)) = data.split_first() else { return };
    check(stream, || {
        let mut session = ClientSession::new(http::Config::default()).unwrap();
        let request = Message::request(if how & 1 == 0 { Method::Get } else { Method::Head }, "/", "");
        let response = if how & 2 == 0 { ResponseMode::Buffered } else { ResponseMode::Streamed };
        let options = SendOptions { host: "a", response, decode: how & 4 != 0, ..SendOptions::default() };
        session.send(NOW, &request, &options).unwrap();
        take_output(&mut session);
        (session, |session: &mut ClientSession| session.poll_event().map(|event| format!("{event:?}")))
    });
}

/// A server that answers every request once it is whole. The first byte says how bodies are to be handed out.
pub fn http_server(data: &[u8]) {
    let Some((&how, stream)) = data.split_first() else { return };
    check(stream, || {
        let config = http::Config { stream_requests: how & 1 != 0, ..http::Config::default() };
        let session = ServerSession::new(config).unwrap();
        (session, |session: &mut ServerSession| {
            let event = session.poll_event()?;
            let is_whole = match &event {
                http::Event::Request(request) => !request.flags.has(Flags::STREAMED),
                http::Event::BodyEnd(_) => true,
                _ => false,
            };
            if is_whole {
                // A refusal is as good as an answer here.
                let _ = session.respond(NOW, &Message::response(200, "short"), BodyKind::Whole);
            }
            Some(format!("{event:?}"))
        })
    });
}

/// Either role of an open WebSocket, with or without compression.
pub fn websocket(data: &[u8]) {
    let Some((&how, stream)) = data.split_first() else { return };
    let role = if how & 1 == 0 { ws::Role::Client } else { ws::Role::Server };
    let deflate = (how & 2 != 0).then(ws::Deflate::default);
    let config = ws::Config { deflate, max_message: 1 << 16, ..ws::Config::default() };
    // What both sides agree on is what a handshake between them says.
    let agreed = agreed(&config);
    check(stream, || {
        let session = Session::new(role, &config, &agreed, Rng::from_u64(1)).unwrap();
        (session, |session: &mut Session| session.poll_event().map(|event| format!("{event:?}")))
    });
}

fn agreed(config: &ws::Config) -> Agreed {
    let mut request = Message::get();
    ws::handshake::request(&mut request.headers, config, [7; 16]).unwrap();
    ws::handshake::accept(&request, config).unwrap().1
}

/// Gives a stream whole and in pieces to sessions that `make` makes, and compares what they tell. Parts of streamed
/// bodies may be cut otherwise, so only their bytes count.
fn check<T: Talk, P: FnMut(&mut T) -> Option<String>>(stream: &[u8], make: impl Fn() -> (T, P)) {
    let whole = told(make(), stream, usize::MAX);
    for piece in [1, 7] {
        assert_eq!(told(make(), stream, piece), whole, "in pieces of {piece}");
    }
}

fn told<T: Talk, P: FnMut(&mut T) -> Option<String>>(
    (mut session, mut poll): (T, P),
    stream: &[u8],
    piece: usize,
) -> Vec<String> {
    let mut events = vec![];
    let mut rest = stream;
    while !rest.is_empty() {
        let now = rest.get(..piece).unwrap_or(rest);
        let taken = if session.wants_input() { session.handle_input(NOW, now) } else { 0 };
        rest = &rest[taken..];
        let before = events.len();
        events.extend(core::iter::from_fn(|| poll(&mut session)));
        take_output(&mut session);
        if taken == 0 && events.len() == before {
            break;
        }
    }
    session.handle_end(NOW, StreamEnd::Closed);
    events.extend(core::iter::from_fn(|| poll(&mut session)));
    take_output(&mut session);
    events.retain(|event| !event.starts_with("BodyPart") && event != "Sent");
    events
}

/// Takes what a session has to send, as a carrier would.
fn take_output(session: &mut impl Talk) {
    let mut buf = vec![];
    while session.outgoing().copy(usize::MAX, &mut buf) > 0 {}
    session.handle_sent(NOW);
}
