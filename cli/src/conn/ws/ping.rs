//! How long pings take there and back.

use proto_conn::{
    Code, Kind, Message, Url,
    client::{Closed, Event, State},
};
use runtime_blocking::conn::Connection;
use std::time::{Duration, Instant};

use super::{dialogue, fault};
use crate::{
    conn::{supervised::Stop, trace::Trace},
    failure::Failure,
    output::{
        self,
        quantity::time,
        style::{self, paint},
    },
};

/// Pings that are sent one after the other.
pub(super) struct Pings {
    pub(super) url: Url,
    pub(super) conn: Connection,
    pub(super) trace: Trace,
    pub(super) count: u32,
    pub(super) interval: Duration,
    pub(super) stop: Stop,
}

impl Pings {
    /// Sends all, waits for each, and closes.
    ///
    /// # Errors
    /// There is no WebSocket, or a ping is not answered.
    pub(super) fn run(mut self) -> Result<(), Failure> {
        self.conn.begin().map_err(|error| fault::of(&self.url, &error))?;
        self.wait_for(None, |conn, _| conn.state() == State::Open)?;
        let mut taken = Vec::new();
        for number in 1..=self.count {
            let sent = Instant::now();
            let body = number.to_be_bytes().to_vec();
            self.conn.send(Message::ping(body.clone())).map_err(|error| fault::of(&self.url, &error))?;
            let is_answer = move |message: &Message| message.kind == Kind::Pong && *message.body == *body;
            let came = self.wait_for(Some(PATIENCE), |_, message| message.is_some_and(&is_answer))?;
            if self.stop.is_wanted() {
                break;
            }
            if !came {
                return Err(Failure::check(format_args!(
                    "{} did not answer a ping within {PATIENCE:?}",
                    self.url
                )));
            }
            taken.push(sent.elapsed());
            output::line(format_args!("pong {number} from {} in {}", self.url, time(sent.elapsed())))?;
            if number < self.count {
                let rest = self.interval.saturating_sub(sent.elapsed());
                self.wait_for(Some(rest), |_, _| false)?;
            }
        }
        sum_up(&taken)?;
        dialogue::close(&mut self.conn).map_err(|error| fault::of(&self.url, &error))?;
        Ok(())
    }

    /// Handles what comes until `done` says so after an event, which may be a message. Says whether that was in time.
    fn wait_for(
        &mut self,
        patience: Option<Duration>,
        done: impl Fn(&Connection, Option<&Message>) -> bool,
    ) -> Result<bool, Failure> {
        let deadline = patience.map(|patience| Instant::now() + patience);
        while !self.stop.is_wanted() {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let message = match self.conn.event(left) {
                Ok(None) => return Ok(false),
                Ok(Some(Event::State(state))) => {
                    self.trace.state(&self.conn, state);
                    None
                }
                Ok(Some(Event::Message(message))) => {
                    self.trace.message(&message);
                    Some(message)
                }
                Ok(Some(Event::Failed { error, .. } | Event::Closed(Closed { error: Some(error), .. }))) => {
                    return Err(fault::of(&self.url, &error));
                }
                Ok(Some(Event::Closed(Closed { code, reason, .. }))) => {
                    return Err(fault::closed(&self.url, code, &reason));
                }
                Ok(Some(Event::Reconnecting { .. } | Event::Part(_) | Event::End(_) | Event::Writable)) => {
                    None
                }
                Err(error) if error.code == Code::Cancelled => None,
                Err(error) => return Err(fault::of(&self.url, &error)),
            };
            if done(&self.conn, message.as_ref()) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn sum_up(taken: &[Duration]) -> Result<(), Failure> {
    let (Some(fastest), Some(slowest)) = (taken.iter().min(), taken.iter().max()) else { return Ok(()) };
    let count = u32::try_from(taken.len()).unwrap_or(u32::MAX);
    let mean = taken.iter().sum::<Duration>() / count;
    output::line(format_args!(
        "{}, min/avg/max {} / {} / {}",
        paint(style::GOOD, format_args!("{count} answered")),
        time(*fastest),
        time(mean),
        time(*slowest)
    ))
}

/// How long a pong may take.
const PATIENCE: Duration = Duration::from_secs(10);
