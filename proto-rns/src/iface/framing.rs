//! Frames in a stream of bytes: which framing, and the deframer that both share.

use super::{hdlc, kiss};
use alloc::vec::Vec;

/// How frames are told apart on a stream (spec 1.17).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Framing {
    /// HDLC-like: what TCP, Backbone, local, serial and pipe interfaces use.
    #[default]
    Hdlc,
    /// KISS: for modems, and on TCP where asked for.
    Kiss,
}

impl Framing {
    /// Appends a frame made of `parts` in a row, with its flags and escapes.
    pub fn frame(self, parts: &[&[u8]], out: &mut Vec<u8>) {
        match self {
            Self::Hdlc => hdlc::frame(parts, out),
            Self::Kiss => kiss::frame(parts, out),
        }
    }

    const fn flag(self) -> u8 {
        match self {
            Self::Hdlc => hdlc::FLAG,
            Self::Kiss => kiss::FLAG,
        }
    }

    /// Takes the escapes out of what stood between two flags. `None` where it is no data frame.
    fn unescape(self, escaped: &mut [u8]) -> Option<&mut [u8]> {
        match self {
            Self::Hdlc => hdlc::unescape(escaped),
            Self::Kiss => kiss::unescape(escaped),
        }
    }
}

/// Finds the frames of a stream, however it is cut into pieces.
///
/// Frames that lie in one piece are unescaped where they are; only one that goes on in the next piece is copied. The
/// memory is bounded by the longest frame with every byte escaped.
#[derive(Debug)]
pub struct Deframer {
    framing: Framing,
    max_frame: usize,
    /// What came since the last flag.
    kept: Vec<u8>,
    state: State,
    dropped: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No flag was seen yet, or a frame was too long: what comes belongs to nothing.
    Searching,
    /// A flag was seen.
    InFrame,
}

impl Deframer {
    /// Creates a deframer for frames of at most `max_frame` bytes, access code included.
    pub const fn new(framing: Framing, max_frame: usize) -> Self {
        Self { framing, max_frame, kept: Vec::new(), state: State::Searching, dropped: 0 }
    }

    /// Takes in a piece of the stream and hands out each frame that ends in it. Frames of 19 bytes or less, which
    /// are shorter than any packet, are ignored.
    pub fn feed(&mut self, piece: &mut [u8], mut on_frame: impl FnMut(&mut [u8])) {
        let flag = self.framing.flag();
        let mut rest = piece;
        while let Some(end) = memchr::memchr(flag, rest) {
            let (frame, after) = rest.split_at_mut(end);
            rest = after.get_mut(1..).unwrap_or_default();
            if self.state == State::InFrame {
                if self.kept.is_empty() {
                    deliver(self.framing, self.max_frame, &mut self.dropped, frame, &mut on_frame);
                } else {
                    self.keep(frame);
                    deliver(self.framing, self.max_frame, &mut self.dropped, &mut self.kept, &mut on_frame);
                    self.kept.clear();
                }
            }
            // A flag that ends a frame also begins the next one.
            self.state = State::InFrame;
            self.kept.clear();
        }
        if self.state == State::InFrame {
            self.keep(rest);
        }
    }

    /// Forgets what it has of an unfinished frame, as for a new connection.
    pub fn reset(&mut self) {
        self.kept.clear();
        self.state = State::Searching;
    }

    /// Returns how many frames were too long.
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Keeps bytes of an unfinished frame; one that is too long even if all of it were escapes is given up.
    fn keep(&mut self, bytes: &[u8]) {
        let limit = self.max_frame.saturating_mul(2).saturating_add(2);
        if self.kept.len().saturating_add(bytes.len()) > limit {
            self.kept.clear();
            self.state = State::Searching;
            self.dropped = self.dropped.saturating_add(1);
        } else {
            self.kept.extend_from_slice(bytes);
        }
    }
}

fn deliver(
    framing: Framing,
    max_frame: usize,
    dropped: &mut u64,
    escaped: &mut [u8],
    on_frame: &mut impl FnMut(&mut [u8]),
) {
    let Some(frame) = framing.unescape(escaped) else { return };
    if frame.len() > max_frame {
        *dropped = dropped.saturating_add(1);
    } else if frame.len() > SHORTEST_IGNORED {
        on_frame(frame);
    }
}

/// Frames of so many bytes or fewer are ignored: a packet has a header of 19 bytes and data.
const SHORTEST_IGNORED: usize = 19;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use proptest::prelude::*;

    fn frames_of(framing: Framing, stream: &[u8], cuts: &[usize]) -> Vec<Vec<u8>> {
        let mut deframer = Deframer::new(framing, 500);
        let mut frames = Vec::new();
        let mut rest = stream;
        for cut in cuts.iter().copied().chain([usize::MAX]) {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            deframer.feed(&mut piece.to_vec(), |frame| frames.push(frame.to_vec()));
            rest = after;
        }
        frames
    }

    /// Bytes that are flags and escapes more often than not.
    fn tricky() -> impl Strategy<Value = u8> {
        prop_oneof![
            Just(0x7e),
            Just(0x7d),
            Just(0x5e),
            Just(0x5d),
            Just(0xc0),
            Just(0xdb),
            Just(0xdc),
            Just(0xdd),
            any::<u8>()
        ]
    }

    proptest! {
        #[test]
        fn frames_arrive_whole_however_the_stream_is_cut(
            frames in prop::collection::vec(prop::collection::vec(tricky(), 20..200), 1..6),
            cuts in prop::collection::vec(0..60_usize, 0..30),
            kiss: bool,
        ) {
            let framing = if kiss { Framing::Kiss } else { Framing::Hdlc };
            let mut stream = vec![1, 2, 3];
            for frame in &frames {
                let (head, tail) = frame.split_at(7);
                framing.frame(&[head, tail], &mut stream);
            }
            prop_assert_eq!(frames_of(framing, &stream, &cuts), frames);
        }

        #[test]
        fn any_cut_of_any_stream_gives_the_same_frames(
            stream in prop::collection::vec(tricky(), 0..3_000),
            cuts in prop::collection::vec(0..200_usize, 0..30),
            kiss: bool,
        ) {
            let framing = if kiss { Framing::Kiss } else { Framing::Hdlc };
            prop_assert_eq!(frames_of(framing, &stream, &cuts), frames_of(framing, &stream, &[]));
        }
    }

    #[test]
    fn a_frame_that_never_ends_keeps_no_memory() {
        let mut deframer = Deframer::new(Framing::Hdlc, 500);
        deframer.feed(&mut [0x7e], |_| panic!("no frame"));
        for _ in 0..100 {
            deframer.feed(&mut [7; 100], |_| panic!("no frame"));
            assert!(deframer.kept.capacity() <= 2_048);
        }
        assert_eq!(deframer.dropped(), 1);
        let mut good = Vec::new();
        Framing::Hdlc.frame(&[&[9; 30]], &mut good);
        let mut seen = 0;
        deframer.feed(&mut good, |frame| seen += frame.len());
        assert_eq!(seen, 30);
    }

    #[test]
    fn a_frame_longer_than_the_limit_is_dropped_in_one_piece_and_in_many() {
        let mut stream = Vec::new();
        Framing::Hdlc.frame(&[&[1; 501]], &mut stream);
        assert_eq!(frames_of(Framing::Hdlc, &stream, &[]), Vec::<Vec<u8>>::new());
        assert_eq!(frames_of(Framing::Hdlc, &stream, &[100; 5]), Vec::<Vec<u8>>::new());
    }
}
