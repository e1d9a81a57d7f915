//! The shared instance's end of an RPC connection.

use super::{
    MAX_REQUEST, RequestError, RpcError, RpcKey, RpcRequest,
    frame::{FrameReader, MAX_HANDSHAKE, write_frame},
    handshake::Handshake,
};
use proto_rns::crypto::Entropy;

/// A connection that was accepted. It takes one request; once [`is_over`](Self::is_over) and all output is sent, it is
/// to be closed. The host limits how many connections it has and how long each may last.
#[derive(Debug)]
pub struct RpcServer {
    handshake: Handshake,
    frames: FrameReader,
    output: Vec<u8>,
    event: Option<RpcServerEvent>,
    state: State,
}

/// What happened on a connection that was accepted.
#[derive(Clone, Debug, PartialEq)]
pub enum RpcServerEvent {
    /// The program at the other end asks something; [`reply`](RpcServer::reply) is next.
    Request(RpcRequest),
    /// It asks something that is not understood. Nil was replied.
    NotUnderstood(RequestError),
    /// The connection is over without a request.
    Failed(RpcError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Asked,
    Over,
}

/// What is replied to a request that is not understood.
const NIL: &[u8] = &[0xc0];

impl RpcServer {
    /// Starts on a connection that was just accepted. Draws 40 bytes for a challenge.
    pub fn new(key: &RpcKey, entropy: &mut dyn Entropy) -> Self {
        let mut output = Vec::new();
        let handshake = Handshake::server(key, entropy, &mut output);
        Self { handshake, frames: FrameReader::default(), output, event: None, state: State::Open }
    }

    /// Takes in bytes from the other end.
    pub fn handle_bytes(&mut self, bytes: &[u8]) {
        if self.state != State::Open {
            return;
        }
        self.frames.feed(bytes);
        while self.state == State::Open {
            match self.frames.poll(self.limit()) {
                Ok(None) => return,
                Ok(Some(frame)) => self.on_frame(&frame),
                Err(error) => self.fail(error),
            }
        }
        self.frames.clear();
    }

    /// Notes that the other end closed the connection.
    pub fn handle_eof(&mut self) {
        if self.state == State::Open {
            self.fail(RpcError::Closed);
        }
        self.state = State::Over;
    }

    /// Answers the request with one MessagePack value. Does nothing unless there is one to answer.
    pub fn reply(&mut self, value: &[u8]) {
        if self.state == State::Asked {
            write_frame(value, &mut self.output);
            self.state = State::Over;
        }
    }

    /// Returns bytes to send.
    pub fn poll_output(&mut self) -> Option<Vec<u8>> {
        (!self.output.is_empty()).then(|| std::mem::take(&mut self.output))
    }

    /// Returns what happened, once.
    pub fn poll_event(&mut self) -> Option<RpcServerEvent> {
        self.event.take()
    }

    /// Says whether the connection is to be closed once all output is sent.
    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    fn on_frame(&mut self, frame: &[u8]) {
        if !self.handshake.is_done() {
            if let Err(error) = self.handshake.on_frame(frame, &mut self.output) {
                self.fail(error);
            }
            return;
        }
        self.state = State::Asked;
        match RpcRequest::parse(frame) {
            Ok(request) => self.event = Some(RpcServerEvent::Request(request)),
            Err(error) => {
                self.event = Some(RpcServerEvent::NotUnderstood(error));
                self.reply(NIL);
            }
        }
    }

    fn fail(&mut self, error: RpcError) {
        self.state = State::Over;
        self.event = Some(RpcServerEvent::Failed(error));
    }

    fn limit(&self) -> usize {
        if self.handshake.is_done() { MAX_REQUEST } else { MAX_HANDSHAKE }
    }
}
