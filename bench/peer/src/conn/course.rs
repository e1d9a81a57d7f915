//! The course of a client: one exchange after the other, first to warm up, then measured.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Arena, Command, Cost, Report};
use crate::{Fault, Histogram, Rtt, Usage};

/// One client's run over a connection that stands.
///
/// ```no_run
/// # use bench_peer::{Fault, conn::{Arena, Command, Course}};
/// # fn exchange(message: &[u8]) -> Result<Vec<u8>, Fault> { Ok(message.to_vec()) }
/// # fn main() -> Result<(), Fault> {
/// let command = Command::from_args()?;
/// let arena = Arena::open(&command)?;
/// let mut course = Course::begin(&command, &arena);
/// let message = course.message();
/// while course.goes_on() {
///     let echo = exchange(&message)?;
///     course.accept(&echo)?;
/// }
/// course.report().print()?;
/// # Ok(())
/// # }
/// ```
///
/// The clock is read once an exchange, so that the ruler stays short beside what it measures. Every byte is compared
/// while warming up; then only the length and the last bytes, because comparing a long message costs as much as carrying
/// it.
#[derive(Debug)]
pub struct Course<'arena> {
    arena: &'arena Arena,
    message: Arc<[u8]>,
    warm_at: Instant,
    time: Duration,
    measured: Option<Measured>,
}

#[derive(Debug)]
struct Measured {
    start: Instant,
    deadline: Instant,
    last: Instant,
    histogram: Histogram,
    cost_before: Cost,
}

impl<'arena> Course<'arena> {
    /// Begins to warm up.
    pub fn begin(command: &Command, arena: &'arena Arena) -> Self {
        Self {
            arena,
            message: Self::message_of(command.size).into(),
            warm_at: Instant::now() + command.warmup,
            time: command.time,
            measured: None,
        }
    }

    /// A message of `size` bytes: noise, so that no two places of it look the same.
    pub fn message_of(size: usize) -> Vec<u8> {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut bytes = Vec::with_capacity(size + 8);
        while bytes.len() < size {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.extend_from_slice(&state.to_le_bytes());
        }
        bytes.truncate(size);
        bytes
    }

    /// The message of every exchange.
    pub fn message(&self) -> Arc<[u8]> {
        Arc::clone(&self.message)
    }

    /// Whether there is another exchange.
    pub fn goes_on(&mut self) -> bool {
        if let Some(measured) = &self.measured {
            return measured.last < measured.deadline;
        }
        let start = Instant::now();
        if start >= self.warm_at {
            self.measured = Some(Measured {
                start,
                deadline: start + self.time,
                last: start,
                histogram: Histogram::new(),
                cost_before: self.arena.cost(),
            });
        }
        true
    }

    /// Takes the echo that ends an exchange.
    ///
    /// # Errors
    ///
    /// When it is not the message.
    pub fn accept(&mut self, echo: &[u8]) -> Result<(), Fault> {
        let checked = match &mut self.measured {
            Some(Measured { last, histogram, .. }) => {
                let now = Instant::now();
                histogram.record(now - *last);
                *last = now;
                self.message.len().saturating_sub(LAST_BYTES)
            }
            None => 0,
        };
        if echo.len() == self.message.len() && echo.get(checked..) == self.message.get(checked..) {
            return Ok(());
        }
        Err(format!("{} bytes were sent and {} others came back", self.message.len(), echo.len()).into())
    }

    /// Sums up the measured exchanges.
    pub fn report(self) -> Report {
        let Some(Measured { start, last, histogram, cost_before, .. }) = self.measured else {
            return self.empty_report();
        };
        let seconds = (last - start).as_secs_f64();
        Report {
            exchanges: histogram.count(),
            seconds,
            mean: seconds * 1e6 / histogram.count() as f64,
            rtt: Rtt::from(&histogram),
            server_cost: self.arena.cost().since(cost_before).mean(),
            usage: Usage::of_self(),
        }
    }

    fn empty_report(&self) -> Report {
        let rtt = Rtt::from(&Histogram::new());
        Report { exchanges: 0, seconds: 0.0, mean: 0.0, rtt, server_cost: None, usage: Usage::of_self() }
    }
}

/// How many bytes are compared in an echo that is measured.
const LAST_BYTES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conn::{Role, Scheme};

    fn command(warmup: u64, time: u64) -> Command {
        Command {
            role: Role::Client,
            scheme: Scheme::Udp,
            size: 64,
            mode: String::new(),
            peer: Some("127.0.0.1:9".parse().unwrap()),
            identity: None,
            warmup: Duration::from_millis(warmup),
            time: Duration::from_millis(time),
            piece: None,
        }
    }

    #[test]
    fn only_what_comes_after_the_warm_up_is_measured() {
        let command = command(20, 20);
        let arena = Arena::open(&command).unwrap();
        let mut course = Course::begin(&command, &arena);
        let message = course.message();
        let mut exchanges = 0;
        while course.goes_on() {
            std::thread::sleep(Duration::from_millis(5));
            course.accept(&message).unwrap();
            exchanges += 1;
        }
        let report = course.report();
        assert!(report.exchanges >= 1 && report.exchanges < exchanges, "{report:?} of {exchanges}");
        assert!(report.mean >= 5_000.0 && report.rtt.p50 >= 4_900.0, "{report:?}");
    }

    #[test]
    fn a_wrong_byte_is_found_while_warming_up_and_a_wrong_length_always() {
        let command = command(1_000, 1_000);
        let arena = Arena::open(&command).unwrap();
        let mut course = Course::begin(&command, &arena);
        let mut echo = course.message().to_vec();
        echo[3] ^= 1;
        assert!(course.goes_on() && course.accept(&echo).is_err());
        course.warm_at = Instant::now();
        assert!(course.goes_on() && course.accept(&echo[1..]).is_err());
    }
}
