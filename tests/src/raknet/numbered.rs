//! Messages that carry their number, so that order, loss and duplication show.

use proto_raknet::{Message, Received};

/// The first byte of every test message: the one that Bedrock gives its game packets.
const GAME: u8 = 0xfe;
const HEAD: usize = 5;

/// Makes message `number`, `len` bytes long, whose every byte depends on the number.
pub fn numbered(number: u32, len: usize) -> Message {
    let mut payload = vec![GAME];
    payload.extend(number.to_be_bytes());
    let filler =
        (HEAD..len.max(HEAD)).map(|at| (number as usize).wrapping_mul(31).wrapping_add(at * 7) as u8);
    payload.extend(filler);
    Message::new(payload)
}

/// Returns the numbers of received messages after checking every byte of them.
///
/// # Panics
/// When a message was not made by [`numbered`] or arrived changed.
pub fn numbers<'a>(received: impl IntoIterator<Item = &'a Received>) -> Vec<u32> {
    received.into_iter().map(number_of).collect()
}

fn number_of(received: &Received) -> u32 {
    let payload = &received.payload;
    let number = u32::from_be_bytes(payload[1..HEAD].try_into().expect("four bytes"));
    assert_eq!(payload, &numbered(number, payload.len()).payload, "message {number} arrived changed");
    number
}
