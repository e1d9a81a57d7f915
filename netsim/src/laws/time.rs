//! Law 4: early and repeated timeouts do nothing, and time does not go back.

use super::{
    Law, Subject, Violation,
    rig::{Output, Rig, first_difference},
    script::{Author, Input, Mixture, Step},
};
use proto_core::{Instant, Machine};

const STEPS: usize = 200;
const MIXTURE: Mixture = Mixture { link_events: true, backward: true, batches: false };

/// Compares a run with one that has needless timeouts in it, and one whose inputs carry times that went back with
/// one in which they carry the last time seen.
pub(super) fn check<S: Subject>(subject: &S, seed: u64) -> Result<(), Violation> {
    let backward = Author::new(subject, seed).write(STEPS, MIXTURE);
    let forward = clamped(&backward);
    let expected = outputs(subject, seed, &forward, false)?;
    compare(&expected, &outputs(subject, seed, &forward, true)?, "with early and repeated timeouts")?;
    compare(&expected, &outputs(subject, seed, &backward, false)?, "with times that go back")
}

fn clamped(script: &[Step]) -> Vec<Step> {
    let mut latest = Instant::ZERO;
    let clamp = |step: &Step| {
        latest = latest.max(step.at);
        Step { at: latest, ..step.clone() }
    };
    script.iter().map(clamp).collect()
}

fn outputs<S: Subject>(
    subject: &S,
    seed: u64,
    script: &[Step],
    with_needless_timeouts: bool,
) -> Result<Vec<Output>, Violation> {
    let mut rig = Rig::new(subject, seed);
    for step in script {
        if with_needless_timeouts {
            rig.pass_time(step.at)?;
            give_needless_timeouts(&mut rig);
        }
        rig.step(step)?;
    }
    Ok(rig.recorder.outputs)
}

fn give_needless_timeouts<S: Subject>(rig: &mut Rig<'_, S>) {
    for _ in 0..2 {
        let is_due = rig.machine.poll_timeout().is_some_and(|due| due <= rig.now());
        if !is_due {
            rig.give(rig.now(), &Input::Timeout);
        }
    }
}

fn compare(expected: &[Output], got: &[Output], how: &str) -> Result<(), Violation> {
    match first_difference(expected, got) {
        None => Ok(()),
        Some(difference) => Err(Violation::new(Law::KeepsTime, format!("{how}, {difference}"))),
    }
}
