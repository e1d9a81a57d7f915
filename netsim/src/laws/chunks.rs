//! Law 7: the chunks in which stream bytes come do not matter.

use super::{
    Law, Subject, SubjectLink, Violation,
    rig::{Rig, first_difference},
    script::{Author, Input},
};
use proto_core::{LinkId, Machine, Rng};

/// Streams longer than this are cut: byte by byte they would take too long.
const LONGEST: usize = 64 << 10;

/// Gives each of the peer's streams, whole and damaged, in one piece, in random chunks and byte by byte.
pub(super) fn check<S: Subject>(subject: &S, seed: u64) -> Result<(), Violation> {
    let mut author = Author::new(subject, seed);
    for link in subject.links() {
        let SubjectLink::Stream(link) = link else { continue };
        for mut stream in subject.streams(super::script::machine_seed(seed)) {
            stream.truncate(LONGEST);
            compare(subject, seed, link, &stream)?;
            compare(subject, seed, link, &author.damage(stream))?;
        }
    }
    Ok(())
}

fn compare<S: Subject>(subject: &S, seed: u64, link: LinkId, stream: &[u8]) -> Result<(), Violation> {
    let whole = give(subject, seed, link, stream, &mut |rest| rest)?;
    let mut rng = Rng::from_u64(seed);
    let random = give(subject, seed, link, stream, &mut |rest| 1 + rng.below(rest as u64) as usize)?;
    let single = give(subject, seed, link, stream, &mut |_| 1)?;
    for (how, got) in [("in random chunks", random), ("byte by byte", single)] {
        if let Some(difference) = whole.difference(&got) {
            let what = format!("{} stream bytes given {how}: {difference}", stream.len());
            return Err(Violation::new(Law::IgnoresChunks, what));
        }
    }
    Ok(())
}

/// What must not depend on chunks.
struct Outcome {
    events: Vec<String>,
    bytes: Vec<(LinkId, Vec<u8>)>,
    state: String,
}

impl Outcome {
    fn difference(&self, other: &Self) -> Option<String> {
        let is_elsewhere = || (self.bytes != other.bytes).then(|| "other bytes were sent".to_owned());
        let is_other_state = || {
            (self.state != other.state)
                .then(|| format!("the state is {} instead of {}", other.state, self.state))
        };
        first_difference(&self.events, &other.events).or_else(is_elsewhere).or_else(is_other_state)
    }
}

fn give<S: Subject>(
    subject: &S,
    seed: u64,
    link: LinkId,
    stream: &[u8],
    chunk_len: &mut dyn FnMut(usize) -> usize,
) -> Result<Outcome, Violation> {
    let mut rig = Rig::new(subject, seed);
    let mut rest = stream;
    // A machine that reads no more after a full drain has closed the stream for itself.
    while !rest.is_empty() && rig.machine.wants_read(link) {
        let (chunk, further) = rest.split_at(chunk_len(rest.len()));
        rig.give(subject.start(), &Input::Stream { link, data: chunk.to_vec() });
        rig.drain()?;
        rig.check_memory()?;
        rest = further;
    }
    Ok(Outcome {
        events: rig.recorder.events().into_iter().map(str::to_owned).collect(),
        bytes: subject.links().iter().map(|link| (link.id(), rig.recorder.bytes_on(link.id()))).collect(),
        state: subject.state(&rig.machine),
    })
}
