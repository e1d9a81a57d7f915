//! A program's end of an RPC connection.

use super::{
    MAX_REPLY, RpcError, RpcKey, RpcRequest,
    frame::{FrameReader, MAX_HANDSHAKE, write_frame},
    handshake::Handshake,
};
use proto_rns::{crypto::Entropy, wire::msgpack::Reader};

/// A call to the shared instance, over a connection of its own.
#[derive(Debug)]
pub struct RpcClient {
    handshake: Handshake,
    frames: FrameReader,
    request: Vec<u8>,
    output: Vec<u8>,
    event: Option<RpcClientEvent>,
    is_over: bool,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RpcClientEvent {
    /// The shared instance's reply, one MessagePack value.
    Reply(Vec<u8>),
    /// There is no reply.
    Failed(RpcError),
}

impl RpcClient {
    /// Starts a call on a connection that was just opened. Draws 40 bytes for a challenge.
    pub fn new(key: &RpcKey, request: &RpcRequest, entropy: &mut dyn Entropy) -> Self {
        let mut bytes = Vec::new();
        request.emit(&mut bytes);
        Self {
            handshake: Handshake::client(key, entropy),
            frames: FrameReader::default(),
            request: bytes,
            output: Vec::new(),
            event: None,
            is_over: false,
        }
    }

    /// Takes in bytes from the other end.
    pub fn handle_bytes(&mut self, bytes: &[u8]) {
        if self.is_over {
            return;
        }
        self.frames.feed(bytes);
        while !self.is_over {
            match self.frames.poll(self.limit()) {
                Ok(None) => return,
                Ok(Some(frame)) => self.on_frame(frame),
                Err(error) => self.end(RpcClientEvent::Failed(error)),
            }
        }
        self.frames.clear();
    }

    /// Notes that the other end closed the connection.
    pub fn handle_eof(&mut self) {
        if !self.is_over {
            self.end(RpcClientEvent::Failed(RpcError::Closed));
        }
    }

    /// Returns bytes to send.
    pub fn poll_output(&mut self) -> Option<Vec<u8>> {
        (!self.output.is_empty()).then(|| std::mem::take(&mut self.output))
    }

    /// Returns how the call ended, once.
    pub fn poll_event(&mut self) -> Option<RpcClientEvent> {
        self.event.take()
    }

    /// Says whether the connection is to be closed once all output is sent.
    pub const fn is_over(&self) -> bool {
        self.is_over
    }

    fn on_frame(&mut self, frame: Vec<u8>) {
        if self.handshake.is_done() {
            let mut reader = Reader::new(&frame);
            let whole = reader.value().and_then(|_| reader.end());
            return self.end(match whole {
                Ok(()) => RpcClientEvent::Reply(frame),
                Err(error) => RpcClientEvent::Failed(error.into()),
            });
        }
        match self.handshake.on_frame(&frame, &mut self.output) {
            Ok(()) if self.handshake.is_done() => write_frame(&self.request, &mut self.output),
            Ok(()) => {}
            Err(error) => self.end(RpcClientEvent::Failed(error)),
        }
    }

    fn end(&mut self, event: RpcClientEvent) {
        self.is_over = true;
        self.event = Some(event);
    }

    fn limit(&self) -> usize {
        if self.handshake.is_done() { MAX_REPLY } else { MAX_HANDSHAKE }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rpc::{RequestError, RpcServer, RpcServerEvent};
    use proto_rns::crypto::SecureEntropy;

    struct Call {
        server: RpcServer,
        client: RpcClient,
    }

    impl Call {
        fn new(server: &RpcKey, client: &RpcKey, request: &RpcRequest) -> Self {
            let mut entropy = SecureEntropy::new([9; 32]);
            let server = RpcServer::new(server, &mut entropy);
            Self { server, client: RpcClient::new(client, request, &mut entropy) }
        }

        /// Carries bytes in pieces until nothing moves.
        fn settle(&mut self, piece: usize) {
            loop {
                let (down, up) = (self.server.poll_output(), self.client.poll_output());
                if down.is_none() && up.is_none() {
                    return;
                }
                down.iter().flat_map(|bytes| bytes.chunks(piece)).for_each(|b| self.client.handle_bytes(b));
                up.iter().flat_map(|bytes| bytes.chunks(piece)).for_each(|b| self.server.handle_bytes(b));
            }
        }
    }

    fn key() -> RpcKey {
        RpcKey::new(&[5; 32])
    }

    #[test]
    fn a_request_is_replied_to_whatever_the_pieces() {
        for piece in [1, 7, 1_000] {
            let mut call = Call::new(&key(), &key(), &RpcRequest::LinkCount);
            call.settle(piece);
            assert_eq!(call.server.poll_event(), Some(RpcServerEvent::Request(RpcRequest::LinkCount)));
            call.server.reply(&[0x07]);
            call.settle(piece);
            assert_eq!(call.client.poll_event(), Some(RpcClientEvent::Reply(vec![7])));
            assert!(call.server.is_over() && call.client.is_over());
        }
    }

    #[test]
    fn another_key_is_told_to_both_ends() {
        let mut call = Call::new(&key(), &RpcKey::new(b"other"), &RpcRequest::LinkCount);
        call.settle(1_000);
        assert_eq!(call.server.poll_event(), Some(RpcServerEvent::Failed(RpcError::WrongKey)));
        assert_eq!(call.client.poll_event(), Some(RpcClientEvent::Failed(RpcError::KeyRefused)));
        assert!(RpcError::KeyRefused.to_string().contains("rpc_key"));
    }

    #[test]
    fn a_server_that_does_not_know_the_key_gets_no_request() {
        let mut client = RpcClient::new(&key(), &RpcRequest::LinkCount, &mut SecureEntropy::new([1; 32]));
        let frame = |payload: &[u8]| {
            let mut out = Vec::new();
            write_frame(payload, &mut out);
            out
        };
        client.handle_bytes(&frame(&[b"#CHALLENGE#".as_slice(), &[1; 20]].concat()));
        client.handle_bytes(&frame(b"#WELCOME#"));
        client.handle_bytes(&frame(&[0; 16]));
        assert_eq!(client.poll_event(), Some(RpcClientEvent::Failed(RpcError::WrongKey)));
        assert!(client.poll_output().unwrap().ends_with(b"#FAILURE#"));
    }

    #[test]
    fn a_request_that_is_not_understood_gets_nil() {
        let mut call = Call::new(&key(), &key(), &RpcRequest::LinkCount);
        call.client.request = b"\x81\xa3get\xa3new".to_vec();
        call.settle(1_000);
        let refused = RpcServerEvent::NotUnderstood(RequestError::UnknownCall);
        assert_eq!(call.server.poll_event(), Some(refused));
        assert_eq!(call.client.poll_event(), Some(RpcClientEvent::Reply(vec![0xc0])));
    }

    #[test]
    fn an_end_in_the_middle_is_told_once() {
        let mut call = Call::new(&key(), &key(), &RpcRequest::LinkCount);
        call.client.handle_eof();
        call.server.handle_eof();
        assert_eq!(call.client.poll_event(), Some(RpcClientEvent::Failed(RpcError::Closed)));
        assert_eq!(call.server.poll_event(), Some(RpcServerEvent::Failed(RpcError::Closed)));
        call.client.handle_bytes(&[0; 9]);
        assert_eq!((call.client.poll_event(), call.server.poll_event()), (None, None));
    }

    #[test]
    fn a_long_frame_before_the_proof_is_refused() {
        let mut server = RpcServer::new(&key(), &mut SecureEntropy::new([1; 32]));
        server.handle_bytes(&[0, 0, 1, 1]);
        assert_eq!(
            server.poll_event(),
            Some(RpcServerEvent::Failed(RpcError::TooLong { limit: MAX_HANDSHAKE }))
        );
        assert!(server.is_over());
    }

    #[test]
    fn a_reply_that_is_no_message_pack_is_refused() {
        let mut call = Call::new(&key(), &key(), &RpcRequest::LinkCount);
        call.settle(1_000);
        call.server.reply(&[0xc1]);
        call.settle(1_000);
        assert!(matches!(call.client.poll_event(), Some(RpcClientEvent::Failed(RpcError::Reply(_)))));
    }
}
