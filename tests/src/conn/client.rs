//! Our client, with what most tests want of it.

use runtime_blocking::conn::{Connection, Error, Flags, Kind, Message, Method, Options, Payload};

use crate::peers::patience::PATIENCE;

/// A connection of ours whose failures fail the test.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
}

impl Client {
    /// Creates one; the first message opens it.
    ///
    /// # Panics
    /// The URL or an option is bad.
    pub fn open(url: &str, options: Options) -> Self {
        Self { connection: Connection::open(url, options).unwrap_or_else(|error| panic!("{url}: {error}")) }
    }

    /// Returns the connection, for what it alone can do.
    pub const fn connection(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Gets a target.
    ///
    /// # Panics
    /// There is no answer.
    pub fn get(&mut self, target: &str) -> Message {
        self.ask(Message::request(Method::Get, target, Payload::new()))
    }

    /// Asks for something.
    ///
    /// # Panics
    /// There is no answer.
    pub fn ask(&mut self, request: Message) -> Message {
        let wish = format!("{} {}", request.method, request.target);
        self.try_ask(request).unwrap_or_else(|error| panic!("{wish}: {error}"))
    }

    /// Asks for something that may fail.
    ///
    /// # Errors
    /// What went wrong.
    pub fn try_ask(&mut self, request: Message) -> Result<Message, Error> {
        self.connection.request(request, Some(PATIENCE))
    }

    /// Sends a WebSocket message, and checks that it comes back. Says whether it came compressed.
    ///
    /// # Panics
    /// Something else comes.
    pub fn is_echoed(&mut self, message: &Message) -> bool {
        let answer = self.connection.request(message.clone(), Some(PATIENCE));
        let answer = answer.unwrap_or_else(|error| panic!("{} bytes: {error}", message.body.len()));
        assert_eq!(answer.kind, message.kind);
        assert!(answer.body == message.body, "{} bytes for {}", answer.body.len(), message.body.len());
        answer.flags.has(Flags::COMPRESSED)
    }

    /// Sends WebSocket messages of many lengths, checks that they come back, and closes. Says whether some came
    /// compressed.
    ///
    /// # Panics
    /// They do not, or the peer does not agree to close.
    pub fn talks_websocket(&mut self) -> bool {
        let mut compressed = false;
        for len in [0, 1, 125, 126, 65_535, 65_536, 1_000_000] {
            let text: String = ('a'..='z').cycle().take(len).collect();
            compressed |= self.is_echoed(&Message::text(text));
            let bytes: Vec<u8> = (0..=255).cycle().take(len).collect();
            compressed |= self.is_echoed(&Message::binary(bytes));
        }
        let closed = self.connection.close(1000, "done", Some(PATIENCE)).expect("a good end");
        assert!(closed.is_clean && closed.code == 1000, "{closed:?}");
        compressed
    }

    /// Gets a target, and returns the informational answers that came before the final one, and that one.
    ///
    /// # Panics
    /// There is no answer.
    pub fn get_with_hints(&mut self, target: &str) -> (Vec<Message>, Message) {
        let request = Message::request(Method::Get, target, Payload::new());
        self.connection.send(request).expect("room for a request");
        let mut hints = Vec::new();
        loop {
            let message = self.connection.recv(Some(PATIENCE)).expect("an answer");
            match message.kind {
                Kind::Informational => hints.push(message),
                _ => return (hints, message),
            }
        }
    }
}
