//! Law 8: the same seed and inputs give the same outputs, byte for byte.

use super::{
    Law, Subject, Violation,
    rig::{Rig, first_difference},
    script::{Author, Mixture},
};

const STEPS: usize = 400;

/// Plays a script twice.
pub(super) fn check<S: Subject>(subject: &S, seed: u64) -> Result<(), Violation> {
    let script = Author::new(subject, seed).write(STEPS, Mixture::EVERYTHING);
    let play = || {
        let mut rig = Rig::new(subject, seed);
        rig.play(&script).map(|()| rig.recorder.outputs)
    };
    match first_difference(&play()?, &play()?) {
        None => Ok(()),
        Some(difference) => Err(Violation::new(Law::Repeats, format!("in a second run, {difference}"))),
    }
}
