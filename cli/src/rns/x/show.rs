//! What the user sees of a command's result.

use serde_json::json;
use std::{
    io::{self, Write},
    time::Duration,
};

use super::{X, protocol::Outcome};
use crate::{
    failure::Failure,
    output::{
        self,
        quantity::{bytes, throughput, time},
    },
};

/// Prints what a command wrote, each stream to its own, and with `--detailed` what it took. The answer had `len` bytes
/// and took `taken`.
pub(super) fn outcome(options: &X, outcome: &Outcome, len: u64, taken: Duration) -> Result<(), Failure> {
    if options.json {
        return output::json(&json!({
            "ran": outcome.ran,
            "code": outcome.code,
            "stdout": String::from_utf8_lossy(&outcome.stdout),
            "stderr": String::from_utf8_lossy(&outcome.stderr),
            "stdout_bytes": outcome.stdout_len,
            "stderr_bytes": outcome.stderr_len,
            "started": outcome.started,
            "concluded": outcome.concluded,
            "response_bytes": len,
            "seconds": taken.as_secs_f64(),
        }));
    }
    raw(io::stdout().lock(), &outcome.stdout)?;
    raw(io::stderr().lock(), &outcome.stderr)?;
    if options.detailed && outcome.ran {
        output::line("\n--- End of remote output ---")?;
        match (outcome.code, outcome.concluded) {
            (Some(code), Some(concluded)) => {
                let took = Duration::try_from_secs_f64(concluded - outcome.started).unwrap_or_default();
                output::line(format_args!("The command took {} and ended with code {code}", time(took)))?;
            }
            _ => output::line("The command was killed, for its time was over")?,
        }
        let speed = throughput(len, taken);
        output::line(format_args!("The result of {} was there after {} ({speed})", bytes(len), time(taken)))?;
        stream("standard output", outcome.stdout_len, &outcome.stdout)?;
        stream("standard error", outcome.stderr_len, &outcome.stderr)?;
    }
    Ok(())
}

/// Asks for a command.
pub(super) fn prompt() -> Result<(), Failure> {
    raw(io::stdout().lock(), b"> ")
}

fn stream(name: &str, len: u64, shown: &[u8]) -> Result<(), Failure> {
    let left_out = if (shown.len() as u64) < len {
        format!(", {} shown", bytes(shown.len() as u64))
    } else {
        String::new()
    };
    output::line(format_args!("It wrote {} to {name}{left_out}", bytes(len)))
}

fn raw(mut to: impl Write, bytes: &[u8]) -> Result<(), Failure> {
    to.write_all(bytes).and_then(|()| to.flush()).map_err(|error| Failure::output(&error))
}
