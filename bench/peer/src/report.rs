//! What a peer tells the benchmark on its standard output.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Histogram, Load, SharedHistogram, Usage};

/// The result of one client run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Length of the burst.
    pub seconds: f64,
    /// Echoes of all connections that came back in full and in order.
    pub echoes: u64,
    /// Echoes of the connection that got the fewest.
    pub least_echoes: u64,
    /// Payload bytes of those echoes.
    pub bytes: u64,
    /// Round trips of the burst, where they were recorded.
    pub rtt: Option<Rtt>,
    /// What the client took from the machine.
    pub usage: Usage,
}

/// Round-trip times in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rtt {
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Longest.
    pub max: f64,
}

impl Report {
    /// Sums up a burst that lasted `elapsed`; `echoes` holds what each connection got back.
    pub fn new(
        load: &Load,
        elapsed: Duration,
        echoes: impl IntoIterator<Item = u32>,
        histogram: Option<&SharedHistogram>,
    ) -> Self {
        let (mut total, mut least) = (0, u64::MAX);
        for connection in echoes {
            total += u64::from(connection);
            least = least.min(u64::from(connection));
        }
        let rtt = histogram.map(|histogram| match histogram.lock() {
            Ok(histogram) => Rtt::from(&*histogram),
            Err(poisoned) => Rtt::from(&*poisoned.into_inner()),
        });
        Self {
            seconds: elapsed.as_secs_f64(),
            echoes: total,
            least_echoes: least.min(total),
            bytes: total * load.size as u64,
            rtt,
            usage: Usage::of_self(),
        }
    }

    /// Prints the report as one line of JSON.
    ///
    /// # Errors
    ///
    /// When standard output is closed.
    pub fn print(&self) -> io::Result<()> {
        let mut line = serde_json::to_string(self)?;
        line.push('\n');
        io::stdout().lock().write_all(line.as_bytes())
    }

    /// Reads the line that [`print`](Self::print) wrote.
    ///
    /// # Errors
    ///
    /// When `line` is anything else.
    pub fn parse(line: &str) -> serde_json::Result<Self> {
        serde_json::from_str(line)
    }

    /// Payload bytes a second in each direction.
    pub fn throughput(&self) -> f64 {
        self.bytes as f64 / self.seconds
    }
}

impl From<&Histogram> for Rtt {
    fn from(histogram: &Histogram) -> Self {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        Self {
            p50: micros(histogram.quantile(500)),
            p95: micros(histogram.quantile(950)),
            p99: micros(histogram.quantile(990)),
            max: micros(histogram.longest()),
        }
    }
}

/// Tells the benchmark where a server listens; clients are started after this line.
///
/// # Errors
///
/// When standard output is closed.
pub fn announce(address: SocketAddr) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{READY}{address}")?;
    stdout.flush()
}

/// The address in a line that [`announce`] printed.
pub fn announced(line: &str) -> Option<SocketAddr> {
    line.trim_end().strip_prefix(READY)?.parse().ok()
}

const READY: &str = "ready ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_its_own_line() {
        let report = Report {
            seconds: 0.5,
            echoes: 10,
            least_echoes: 4,
            bytes: 640,
            rtt: Some(Rtt { p50: 1.5, p95: 2.0, p99: 3.25, max: 9.0 }),
            usage: Usage { peak_rss: 4096, user_seconds: 0.25, system_seconds: 1.0 },
        };
        let line = serde_json::to_string(&report).unwrap();
        assert_eq!(Report::parse(&line).unwrap(), report);
        assert!((report.throughput() - 1280.0).abs() < 1e-9);
    }

    #[test]
    fn only_a_ready_line_announces_an_address() {
        assert_eq!(announced("ready 127.0.0.1:7\n"), Some("127.0.0.1:7".parse().unwrap()));
        assert_eq!(announced("listening on 127.0.0.1:7"), None);
    }
}
