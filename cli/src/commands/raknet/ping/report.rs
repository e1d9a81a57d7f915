//! What a ping prints, as text or JSON.

use proto_raknet::Motd;
use serde_json::json;
use std::{io, net::SocketAddr};

use super::{prober::Pong, statistics::RoundTrips};
use crate::{
    args::values::HostPort,
    failure::Failure,
    output::{
        self,
        quantity::{bytes, millis, percent, share, time},
        style::{self, paint},
    },
    raknet::motd,
};

/// Prints answers as they come and the statistics at the end.
#[derive(Debug)]
pub(super) struct Report {
    name: HostPort,
    server: SocketAddr,
    json: bool,
    /// What the server said last; shown in full only when it changes.
    described: Option<Vec<u8>>,
    trips: RoundTrips,
    duplicates: u64,
}

impl Report {
    /// Creates the report about `server`, which the user called `name`.
    pub(super) fn new(name: &HostPort, server: SocketAddr, json: bool) -> Self {
        Self {
            name: name.clone(),
            server,
            json,
            described: None,
            trips: RoundTrips::default(),
            duplicates: 0,
        }
    }

    /// Says who is pinged.
    pub(super) fn begin(&self) -> Result<(), Failure> {
        if self.json {
            return Ok(());
        }
        output::line(format_args!("PING {} ({})", paint(style::STRONG, &self.name), self.server))
    }

    /// Tells of a pong.
    pub(super) fn pong(&mut self, pong: &Pong) -> Result<(), Failure> {
        match pong.rtt {
            Some(rtt) => self.trips.add(rtt),
            None => self.duplicates += 1,
        }
        let motd = Motd::parse(&pong.data);
        if self.json {
            return output::json(&json!({
                "event": "pong",
                "sequence": pong.sequence,
                "from": self.server.to_string(),
                "guid": pong.guid.to_string(),
                "rtt_ms": pong.rtt.map(millis),
                "duplicate": pong.rtt.is_none(),
                "motd": motd.as_ref().ok().map(motd::json),
                "data": motd.is_err().then(|| String::from_utf8_lossy(&pong.data)),
            }));
        }
        if self.described.as_ref() != Some(&pong.data) {
            self.described = Some(pong.data.clone());
            match &motd {
                Ok(motd) => motd::lines(motd).into_iter().try_for_each(output::line)?,
                Err(_) if pong.data.is_empty() => output::line("  (the server says nothing about itself)")?,
                Err(reason) => output::line(format_args!(
                    "  {} of data that are no Bedrock description ({reason}): {}",
                    bytes(pong.data.len() as u64),
                    motd::printable(&String::from_utf8_lossy(&pong.data))
                ))?,
            }
        }
        let rtt = pong.rtt.map_or_else(
            || paint(style::ODD, "late or duplicate"),
            |rtt| format!("time={}", paint(style::GOOD, time(rtt))),
        );
        let sequence = pong.sequence;
        output::line(format_args!("pong from {}: seq={sequence} guid={} {rtt}", self.server, pong.guid))
    }

    /// Tells of a ping that nobody answered in time.
    pub(super) fn no_answer(&self, sequence: u64) -> Result<(), Failure> {
        self.loss(sequence, "no answer")
    }

    /// Tells that the host refused a ping.
    pub(super) fn unreachable(&self, sequence: u64) -> Result<(), Failure> {
        self.loss(sequence, "port unreachable")
    }

    /// Tells of a ping that did not leave.
    pub(super) fn send_failed(&self, sequence: u64, error: &io::Error) -> Result<(), Failure> {
        self.loss(sequence, &format!("cannot send: {error}"))
    }

    /// Prints the statistics.
    ///
    /// # Errors
    /// Nobody answered.
    pub(super) fn end(&self, sent: u64) -> Result<(), Failure> {
        let Self { trips, name, .. } = self;
        let lost = sent.saturating_sub(trips.count());
        if self.json {
            let any = trips.count() > 0;
            output::json(&json!({
                "event": "summary",
                "server": self.server.to_string(),
                "sent": sent,
                "received": trips.count(),
                "duplicates": self.duplicates,
                "loss": share(lost, sent),
                "rtt_ms": any.then(|| json!({
                    "min": millis(trips.min()),
                    "avg": millis(trips.mean()),
                    "max": millis(trips.max()),
                    "mdev": millis(trips.deviation()),
                })),
            }))?;
        } else {
            let duplicates = match self.duplicates {
                0 => String::new(),
                some => format!(", {some} late or duplicate"),
            };
            output::line(format_args!("--- {name} ---"))?;
            output::line(format_args!(
                "{sent} sent, {} answered{duplicates}, {} lost",
                trips.count(),
                percent(share(lost, sent))
            ))?;
            if trips.count() > 0 {
                output::line(format_args!(
                    "rtt min/avg/max/mdev = {} / {} / {} / {}",
                    time(trips.min()),
                    time(trips.mean()),
                    time(trips.max()),
                    time(trips.deviation())
                ))?;
            }
        }
        if trips.count() == 0 && sent > 0 {
            return Err(Failure::check(format_args!("{name} ({}) did not answer", self.server))
                .advise("check address and port, that the server runs, and that no firewall drops UDP"));
        }
        Ok(())
    }

    fn loss(&self, sequence: u64, why: &str) -> Result<(), Failure> {
        if self.json {
            return output::json(&json!({ "event": "loss", "sequence": sequence, "reason": why }));
        }
        output::line(format_args!("seq={sequence} {}", paint(style::BAD, why)))
    }
}
