//! The suite that checks the laws of [`Machine`](proto_core::Machine) on any protocol.
//!
//! A protocol implements [`Subject`] once and calls [`check`] in a test. The suite drives its machine with the
//! peer's valid input, with truncations and bit flips of that, with noise, commands, timeouts, clock jumps, links
//! that block and die, and streams in all kinds of chunks. A broken law is reported with the seed that shows it.

mod bounds;
mod chunks;
mod law;
mod ledger;
mod links;
mod replay;
mod rig;
mod script;
mod subject;
mod time;
#[cfg(test)]
mod toys;
mod wild;

pub use law::{Law, Violation};
pub(crate) use ledger::Ledger;
pub use subject::{Memory, Subject, SubjectLink};

use crate::scenario::{SEED_VARIABLE, for_each_seed};
use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// How many seeds [`check`] tries for each law.
const SEEDS: u64 = 16;

/// Checks every law with several seeds. `IOLITE_SEED=<seed>` in the environment tries that seed instead.
///
/// # Panics
/// When a law is broken.
pub fn check<S: Subject>(subject: &S) {
    for_each_seed(0..SEEDS, |seed| {
        for law in Law::ALL {
            if let Err(violation) = check_law(subject, law, seed) {
                panic!("{violation}\n(seed {seed}; {SEED_VARIABLE}={seed} tries only this one again)");
            }
        }
    });
}

/// Checks one law with one seed.
///
/// # Errors
/// The first violation seen. It may be of another law: what leaves a machine is always checked against the laws that
/// show in it, and a panic breaks [`Law::TakesAnything`].
pub fn check_law<S: Subject>(subject: &S, law: Law, seed: u64) -> Result<(), Violation> {
    let run = || match law {
        Law::Drains | Law::DoesNotSpin | Law::TakesAnything | Law::RespectsDown => wild::check(subject, seed),
        Law::TellsLengths => wild::check(subject, seed).and_then(|()| wild::check_appends(subject, seed)),
        Law::KeepsTime => time::check(subject, seed),
        Law::RespectsBlocked => wild::check(subject, seed).and_then(|()| links::check(subject, seed)),
        Law::IgnoresChunks => chunks::check(subject, seed),
        Law::Repeats => replay::check(subject, seed),
        Law::BoundsEvents => bounds::check(subject, seed),
    };
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        let what = format!("the machine panicked: {}", panic_text(&*payload));
        Err(Violation::new(Law::TakesAnything, what))
    })
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&str>().copied();
    literal.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
