//! Laws 1, 2, 3, 5, 6 and 10, which are watched on every step: here under everything that can happen.

use super::{
    Law, Subject, Violation,
    rig::Rig,
    script::{Author, Mixture},
};
use proto_core::Machine;

/// How many inputs a machine is given.
const STEPS: usize = 400;

/// Gives the machine a wild script; the rig watches.
pub(super) fn check<S: Subject>(subject: &S, seed: u64) -> Result<(), Violation> {
    Rig::new(subject, seed).play(&Author::new(subject, seed).write(STEPS, Mixture::EVERYTHING))
}

/// Checks that transmits are appended to what the buffer holds. A drain always starts with an empty buffer, so
/// this needs a look at the machine without one.
pub(super) fn check_appends<S: Subject>(subject: &S, seed: u64) -> Result<(), Violation> {
    const BEFORE: [u8; 3] = [0xa5; 3];
    let mixture = Mixture { batches: false, ..Mixture::EVERYTHING };
    let mut rig = Rig::new(subject, seed);
    for mut step in Author::new(subject, seed).write(STEPS, mixture) {
        step.drains = false;
        rig.step(&step)?;
        let mut buf = BEFORE.to_vec();
        let transmit = rig.machine.poll_transmit(rig.now(), rig.recorder.max_segments, &mut buf);
        rig.machine.poll_gather(&mut Vec::new());
        let len = transmit.map_or(0, |transmit| transmit.len);
        if !buf.starts_with(&BEFORE) || buf.len() != BEFORE.len() + len {
            let what = format!("a transmit of {len} bytes was not appended to the buffer");
            return Err(Violation::new(Law::TellsLengths, what));
        }
        rig.drain()?;
    }
    Ok(())
}
