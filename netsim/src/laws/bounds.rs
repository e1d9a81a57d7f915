//! Law 9: event queues are bounded, and what does not fit is counted or not read.

use super::{
    Law, Subject, Violation,
    rig::Rig,
    script::{Author, Mixture},
};
use proto_core::Machine;

const MIXTURE: Mixture = Mixture { link_events: true, backward: false, batches: false };
/// The fewest inputs given, however low the subject's limit is.
const FEWEST: usize = 500;
/// More transmits than this between two inputs are left for later.
const TRANSMITS_LIMIT: usize = 1_000;

/// Gives the machine more input than its event queue has room for, while nobody takes events.
pub(super) fn check<S: Subject>(subject: &S, seed: u64) -> Result<(), Violation> {
    let limit = subject.event_limit();
    let steps = limit.saturating_mul(4).max(FEWEST);
    let mut author = Author::new(subject, seed);
    let mut rig = Rig::new(subject, seed);
    let mut was_refused = false;
    for _ in 0..steps {
        for step in author.write(1, MIXTURE) {
            rig.give(step.at, &step.input);
            send_only(&mut rig, step.at);
        }
        rig.check_memory()?;
        was_refused |= subject.links().iter().any(|link| !rig.machine.wants_read(link.id()));
    }
    // The count stops above the limit, so that an endless queue cannot hang the suite.
    let kept = (0..=limit).take_while(|_| rig.machine.poll_event().is_some()).count();
    if kept > limit {
        let what = format!("more than {limit} events are kept after {steps} inputs");
        return Err(Violation::new(Law::BoundsEvents, what));
    }
    if kept == limit && !was_refused && subject.dropped_events(&rig.machine) == Some(0) {
        let what = format!("{kept} events filled the queue, yet all links were read and no drop was counted");
        return Err(Violation::new(Law::BoundsEvents, what));
    }
    Ok(())
}

/// Does what is due and takes requests and transmits but no events, which no drain does.
fn send_only<S: Subject>(rig: &mut Rig<'_, S>, now: proto_core::Instant) {
    if rig.machine.poll_timeout().is_some_and(|due| due <= now) {
        rig.machine.handle_timeout(now);
    }
    let mut buf = Vec::new();
    for _ in 0..TRANSMITS_LIMIT {
        buf.clear();
        let requested = rig.machine.poll_link().is_some();
        let sent = rig.machine.poll_transmit(now, rig.recorder.max_segments, &mut buf).is_some();
        rig.machine.poll_gather(&mut Vec::new());
        if !requested && !sent {
            return;
        }
    }
}
