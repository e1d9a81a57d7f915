//! Printing dissected datagrams: one line each, all fields, or JSON.

use netsim::capture::{Frame, UdpPacket};
use serde_json::{Value, json};
use std::time::Duration;

use super::{
    decode::Dissection,
    node::{Node, hex},
};
use crate::{
    args::dissect::Dissect,
    failure::Failure,
    output::{
        self,
        quantity::count,
        style::{self, paint},
    },
    raknet::motd::printable,
};

/// Prints datagrams and counts them.
#[derive(Debug)]
pub(super) struct Printer {
    form: Form,
    limit: Option<u64>,
    /// When the first datagram was captured; times are shown since then.
    start: Option<Duration>,
    shown: u64,
    skipped: u64,
    damaged: u64,
    unknown: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Line,
    Fields,
    Json,
}

impl Printer {
    /// Creates the printer that the options ask for.
    pub(super) fn new(options: &Dissect) -> Self {
        let form = match (options.json, options.verbose) {
            (true, _) => Form::Json,
            (false, true) => Form::Fields,
            (false, false) => Form::Line,
        };
        Self { form, limit: options.limit, start: None, shown: 0, skipped: 0, damaged: 0, unknown: 0 }
    }

    /// Prints a message.
    pub(super) fn message(
        &mut self,
        frame: &Frame<'_>,
        packet: &UdpPacket<'_>,
        dissection: &Dissection,
    ) -> Result<(), Failure> {
        self.shown += 1;
        match dissection {
            Dissection::Whole(_) => {}
            Dissection::Damaged { .. } => self.damaged += 1,
            Dissection::Unknown => self.unknown += 1,
        }
        let start = *self.start.get_or_insert_with(|| frame.at.unwrap_or_default());
        if self.form == Form::Json {
            return output::json(&as_json(frame, packet, dissection));
        }
        let since = frame
            .at
            .map_or_else(|| "-".into(), |at| format!("{:.6}", at.saturating_sub(start).as_secs_f64()));
        let len = packet.payload.len();
        let cut = if packet.is_truncated { paint(style::ODD, " (captured in part)") } else { String::new() };
        let comment = frame
            .comment
            .as_deref()
            .map_or_else(String::new, |comment| paint(style::ODD, format_args!(" # {}", printable(comment))));
        output::line(format_args!(
            "{since:>11} {} > {} {len:>5} B  {}{cut}{comment}",
            packet.from,
            packet.to,
            self.summary(dissection)
        ))?;
        if self.form == Form::Fields {
            let (Dissection::Whole(node) | Dissection::Damaged { node, .. }) = dissection else {
                return Node::new("Payload").data(packet.payload).lines(1).iter().try_for_each(output::line);
            };
            node.lines(1).iter().try_for_each(output::line)?;
        }
        Ok(())
    }

    /// Counts a frame that is not shown.
    pub(super) const fn skip(&mut self) {
        self.skipped += 1;
    }

    /// Returns how many frames there were so far.
    pub(super) const fn frames(&self) -> u64 {
        self.shown + self.skipped
    }

    /// Says whether enough was shown.
    pub(super) fn is_at_limit(&self) -> bool {
        self.limit.is_some_and(|limit| self.shown >= limit)
    }

    /// Prints the totals, except between JSON.
    pub(super) fn end(&self) -> Result<(), Failure> {
        if self.form == Form::Json {
            return Ok(());
        }
        output::line(paint(
            style::FAINT,
            format_args!(
                "{} messages, {} malformed, {} of other protocols, {} other frames left out",
                count(self.shown),
                count(self.damaged),
                count(self.unknown),
                count(self.skipped)
            ),
        ))
    }

    /// Returns what one line says of a datagram; the long form has the fields elsewhere.
    fn summary(&self, dissection: &Dissection) -> String {
        let line = |node: &Node| if self.form == Form::Line { node.line() } else { String::new() };
        match dissection {
            Dissection::Whole(node) => line(node),
            Dissection::Damaged { node, offset, reason } => {
                let fault = paint(style::BAD, format_args!("malformed at byte {offset}: {reason}"));
                format!("{} {fault}", line(node))
            }
            Dissection::Unknown => paint(style::FAINT, "neither RakNet nor Reticulum"),
        }
    }
}

fn as_json(frame: &Frame<'_>, packet: &UdpPacket<'_>, dissection: &Dissection) -> Value {
    let mut value = json!({
        "time": frame.at.map(|at| at.as_secs_f64()),
        "from": packet.from.to_string(),
        "to": packet.to.to_string(),
        "bytes": packet.payload.len(),
        "truncated": packet.is_truncated,
        "comment": frame.comment,
    });
    let Some(map) = value.as_object_mut() else { return value };
    match dissection {
        Dissection::Whole(node) => map.extend(node.json()),
        Dissection::Damaged { node, offset, reason } => {
            map.extend(node.json());
            map.insert("malformed".into(), json!({ "offset": offset, "reason": reason }));
        }
        Dissection::Unknown => {
            map.insert("kind".into(), Value::Null);
            map.insert("data".into(), hex(packet.payload).into());
        }
    }
    value
}
