//! Incoming split messages (spec 1.5, splits).

use alloc::{collections::BTreeMap, vec, vec::Vec};
use bytes::Bytes;
use core::time::Duration;
use proto_core::Instant;

use crate::{
    Reliability,
    wire::{Frame, Order, SplitId, SplitPart},
};

/// How far beyond the parts already there a part may lie; nobody has more in flight.
const MAX_AHEAD: usize = 4_096;

/// Limits of what is under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitLimits {
    pub(crate) parts: u32,
    pub(crate) splits: usize,
    pub(crate) bytes: usize,
    pub(crate) timeout: Duration,
}

/// What becomes of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PartOutcome {
    /// The message is whole.
    Complete(Bytes),
    /// Kept; so many parts are there.
    Kept {
        /// The parts so far.
        parts: u32,
    },
    /// There already.
    Duplicate,
    /// It contradicts the parts before it, or the message has too many parts: dropped for good.
    Invalid,
    /// No room now: not to be acknowledged, so that it comes again.
    Full,
}

/// The split messages under way. At most `splits` of them, `bytes` together.
#[derive(Debug, Default)]
pub(crate) struct Reassembly {
    assemblies: Vec<(SplitId, Assembly)>,
    bytes: usize,
    given_up: u64,
}

impl Reassembly {
    /// Takes in one part. If there is no room for it, a message that has stalled for the timeout makes room.
    pub(crate) fn add(
        &mut self,
        part: SplitPart,
        frame: &Frame<'_>,
        limits: SplitLimits,
        now: Instant,
    ) -> PartOutcome {
        let outcome = self.try_add(part, frame, limits, now);
        if outcome == PartOutcome::Full && self.give_up_stalled(part.id, now, limits.timeout) {
            return self.try_add(part, frame, limits, now);
        }
        outcome
    }

    fn try_add(
        &mut self,
        part: SplitPart,
        frame: &Frame<'_>,
        limits: SplitLimits,
        now: Instant,
    ) -> PartOutcome {
        if part.count > limits.parts {
            return PartOutcome::Invalid;
        }
        let at = match self.assemblies.iter().position(|(id, _)| *id == part.id) {
            Some(at) => at,
            None => {
                if self.assemblies.len() >= limits.splits {
                    return PartOutcome::Full;
                }
                self.assemblies.push((part.id, Assembly::new(part, frame, now)));
                self.assemblies.len() - 1
            }
        };
        let Some((_, assembly)) = self.assemblies.get_mut(at) else { return PartOutcome::Full };
        let before = assembly.bytes();
        let outcome = assembly.add(part, frame, limits.bytes.saturating_sub(self.bytes), now);
        self.bytes = self.bytes - before + assembly.bytes();
        let complete = assembly.parts == assembly.count;
        if !complete && assembly.parts > 0 {
            return outcome;
        }
        let (_, mut ended) = self.assemblies.swap_remove(at);
        self.bytes -= ended.bytes();
        if complete { PartOutcome::Complete(ended.take_whole()) } else { outcome }
    }

    /// Gives up unreliable split messages without progress, which nobody will complete (RakLib#124). The parts of reliable
    /// ones were acknowledged, so the rest must come as long as the session lives.
    pub(crate) fn expire(&mut self, now: Instant, timeout: Duration) {
        let before = self.assemblies.len();
        self.assemblies
            .retain(|(_, assembly)| assembly.reliability.is_reliable() || assembly.progress + timeout > now);
        self.bytes = self.assemblies.iter().map(|(_, assembly)| assembly.bytes()).sum();
        self.given_up += (before - self.assemblies.len()) as u64;
    }

    /// Returns when the first of them is to be given up.
    pub(crate) fn next_expiry(&self, timeout: Duration) -> Option<Instant> {
        let unreliable = self.assemblies.iter().filter(|(_, assembly)| !assembly.reliability.is_reliable());
        unreliable.map(|(_, assembly)| assembly.progress + timeout).min()
    }

    /// Returns how many were given up since the last call.
    pub(crate) fn take_given_up(&mut self) -> u64 {
        core::mem::take(&mut self.given_up)
    }

    /// Gives up the message that has stalled longest, if that is for `timeout`, but not the one with number `but`.
    fn give_up_stalled(&mut self, but: SplitId, now: Instant, timeout: Duration) -> bool {
        let others = self.assemblies.iter().enumerate().filter(|(_, (id, _))| *id != but);
        let stalled = others.min_by_key(|(_, (_, assembly))| assembly.progress);
        let Some((at, _)) = stalled.filter(|(_, (_, assembly))| assembly.progress + timeout <= now) else {
            return false;
        };
        let (_, ended) = self.assemblies.swap_remove(at);
        self.bytes -= ended.bytes();
        self.given_up += 1;
        true
    }
}

/// One split message under way.
#[derive(Debug)]
struct Assembly {
    count: u32,
    reliability: Reliability,
    order: Order,
    parts: u32,
    progress: Instant,
    store: Store,
}

/// Where the parts are kept.
#[derive(Debug)]
enum Store {
    /// All parts but the last have one length, as every known sender does: each goes straight to its place, so that
    /// the bytes are copied once.
    Uniform {
        /// The length of every part but the last; 0 until one arrived.
        part_len: usize,
        buffer: Vec<u8>,
        have: Vec<u64>,
        /// The last part, while `part_len` is unknown.
        tail: Option<Bytes>,
        /// The length of the whole, once the last part was placed.
        len: usize,
    },
    /// Parts of various lengths: kept apart and joined at the end.
    Loose { pieces: BTreeMap<u32, Bytes>, bytes: usize },
}

impl Assembly {
    fn new(part: SplitPart, frame: &Frame<'_>, now: Instant) -> Self {
        Self {
            count: part.count,
            reliability: frame.reliability,
            order: frame.order,
            parts: 0,
            progress: now,
            store: Store::Uniform { part_len: 0, buffer: vec![], have: vec![], tail: None, len: 0 },
        }
    }

    fn bytes(&self) -> usize {
        match &self.store {
            Store::Uniform { buffer, have, tail, .. } => {
                buffer.capacity() + 8 * have.capacity() + tail.as_ref().map_or(0, Bytes::len)
            }
            Store::Loose { pieces, bytes } => bytes + 64 * pieces.len(),
        }
    }

    fn add(&mut self, part: SplitPart, frame: &Frame<'_>, room: usize, now: Instant) -> PartOutcome {
        // CrabNet#20: a later part must not contradict the first one.
        if part.count != self.count || frame.reliability != self.reliability || frame.order != self.order {
            return PartOutcome::Invalid;
        }
        if part.index as usize > self.parts as usize + MAX_AHEAD {
            return PartOutcome::Full;
        }
        if !self.fits_uniform(part.index, frame.payload.len()) {
            self.loosen();
        }
        match &mut self.store {
            Store::Uniform { part_len, buffer, have, tail, len } => {
                let last = part.index + 1 == self.count;
                if !last && *part_len == 0 {
                    *part_len = frame.payload.len();
                }
                if last && *part_len == 0 && self.count > 1 {
                    if tail.is_some() {
                        return PartOutcome::Duplicate;
                    }
                    if frame.payload.len() > room {
                        return PartOutcome::Full;
                    }
                    *tail = Some(Bytes::copy_from_slice(frame.payload));
                } else {
                    if let Err(outcome) = place(buffer, have, *part_len, part.index, frame.payload, room) {
                        return outcome;
                    }
                    if last {
                        *len = part.index as usize * *part_len + frame.payload.len();
                    }
                    if let Some(tail) = tail.take() {
                        let index = self.count - 1;
                        *len = index as usize * *part_len + tail.len();
                        if place(buffer, have, *part_len, index, &tail, usize::MAX).is_err() {
                            return PartOutcome::Invalid;
                        }
                    }
                }
            }
            Store::Loose { pieces, bytes } => {
                if pieces.contains_key(&part.index) {
                    return PartOutcome::Duplicate;
                }
                if frame.payload.len() + 64 > room {
                    return PartOutcome::Full;
                }
                *bytes += frame.payload.len();
                pieces.insert(part.index, Bytes::copy_from_slice(frame.payload));
            }
        }
        self.parts += 1;
        self.progress = now;
        PartOutcome::Kept { parts: self.parts }
    }

    /// Says whether a part keeps the rule that all but the last have one length and the last is no longer.
    fn fits_uniform(&self, index: u32, len: usize) -> bool {
        match &self.store {
            Store::Uniform { part_len: 0, tail, .. } => {
                tail.as_ref().is_none_or(|tail| index + 1 == self.count || tail.len() <= len)
            }
            Store::Uniform { part_len, .. } => {
                if index + 1 == self.count {
                    len <= *part_len
                } else {
                    len == *part_len
                }
            }
            Store::Loose { .. } => true,
        }
    }

    /// Turns a uniform store into a loose one, without copying what is there.
    fn loosen(&mut self) {
        let Store::Uniform { part_len, buffer, have, tail, len } = &mut self.store else { return };
        let mut pieces = BTreeMap::new();
        let whole = Bytes::from(core::mem::take(buffer));
        for index in (0..self.count).filter(|&index| is_set(have, index)) {
            let start = index as usize * *part_len;
            let end = if index + 1 == self.count { *len } else { start + *part_len };
            if end <= whole.len() {
                pieces.insert(index, whole.slice(start..end));
            }
        }
        if let Some(tail) = tail.take() {
            pieces.insert(self.count - 1, tail);
        }
        self.store = Store::Loose { pieces, bytes: whole.len() };
    }

    fn take_whole(&mut self) -> Bytes {
        match &mut self.store {
            Store::Uniform { buffer, len, .. } => {
                let mut whole = core::mem::take(buffer);
                whole.truncate(*len);
                Bytes::from(whole)
            }
            Store::Loose { pieces, .. } => {
                let mut whole = Vec::with_capacity(pieces.values().map(Bytes::len).sum());
                for piece in pieces.values() {
                    whole.extend_from_slice(piece);
                }
                Bytes::from(whole)
            }
        }
    }
}

/// Copies a part to its place in `buffer`, which grows as parts arrive.
fn place(
    buffer: &mut Vec<u8>,
    have: &mut Vec<u64>,
    part_len: usize,
    index: u32,
    payload: &[u8],
    room: usize,
) -> Result<(), PartOutcome> {
    if is_set(have, index) {
        return Err(PartOutcome::Duplicate);
    }
    let start = index as usize * part_len;
    let end = start + payload.len();
    if end > buffer.capacity() {
        if end - buffer.capacity() > room {
            return Err(PartOutcome::Full);
        }
        // Twice as much while there is room, so that a long message is not moved for every part.
        let wanted = (2 * buffer.capacity()).clamp(end, buffer.capacity().saturating_add(room).max(end));
        buffer.reserve_exact(wanted - buffer.len());
    }
    if start == buffer.len() {
        buffer.extend_from_slice(payload);
    } else {
        if buffer.len() < end {
            buffer.resize(end, 0);
        }
        if let Some(place) = buffer.get_mut(start..end) {
            place.copy_from_slice(payload);
        }
    }
    let word = index as usize / 64;
    if have.len() <= word {
        have.resize(word + 1, 0);
    }
    if let Some(word) = have.get_mut(word) {
        *word |= 1 << (index % 64);
    }
    Ok(())
}

fn is_set(have: &[u64], index: u32) -> bool {
    have.get(index as usize / 64).is_some_and(|word| word & (1 << (index % 64)) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Channel,
        wire::{OrderingIndex, ReliableIndex, SequencingIndex},
    };
    use proptest::prelude::*;
    use proto_core::U24;

    const LIMITS: SplitLimits = SplitLimits { parts: 8_192, splits: 4, bytes: 1 << 20, timeout: TIMEOUT };
    const TIMEOUT: Duration = Duration::from_secs(30);

    fn frame(payload: &[u8], order: u32) -> Frame<'_> {
        Frame {
            reliability: Reliability::ReliableOrdered,
            reliable: ReliableIndex::default(),
            sequencing: SequencingIndex::default(),
            order: Order { index: OrderingIndex(U24::new(order)), channel: Channel::ZERO },
            split: None,
            payload,
        }
    }

    fn add(r: &mut Reassembly, id: u16, count: u32, index: u32, payload: &[u8]) -> PartOutcome {
        r.add(SplitPart { count, id: SplitId(id), index }, &frame(payload, 1), LIMITS, Instant::ZERO)
    }

    fn join(parts: &[Vec<u8>], order: &[usize]) -> Bytes {
        let mut r = Reassembly::default();
        let count = u32::try_from(parts.len()).unwrap();
        for (n, &index) in order.iter().enumerate() {
            match add(&mut r, 7, count, u32::try_from(index).unwrap(), &parts[index]) {
                PartOutcome::Complete(whole) => {
                    assert_eq!(n + 1, order.len(), "complete only with the last part");
                    assert_eq!(r.bytes, 0);
                    return whole;
                }
                PartOutcome::Kept { parts } => assert_eq!(parts as usize, n + 1),
                outcome @ (PartOutcome::Duplicate | PartOutcome::Invalid | PartOutcome::Full) => {
                    panic!("{outcome:?}")
                }
            }
        }
        panic!("never complete")
    }

    proptest! {
        #[test]
        fn parts_join_in_any_order_of_arrival(
            (parts, order) in prop::collection::vec(1_usize..5, 1..20).prop_flat_map(|lens| {
                let parts: Vec<Vec<u8>> = lens.iter().enumerate().map(|(n, &len)| vec![u8::try_from(n).unwrap(); len]).collect();
                let order: Vec<usize> = (0..parts.len()).collect();
                (Just(parts), Just(order).prop_shuffle())
            }),
            uniform in any::<bool>(),
        ) {
            let last = parts.len() - 1;
            let parts: Vec<Vec<u8>> = parts.into_iter().enumerate()
                .map(|(n, part)| if uniform && n < last { vec![u8::try_from(n).unwrap(); 4] } else { part })
                .collect();
            prop_assert_eq!(join(&parts, &order), parts.concat());
        }
    }

    #[test]
    fn a_second_count_for_the_same_split_is_invalid() {
        let mut r = Reassembly::default();
        assert_eq!(add(&mut r, 1, 3, 0, b"aa"), PartOutcome::Kept { parts: 1 });
        assert_eq!(add(&mut r, 1, 2, 1, b"bb"), PartOutcome::Invalid);
        let other =
            r.add(SplitPart { count: 3, id: SplitId(1), index: 1 }, &frame(b"bb", 2), LIMITS, Instant::ZERO);
        assert_eq!(other, PartOutcome::Invalid, "another order index");
        assert_eq!(add(&mut r, 1, 3, 0, b"aa"), PartOutcome::Duplicate);
    }

    #[test]
    fn a_huge_count_reserves_nothing() {
        let mut r = Reassembly::default();
        assert_eq!(add(&mut r, 1, u32::MAX, 0, b"x"), PartOutcome::Invalid);
        assert_eq!(add(&mut r, 2, 8_192, 8_191, b"x"), PartOutcome::Full, "no sender is that far ahead");
        assert!(r.assemblies.is_empty() && r.bytes == 0);
        assert_eq!(add(&mut r, 2, 8_192, 0, b"x"), PartOutcome::Kept { parts: 1 });
        assert!(r.bytes < 100);
    }

    #[test]
    fn splits_under_way_are_bounded_in_number_and_bytes() {
        let mut r = Reassembly::default();
        for id in 0..4 {
            assert_eq!(add(&mut r, id, 2, 0, b"x"), PartOutcome::Kept { parts: 1 });
        }
        assert_eq!(add(&mut r, 4, 2, 0, b"x"), PartOutcome::Full);
        let limits = SplitLimits { bytes: 3_000, splits: 100, ..LIMITS };
        let mut r = Reassembly::default();
        let full = (0..10).map(|id| {
            let part = SplitPart { count: 2, id: SplitId(id), index: 0 };
            r.add(part, &frame(&[1; 1_000], 1), limits, Instant::ZERO)
        });
        assert!(full.collect::<Vec<_>>().contains(&PartOutcome::Full));
        assert!(r.bytes <= 3_000);
    }

    #[test]
    fn an_unreliable_one_without_progress_is_given_up() {
        let mut r = Reassembly::default();
        let unreliable = Frame { reliability: Reliability::Unreliable, ..frame(b"x", 1) };
        r.add(SplitPart { count: 2, id: SplitId(1), index: 0 }, &unreliable, LIMITS, Instant::ZERO);
        assert_eq!(r.next_expiry(TIMEOUT), Some(Instant::from_millis(30_000)));
        r.expire(Instant::from_millis(29_999), TIMEOUT);
        assert_eq!(r.take_given_up(), 0);
        r.expire(Instant::from_millis(30_000), TIMEOUT);
        assert_eq!((r.take_given_up(), r.bytes), (1, 0));
    }

    #[test]
    fn a_reliable_one_waits_until_its_room_is_needed() {
        let mut r = Reassembly::default();
        for id in 0..4 {
            assert_eq!(add(&mut r, id, 2, 0, b"x"), PartOutcome::Kept { parts: 1 });
        }
        let late = Instant::from_millis(30_000);
        r.expire(late, TIMEOUT);
        assert_eq!((r.next_expiry(TIMEOUT), r.assemblies.len()), (None, 4));
        let part = SplitPart { count: 2, id: SplitId(9), index: 0 };
        let early = Instant::from_millis(29_999);
        assert_eq!(r.add(part, &frame(b"x", 1), LIMITS, early), PartOutcome::Full);
        assert_eq!(r.add(part, &frame(b"x", 1), LIMITS, late), PartOutcome::Kept { parts: 1 });
        assert_eq!((r.assemblies.len(), r.take_given_up()), (4, 1));
    }
}
