//! What the echo peers answer.

use proto_conn::{
    Code, Error, Kind, Message, Payload, Scheme,
    http::BodyKind,
    server::{Event, PeerId, Server},
};
use proto_core::{Instant, LinkId};
use std::{
    collections::{BTreeMap, VecDeque},
    fmt::Write as _,
    net::SocketAddr,
};

use crate::conn::trace::field_lines;

/// Answers what peers ask.
#[derive(Debug, Default)]
pub(super) struct Answerer {
    /// The group, and the socket that joined it.
    pub(super) group: Option<(LinkId, SocketAddr)>,
    /// Echoes that a peer had no room for, in order.
    waiting: BTreeMap<PeerId, VecDeque<Message>>,
}

impl Answerer {
    /// Answers an event.
    pub(super) fn answer(&mut self, server: &mut Server, now: Instant, event: &Event) {
        match event {
            Event::Request { peer, message } => {
                if let Some(response) = respond(message) {
                    // A peer that is gone wants no answer.
                    let _ = server.respond(now, *peer, &response, BodyKind::Whole);
                }
            }
            Event::Message { peer, message } if matches!(message.kind, Kind::Text | Kind::Binary) => {
                self.echo(server, now, *peer, message);
            }
            Event::Writable { peer } => self.catch_up(server, now, *peer),
            Event::Closed { peer, .. } => {
                self.waiting.remove(peer);
            }
            Event::Datagram { socket, message } => self.answer_datagram(server, *socket, message),
            Event::Message { .. }
            | Event::Listening { .. }
            | Event::Down { .. }
            | Event::Connected { .. }
            | Event::Opened { .. }
            | Event::Part { .. }
            | Event::End { .. } => {}
        }
    }

    fn echo(&mut self, server: &mut Server, now: Instant, peer: PeerId, message: &Message) {
        let echo = Message { kind: message.kind, body: message.body.clone(), ..Message::default() };
        if let Some(waiting) = self.waiting.get_mut(&peer) {
            // One that sends and does not read is let go.
            if waiting.len() >= MOST_WAITING {
                let _ = server.close(now, peer, 1008, "echoes are not read");
                self.waiting.remove(&peer);
            } else {
                waiting.push_back(echo);
            }
        } else if is_full(&server.send(now, peer, &echo)) {
            self.waiting.insert(peer, VecDeque::from([echo]));
        }
    }

    fn catch_up(&mut self, server: &mut Server, now: Instant, peer: PeerId) {
        let Some(mut waiting) = self.waiting.remove(&peer) else { return };
        while let Some(echo) = waiting.pop_front() {
            if is_full(&server.send(now, peer, &echo)) {
                waiting.push_front(echo);
                self.waiting.insert(peer, waiting);
                return;
            }
        }
    }

    /// Datagrams go back; to a group what does not look like an answer itself is answered, or there would be no end.
    fn answer_datagram(&self, server: &mut Server, socket: LinkId, message: &Message) {
        // Without room an answer is lost, as datagrams are.
        match self.group {
            Some((joined, group)) if joined == socket => {
                if !message.body.starts_with(ANSWER) {
                    let answer = [ANSWER, &message.body].concat();
                    let _ = server.send_datagram(socket, group, answer.into());
                }
            }
            _ => {
                if let Some(from) = message.peer_addr {
                    let _ = server.send_datagram(socket, from, message.body.clone());
                }
            }
        }
    }
}

/// What a request is answered with; `None` for silence.
fn respond(request: &Message) -> Option<Message> {
    if !request.body.is_empty() {
        let mut echo = Message::response(200, request.body.clone());
        if let Some(kind) = request.headers.get("content-type") {
            // It was well-formed when it came.
            let _ = echo.headers.append("Content-Type", kind);
        }
        return Some(echo);
    }
    let path = request.target.split('?').next().unwrap_or_default();
    let mut segments = path.trim_start_matches('/').splitn(2, '/');
    let (name, value) = (segments.next().unwrap_or_default(), segments.next());
    match (name, value) {
        ("silence", None) => None,
        ("bytes", Some(count)) => Some(bytes(count)),
        ("status", Some(status)) => Some(status_of(status)),
        ("redirect", Some(count)) => Some(redirect(count)),
        _ => Some(text(200, described(request))),
    }
}

fn bytes(count: &str) -> Message {
    match count
        .parse::<u64>()
        .ok()
        .filter(|count| *count <= LONGEST)
        .and_then(|count| usize::try_from(count).ok())
    {
        Some(count) => Message::response(200, vec![b'x'; count]),
        None => text(400, format!("the count is a number up to {LONGEST}\n")),
    }
}

fn status_of(status: &str) -> Message {
    match status.parse::<u16>().ok().filter(|status| (200..=599).contains(status)) {
        Some(status @ (204 | 304)) => Message::response(status, ""),
        Some(status) => text(status, format!("{status}\n")),
        None => text(400, "the status is a number from 200 to 599\n".into()),
    }
}

/// Leads to the next lower count, and from 0 to the root.
fn redirect(count: &str) -> Message {
    let Ok(count) = count.parse::<u16>() else { return text(400, "the count is a number\n".into()) };
    let to = count.checked_sub(1).map_or_else(|| "/".to_owned(), |next| format!("/redirect/{next}"));
    let response = text(302, format!("to {to}\n"));
    response.with_header("Location", to).unwrap_or_default()
}

/// The request's own head.
fn described(request: &Message) -> String {
    let mut head = format!("{} {}\n", request.method, request.target);
    for line in field_lines(&request.headers) {
        let _ = writeln!(head, "{line}");
    }
    head
}

fn text(status: u16, text: String) -> Message {
    let mut response = Message::response(status, Payload::from(text));
    // The value is well-formed.
    let _ = response.headers.append("Content-Type", "text/plain; charset=utf-8");
    response
}

fn is_full(outcome: &Result<(), Error>) -> bool {
    matches!(outcome, Err(error) if error.code == Code::WouldBlock)
}

/// The scheme of groups.
pub(super) const GROUP_SCHEMES: &[Scheme] = &[Scheme::UdpMulticast];

/// The longest body that is taken or given, in bytes.
pub(super) const LONGEST: u64 = 64 << 20;

/// What an answer to a group begins with.
const ANSWER: &[u8] = b"echo: ";

/// How many echoes wait for one peer.
const MOST_WAITING: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;
    use proto_conn::Method;

    fn get(target: &str) -> Option<Message> {
        respond(&Message::request(Method::Get, target, ""))
    }

    #[test]
    fn a_body_goes_back_with_its_kind() {
        let request =
            Message::request(Method::Post, "/bytes/3", "{}").with_header("Content-Type", "a/b").unwrap();
        let answer = respond(&request).unwrap();
        assert_eq!((answer.status, answer.body.as_str()), (200, Some("{}")));
        assert_eq!(answer.headers.get_str("content-type"), Some("a/b"));
    }

    #[test]
    fn targets_choose_the_answer() {
        assert_eq!(get("/bytes/3").unwrap().body.as_str(), Some("xxx"));
        assert_eq!(get("/bytes/99999999999").unwrap().status, 400);
        assert_eq!(get("/status/404").unwrap().status, 404);
        assert_eq!(get("/status/100").unwrap().status, 400);
        assert_eq!(get("/redirect/1").unwrap().headers.get_str("location"), Some("/redirect/0"));
        assert_eq!(get("/redirect/0").unwrap().headers.get_str("location"), Some("/"));
        assert!(get("/silence").is_none());
        assert!(get("/x?y").unwrap().body.as_str().unwrap().starts_with("GET /x?y\n"));
    }
}
