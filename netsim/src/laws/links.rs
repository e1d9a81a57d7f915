//! The second half of law 6: a blocked link does not silence the others.

use super::{
    Law, Subject, SubjectLink, Violation,
    rig::Rig,
    script::{Author, Input, Mixture, Step},
};
use proto_core::{LinkEvent, LinkId};

const STEPS: usize = 200;
const MIXTURE: Mixture = Mixture { link_events: false, backward: false, batches: false };

/// Blocks each link in turn and looks whether a link that has something to say still says something.
pub(super) fn check<S: Subject>(subject: &S, seed: u64) -> Result<(), Violation> {
    let links: Vec<LinkId> = subject.links().into_iter().map(SubjectLink::id).collect();
    let script = Author::new(subject, seed).write(STEPS, MIXTURE);
    for &blocked in &links {
        for &other in links.iter().filter(|link| **link != blocked) {
            let alone: Vec<Step> = script.iter().filter(|step| is_for(step, other)).cloned().collect();
            let says_something = bytes_on(subject, seed, &alone, None, other)? > 0;
            if says_something && bytes_on(subject, seed, &alone, Some(blocked), other)? == 0 {
                let what = format!("{other:?} is silent while {blocked:?} is blocked");
                return Err(Violation::new(Law::RespectsBlocked, what));
            }
        }
    }
    Ok(())
}

fn bytes_on<S: Subject>(
    subject: &S,
    seed: u64,
    script: &[Step],
    blocked: Option<LinkId>,
    on: LinkId,
) -> Result<usize, Violation> {
    let mut rig = Rig::new(subject, seed);
    if let Some(link) = blocked {
        rig.give(subject.start(), &Input::Link { link, event: LinkEvent::Blocked });
    }
    rig.play(script)?;
    Ok(rig.recorder.bytes_on(on).len())
}

fn is_for(step: &Step, wanted: LinkId) -> bool {
    match &step.input {
        Input::Datagram { link, .. } | Input::Stream { link, .. } | Input::Link { link, .. } => {
            *link == wanted
        }
        Input::Timeout => true,
        Input::Command(_) => false,
    }
}
