//! What a session is put through, and how the outcome is judged.

use bytes::Bytes;
use proto_raknet::{Channel, CloseReason, Message, Reliability};
use std::collections::BTreeMap;

use super::{End, Peer, Session};

/// A message of `len` bytes of which every one matters: its first byte is Bedrock's 0xfe, then come the channel and
/// `number`, then a pattern that depends on both.
///
/// # Panics
/// `len` is below 6, or the channel is not one.
pub fn message(reliability: Reliability, channel: u8, number: u32, len: usize) -> Message {
    let mut payload = vec![FIRST_BYTE, channel];
    payload.extend(number.to_be_bytes());
    assert!(len >= payload.len(), "a message has a channel and a number");
    let mut state = u64::from(number) << 8 | u64::from(channel);
    while payload.len() < len {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        payload.extend(state.to_be_bytes());
    }
    payload.truncate(len);
    Message::new(payload).reliability(reliability).channel(Channel::new(channel).expect("a channel"))
}

/// Messages of these lengths, reliable and ordered on channel 0.
pub fn of_lengths(lengths: &[usize]) -> Vec<Message> {
    (0..).zip(lengths).map(|(number, len)| message(Reliability::ReliableOrdered, 0, number, *len)).collect()
}

/// `count` messages of `len` bytes on each of `channels`, in turn.
pub fn across_channels(channels: &[u8], count: u32, len: usize) -> Vec<Message> {
    (0..count)
        .flat_map(|number| channels.iter().map(move |channel| (number, *channel)))
        .map(|(number, channel)| message(Reliability::ReliableOrdered, channel, number, len))
        .collect()
}

/// A few messages of each mode.
pub fn of_modes(modes: &[Reliability]) -> Vec<Message> {
    modes
        .iter()
        .flat_map(|mode| (0..4).map(move |number| (*mode, number)))
        // Sequenced and ordered messages on one channel would wait for each other: each mode has its own.
        .map(|(mode, number)| message(mode, mode as u8, number, 64))
        .collect()
}

/// Sends `messages` to the peer, and checks that it gets them all, whole, and in order within each channel.
///
/// # Panics
/// It does not.
pub fn to_peer(ours: &mut dyn Session, theirs: &mut Peer, messages: &[Message]) {
    for message in messages {
        ours.send(message.clone());
    }
    let arrived = messages.iter().map(|_| theirs.recv()).collect();
    assert_same(messages, arrived);
}

/// Has the peer send `messages`, and checks that we get them all, whole, in order within each channel, and with the
/// mode and the channel that they were sent with.
///
/// # Panics
/// We do not.
pub fn from_peer(ours: &mut dyn Session, theirs: &mut Peer, messages: &[Message]) {
    for message in messages {
        theirs.send(message);
    }
    let mut arrived = Vec::new();
    for _ in messages {
        let received = ours.recv();
        let sent = messages.iter().find(|message| message.payload == received.payload);
        let sent = sent.unwrap_or_else(|| panic!("nobody sent {}", brief(&received.payload)));
        assert_eq!(received.reliability, sent.reliability.base(), "the mode of {}", brief(&sent.payload));
        if received.reliability.has_channel() {
            assert_eq!(received.channel, sent.channel, "the channel of {}", brief(&sent.payload));
        }
        arrived.push(received.payload);
    }
    assert_same(messages, arrived);
}

/// Sends `messages` both ways.
///
/// # Panics
/// Something does not arrive as it should.
pub fn both_ways(ours: &mut dyn Session, theirs: &mut Peer, messages: &[Message]) {
    to_peer(ours, theirs, messages);
    from_peer(ours, theirs, messages);
}

/// Sends messages of every mode without receipts both ways.
///
/// # Panics
/// Something does not arrive as it should.
pub fn every_mode(ours: &mut dyn Session, theirs: &mut Peer) {
    both_ways(ours, theirs, &of_modes(&BASE_MODES));
}

/// Sends messages of [`LENGTHS`] both ways.
///
/// # Panics
/// Something does not arrive as it should.
pub fn long_messages(ours: &mut dyn Session, theirs: &mut Peer) {
    both_ways(ours, theirs, &of_lengths(&LENGTHS));
}

/// Sends messages across `channels` both ways.
///
/// # Panics
/// Something does not arrive as it should.
pub fn channels(ours: &mut dyn Session, theirs: &mut Peer, channels: &[u8]) {
    both_ways(ours, theirs, &across_channels(channels, 20, 600));
}

/// Sends messages of receipt modes to the peer, and checks that each is reported as acknowledged.
///
/// # Panics
/// One is not.
pub fn receipts_for_us(ours: &mut dyn Session, theirs: &mut Peer, modes: &[Reliability]) {
    let messages = of_modes(modes);
    let receipts: Vec<usize> =
        messages.iter().map(|message| ours.send(message.clone()).expect("a receipt")).collect();
    let arrived = messages.iter().map(|_| theirs.recv()).collect();
    assert_same(&messages, arrived);
    for receipt in receipts {
        assert!(ours.was_acked(receipt), "message {receipt} arrived but was not acknowledged");
    }
}

/// Has the peer send messages with receipts, and checks that it learns that each was acknowledged.
fn receipts_for_peer(ours: &mut dyn Session, theirs: &mut Peer) {
    let mut sent = vec![];
    for message in of_modes(&RECEIPT_MODES) {
        // On a busy machine an acknowledgement may come after the peer has given an unreliable message up.
        let tries = if message.reliability.is_reliable() { 1 } else { 5 };
        let acked = (0..tries).any(|_| {
            sent.push(message.clone());
            let receipt = theirs.send(&message).expect("a receipt");
            theirs.was_acked(receipt)
        });
        assert!(acked, "the peer's {:?} message was not acknowledged", message.reliability);
    }
    let arrived = sent.iter().map(|_| ours.recv().payload).collect();
    assert_same(&sent, arrived);
}

/// Sends messages with receipts both ways, and checks that either side learns that each was acknowledged.
///
/// # Panics
/// One does not.
pub fn receipts(ours: &mut dyn Session, theirs: &mut Peer) {
    receipts_for_us(ours, theirs, &RECEIPT_MODES);
    receipts_for_peer(ours, theirs);
}

/// Closes the session, and checks that the peer is told.
///
/// # Panics
/// It is not.
pub fn our_close(ours: &mut dyn Session, theirs: &mut Peer) {
    assert_eq!(ours.close(), CloseReason::LocalClose);
    assert_eq!(theirs.disconnected(), End::Told);
}

/// Has the peer close the session, and checks that we are told.
///
/// # Panics
/// We are not.
pub fn their_close(ours: &mut dyn Session, theirs: &mut Peer) {
    theirs.close();
    assert_eq!(ours.closed(), CloseReason::PeerClose);
}

/// Compares what was sent with what arrived: per channel for ordered messages, as a heap of the same size otherwise.
fn assert_same(sent: &[Message], arrived: Vec<Bytes>) {
    let ordered = |payload: &Bytes| {
        sent.iter().any(|message| message.payload == *payload && message.reliability.is_ordered())
    };
    let mut expected = by_channel(sent.iter().map(|message| message.payload.clone()));
    let mut actual = by_channel(arrived.into_iter());
    for payloads in expected.values_mut().chain(actual.values_mut()) {
        if !payloads.iter().all(ordered) {
            payloads.sort();
        }
    }
    let briefly = |channels: &BTreeMap<u8, Vec<Bytes>>| -> Vec<String> {
        channels.values().flatten().map(brief).collect()
    };
    assert!(
        expected == actual,
        "sent and arrived differ:\n{:#?}\n{:#?}",
        briefly(&expected),
        briefly(&actual)
    );
}

fn by_channel(payloads: impl Iterator<Item = Bytes>) -> BTreeMap<u8, Vec<Bytes>> {
    let mut channels = BTreeMap::<u8, Vec<Bytes>>::new();
    for payload in payloads {
        channels.entry(payload.get(1).copied().unwrap_or_default()).or_default().push(payload);
    }
    channels
}

/// Names a payload in a failure.
fn brief(payload: &Bytes) -> String {
    format!("{} bytes {}", payload.len(), hex::encode(payload.slice(..payload.len().min(12))))
}

/// The first byte of all messages: the one with which a Bedrock game packet begins. Some implementations take others
/// for messages of their own.
const FIRST_BYTE: u8 = 0xfe;

/// The modes that report a message's fate.
pub const RECEIPT_MODES: [Reliability; 3] = [
    Reliability::UnreliableWithReceipt,
    Reliability::ReliableWithReceipt,
    Reliability::ReliableOrderedWithReceipt,
];

/// The modes that do not.
const BASE_MODES: [Reliability; 5] = [
    Reliability::Unreliable,
    Reliability::UnreliableSequenced,
    Reliability::Reliable,
    Reliability::ReliableOrdered,
    Reliability::ReliableSequenced,
];

/// Lengths of which some fit into a datagram and some are split, one of them into very many.
pub const LENGTHS: [usize; 5] = [800, 4_096, 1 << 20, 4_096, 6];
