//! Records, by rustls' unbuffered interface.
//!
//! rustls decrypts one record at a call, and hands it out whole: what the consumer does not take is kept here, and no
//! further record is decrypted before that is gone. So at most one record of plaintext waits, and the rest stays
//! ciphertext in a buffer of fixed size.

use alloc::{string::ToString as _, vec::Vec};
use core::fmt;
use rustls::{
    CommonState, HandshakeKind, ProtocolVersion,
    client::{ClientConnectionData, UnbufferedClientConnection},
    server::{ServerConnectionData, UnbufferedServerConnection},
    unbuffered::{ConnectionState, EncodeError, EncodeTlsData, EncryptError, UnbufferedStatus, WriteTraffic},
};

use super::{TlsInfo, TlsLayer, TlsVersion, fault, received::Received};
use crate::{Code, Error, Outgoing, Phase, StreamEnd};

/// One side of a connection.
pub(super) struct RustlsLayer<R> {
    connection: R,
    received: Received,
    kept: Kept,
    /// Handshake messages and alerts that are to be sent.
    waiting: Vec<u8>,
    /// Where bytes meet that are to be in one record.
    joined: Vec<u8>,
    goodbye: Goodbye,
    ended: Option<StreamEnd>,
    info: Option<TlsInfo>,
    failed: Option<Error>,
}

impl<R: Role> RustlsLayer<R> {
    pub(super) fn new(connection: R) -> Result<Self, Error> {
        let mut layer = Self {
            connection,
            received: Received::new(),
            kept: Kept::default(),
            waiting: Vec::new(),
            joined: Vec::new(),
            goodbye: Goodbye::No,
            ended: None,
            info: None,
            failed: None,
        };
        // The client speaks first.
        layer.process(&mut |_| 0)?;
        Ok(layer)
    }

    /// Takes in what has arrived, as far as the consumer takes its content.
    fn process(&mut self, plain: &mut dyn FnMut(&[u8]) -> usize) -> Result<(), Error> {
        while self.kept.is_empty() {
            match self.step(plain) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(self.fail(error)),
            }
        }
        if self.ended.is_some() {
            self.received.clear();
        }
        if self.info.is_none() && !self.connection.common().is_handshaking() {
            self.info = Some(self.connection.info());
        }
        if self.kept.is_empty() && self.received.is_full() && !self.received.grow() {
            let error = Error::new(Code::TlsProtocol, Phase::Tls);
            return Err(self.fail(error.with_detail("a handshake message is too long")));
        }
        Ok(())
    }

    /// Decrypts one record, or encodes one answer, and says whether there was any.
    fn step(&mut self, plain: &mut dyn FnMut(&[u8]) -> usize) -> Result<bool, Error> {
        let UnbufferedStatus { mut discard, state } = self.connection.process(self.received.held());
        let mut is_done = false;
        match state.map_err(|error| fault::error(&error))? {
            ConnectionState::ReadTraffic(mut traffic) => {
                while let Some(Ok(record)) = traffic.next_record() {
                    discard += record.discard;
                    self.kept.offer(record.payload, plain);
                }
            }
            ConnectionState::EncodeTlsData(mut message) => encode(&mut message, &mut self.waiting),
            ConnectionState::TransmitTlsData(transmit) => transmit.done(),
            ConnectionState::PeerClosed => self.ended = Some(StreamEnd::Closed),
            ConnectionState::BlockedHandshake
            | ConnectionState::WriteTraffic(_)
            | ConnectionState::Closed
            // Early data is never allowed.
            | ConnectionState::ReadEarlyData(_)
            | _ => is_done = true,
        }
        self.received.discard(discard);
        Ok(!is_done)
    }

    /// Takes note of an error, and of the alert that is to tell the peer.
    fn fail(&mut self, error: Error) -> Error {
        // While something waits to be sent, rustls looks at no input.
        while self.connection.common().wants_write() {
            let UnbufferedStatus { state: Ok(ConnectionState::EncodeTlsData(mut message)), .. } =
                self.connection.process(&mut [])
            else {
                break;
            };
            encode(&mut message, &mut self.waiting);
        }
        self.failed = Some(error.clone());
        error
    }

    /// Lets `write` encrypt something, if the connection is in the state for that.
    fn write<T>(
        &mut self,
        buf: &mut Vec<u8>,
        write: impl FnOnce(&mut WriteTraffic<'_, R::Data>, &mut Vec<u8>) -> T,
    ) -> Result<Option<T>, Error> {
        loop {
            // While plaintext is kept, no further record is to be decrypted. None is begun then: content never comes
            // between the parts of a handshake message, which are the only thing rustls looks for in here again.
            let held = if self.kept.is_empty() { self.received.held() } else { &mut [] };
            let UnbufferedStatus { mut discard, state } = self.connection.process(held);
            match state {
                Ok(ConnectionState::WriteTraffic(mut traffic)) => {
                    let answer = write(&mut traffic, buf);
                    self.received.discard(discard);
                    return Ok(Some(answer));
                }
                Ok(ConnectionState::EncodeTlsData(mut message)) => encode(&mut message, buf),
                Ok(ConnectionState::TransmitTlsData(transmit)) => transmit.done(),
                Ok(ConnectionState::PeerClosed) => self.ended = Some(StreamEnd::Closed),
                Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                    while let Some(Ok(record)) = traffic.next_record() {
                        discard += record.discard;
                        self.kept.offer(record.payload, &mut |_| 0);
                    }
                }
                Ok(
                    ConnectionState::BlockedHandshake
                    | ConnectionState::Closed
                    | ConnectionState::ReadEarlyData(_)
                    | _,
                ) => return Ok(None),
                Err(error) => return Err(self.fail(fault::error(&error))),
            }
            self.received.discard(discard);
        }
    }

    /// Moves at most `limit` bytes into records.
    fn encrypt_some(&mut self, from: &mut Outgoing, limit: usize, buf: &mut Vec<u8>) -> Result<(), Error> {
        let mut joined = core::mem::take(&mut self.joined);
        joined.clear();
        // A long payload is encrypted from where it lies.
        let is_in_one_piece = from.front().len() >= limit.min(from.len());
        if !is_in_one_piece {
            from.copy(limit, &mut joined);
        }
        let content = if is_in_one_piece { from.front() } else { &joined };
        let content = content.get(..limit.min(content.len())).unwrap_or_default();
        let len = content.len();
        let result = self.write(buf, |traffic, buf| encrypt(traffic, content, buf));
        if is_in_one_piece {
            from.consume(len);
        }
        self.joined = joined;
        match result? {
            None | Some(Ok(())) => Ok(()),
            Some(Err(error)) => {
                let error = Error::new(Code::TlsProtocol, Phase::Tls).with_detail(error.to_string());
                Err(self.fail(error))
            }
        }
    }

    /// Ends our side.
    fn say_goodbye(&mut self, buf: &mut Vec<u8>) -> Result<(), Error> {
        self.goodbye = Goodbye::Said;
        // It has no room here, and is queued instead.
        self.write(buf, |traffic, _| traffic.queue_close_notify(&mut []).unwrap_or_default())?;
        self.write(buf, |_, _| ())?;
        Ok(())
    }
}

impl<R: Role> TlsLayer for RustlsLayer<R> {
    fn spare(&mut self) -> &mut [u8] {
        self.received.spare()
    }

    fn advance(&mut self, len: usize, plain: &mut dyn FnMut(&[u8]) -> usize) -> Result<(), Error> {
        self.received.advance(len);
        if let Some(error) = &self.failed {
            self.received.clear();
            return Err(error.clone());
        }
        self.kept.offer_again(plain);
        if self.kept.is_empty() { self.process(plain) } else { Ok(()) }
    }

    fn wants_input(&self) -> bool {
        self.kept.is_empty()
    }

    fn encrypt(&mut self, from: &mut Outgoing, limit: usize, buf: &mut Vec<u8>) -> Result<(), Error> {
        let before = buf.len();
        buf.append(&mut self.waiting);
        if self.failed.is_some() || self.is_handshaking() || self.goodbye == Goodbye::Said {
            return Ok(());
        }
        let room = limit.saturating_sub(buf.len() - before);
        if room <= OVERHEAD && buf.len() > before {
            return Ok(());
        }
        let content = match room / FULL_RECORD {
            0 => room.saturating_sub(OVERHEAD).max(1),
            records => records * CONTENT,
        };
        if !from.is_empty() {
            self.encrypt_some(from, content, buf)?;
        }
        if from.is_empty() && self.goodbye == Goodbye::Due {
            self.say_goodbye(buf)?;
        }
        Ok(())
    }

    fn wants_output(&self) -> bool {
        let can_say_goodbye = self.failed.is_none() && !self.is_handshaking();
        !self.waiting.is_empty() || (self.goodbye == Goodbye::Due && can_say_goodbye)
    }

    fn is_handshaking(&self) -> bool {
        self.info.is_none()
    }

    fn send_close_notify(&mut self) {
        if self.goodbye == Goodbye::No {
            self.goodbye = Goodbye::Due;
        }
    }

    fn has_ended(&self) -> Option<StreamEnd> {
        self.ended.filter(|_| self.kept.is_empty())
    }

    fn info(&self) -> Option<&TlsInfo> {
        self.info.as_ref()
    }
}

impl<R: Role> fmt::Debug for RustlsLayer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RustlsLayer")
            .field("info", &self.info)
            .field("kept", &self.kept.len())
            .field("waiting", &self.waiting.len())
            .field("goodbye", &self.goodbye)
            .field("ended", &self.ended)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

/// What client and server differ in.
pub(super) trait Role: Send {
    type Data;

    fn process<'c, 'i>(&'c mut self, ciphertext: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data>;

    fn common(&self) -> &CommonState;

    fn info(&self) -> TlsInfo {
        let common = self.common();
        let chain = common.peer_certificates().unwrap_or_default();
        TlsInfo {
            version: match common.protocol_version() {
                Some(ProtocolVersion::TLSv1_2) => TlsVersion::V1_2,
                _ => TlsVersion::V1_3,
            },
            cipher: common
                .negotiated_cipher_suite()
                .and_then(|suite| suite.suite().as_str())
                .unwrap_or_default(),
            alpn: common.alpn_protocol().map(<[u8]>::to_vec),
            resumed: common.handshake_kind() == Some(HandshakeKind::Resumed),
            peer_chain: chain.iter().map(|certificate| certificate.to_vec()).collect(),
        }
    }
}

impl Role for UnbufferedClientConnection {
    type Data = ClientConnectionData;

    fn process<'c, 'i>(&'c mut self, ciphertext: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(ciphertext)
    }

    fn common(&self) -> &CommonState {
        self
    }
}

impl Role for UnbufferedServerConnection {
    type Data = ServerConnectionData;

    fn process<'c, 'i>(&'c mut self, ciphertext: &'i mut [u8]) -> UnbufferedStatus<'c, 'i, Self::Data> {
        self.process_tls_records(ciphertext)
    }

    fn common(&self) -> &CommonState {
        self
    }
}

/// Plaintext that was not taken: what is left of at most one record.
#[derive(Default)]
struct Kept {
    bytes: Vec<u8>,
    taken: usize,
}

impl Kept {
    fn offer(&mut self, content: &[u8], plain: &mut dyn FnMut(&[u8]) -> usize) {
        let mut rest = content;
        while self.is_empty() && !rest.is_empty() {
            let taken = plain(rest).min(rest.len());
            rest = rest.get(taken..).unwrap_or_default();
            if taken == 0 {
                break;
            }
        }
        self.bytes.extend_from_slice(rest);
    }

    fn offer_again(&mut self, plain: &mut dyn FnMut(&[u8]) -> usize) {
        while let Some(rest) = self.bytes.get(self.taken..).filter(|rest| !rest.is_empty()) {
            let taken = plain(rest).min(rest.len());
            self.taken += taken;
            if taken == 0 {
                return;
            }
        }
        self.bytes.clear();
        self.taken = 0;
    }

    const fn len(&self) -> usize {
        self.bytes.len() - self.taken
    }

    const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Where our `close_notify` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goodbye {
    No,
    Due,
    Said,
}

/// Appends a handshake message or alert to `buf`.
fn encode<D>(message: &mut EncodeTlsData<'_, D>, buf: &mut Vec<u8>) {
    let before = buf.len();
    if let Err(EncodeError::InsufficientSize(size)) = message.encode(&mut []) {
        buf.resize(before + size.required_size, 0);
        let written = message.encode(buf.get_mut(before..).unwrap_or_default()).unwrap_or(0);
        buf.truncate(before + written);
    }
}

/// Appends records with `content` to `buf`.
fn encrypt<D>(
    traffic: &mut WriteTraffic<'_, D>,
    content: &[u8],
    buf: &mut Vec<u8>,
) -> Result<(), EncryptError> {
    let before = buf.len();
    let mut size = content.len() + content.len().div_ceil(CONTENT) * OVERHEAD;
    loop {
        buf.resize(before + size, 0);
        match traffic.encrypt(content, buf.get_mut(before..).unwrap_or_default()) {
            Ok(written) => {
                buf.truncate(before + written);
                return Ok(());
            }
            // A change of keys goes in front.
            Err(EncryptError::InsufficientSize(needed)) if needed.required_size > size => {
                size = needed.required_size
            }
            Err(error) => {
                buf.truncate(before);
                return Err(error);
            }
        }
    }
}

/// The content of a full record.
const CONTENT: usize = 16 << 10;

/// What a record adds to its content, at most: head, nonce or type, and tag.
const OVERHEAD: usize = 5 + 8 + 16;

const FULL_RECORD: usize = CONTENT + OVERHEAD;
