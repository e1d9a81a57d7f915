//! The result of a measurement, as a table or JSON.

use bench_peer::Histogram;
use serde_json::json;
use std::{net::SocketAddr, time::Duration};

use super::load::Measured;
use crate::{
    args::raknet::Bench,
    failure::Failure,
    output::{
        self,
        quantity::{count, millis, per_second, percent, throughput, time},
        style,
        table::{Align, Cell, Table},
    },
};

/// Prints what was measured in `taken`.
pub(super) fn print(
    options: &Bench,
    server: SocketAddr,
    measured: &Measured,
    round_trips: &Histogram,
    taken: Duration,
) -> Result<(), Failure> {
    let bytes = measured.echoes * options.size as u64;
    let quantiles = [500, 950, 990].map(|per_mille| round_trips.quantile(per_mille));
    let [p50, p95, p99] = quantiles;
    if options.json {
        return output::json(&json!({
            "server": server.to_string(),
            "connections": options.connections,
            "size": options.size,
            "inflight": options.inflight,
            "seconds": taken.as_secs_f64(),
            "messages": measured.echoes,
            "messages_per_second": per_second(measured.echoes, taken),
            "bytes_per_second": per_second(bytes, taken),
            "rtt_ms": {
                "p50": millis(p50),
                "p95": millis(p95),
                "p99": millis(p99),
                "max": millis(round_trips.longest()),
            },
            "frames_resent": measured.frames_resent,
            "loss": measured.loss(),
        }));
    }
    let mut table = Table::new(
        [
            "sessions",
            "bytes",
            "in flight",
            "time",
            "messages",
            "messages/s",
            "each way",
            "p50",
            "p95",
            "p99",
            "max",
            "resent",
            "loss",
        ],
        [Align::Right; 13],
    );
    table.row([
        Cell::plain(options.connections),
        Cell::plain(options.size),
        Cell::plain(options.inflight),
        Cell::plain(time(taken)),
        Cell::plain(count(measured.echoes)),
        Cell::styled(style::GOOD, count(per_second(measured.echoes, taken))),
        Cell::styled(style::GOOD, throughput(bytes, taken)),
        Cell::plain(time(p50)),
        Cell::plain(time(p95)),
        Cell::plain(time(p99)),
        Cell::plain(time(round_trips.longest())),
        Cell::plain(count(measured.frames_resent)),
        Cell::plain(percent(measured.loss())),
    ]);
    output::line(format_args!("echoes of {server}, each compared to the last byte"))?;
    output::line(table)
}
