//! What a process took from the machine.

use std::fs;

use serde::{Deserialize, Serialize};

/// Memory and processor time of one process, from its start on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Peak resident memory in bytes (`VmHWM`; unlike `ru_maxrss` it starts anew at `exec`).
    pub peak_rss: u64,
    /// Seconds of processor time outside the kernel.
    pub user_seconds: f64,
    /// Seconds of processor time in the kernel.
    pub system_seconds: f64,
}

impl Usage {
    /// Reads this process's own usage; zeros where `/proc` is not available.
    pub fn of_self() -> Self {
        Self::read("self").unwrap_or(Self { peak_rss: 0, user_seconds: 0.0, system_seconds: 0.0 })
    }

    /// Reads the usage of a running process.
    pub fn of_process(pid: u32) -> Option<Self> {
        Self::read(&pid.to_string())
    }

    fn read(process: &str) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (user_seconds, system_seconds) = cpu_seconds(&stat)?;
        Some(Self { peak_rss: peak_rss(&status)?, user_seconds, system_seconds })
    }
}

fn peak_rss(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Fields 14 and 15 of `/proc/PID/stat`, counted from behind the name, which may contain spaces.
fn cpu_seconds(stat: &str) -> Option<(f64, f64)> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut ticks = after_name.split_whitespace().skip(11).map(|field| field.parse::<f64>().ok());
    Some((ticks.next()?? / TICKS_PER_SECOND, ticks.next()?? / TICKS_PER_SECOND))
}

/// Linux reports to user space in hundredths of a second on every architecture Rust supports.
const TICKS_PER_SECOND: f64 = 100.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_found_behind_a_name_with_spaces_and_brackets() {
        let stat = "42 (a ) b) S 1 2 3 4 5 6 7 8 9 10 150 25 0 0";
        assert_eq!(cpu_seconds(stat), Some((1.5, 0.25)));
    }

    #[test]
    fn peak_memory_is_read_in_bytes() {
        assert_eq!(peak_rss("VmPeak:\t 9 kB\nVmHWM:\t    3412 kB\n"), Some(3412 * 1024));
    }

    #[test]
    fn this_process_has_used_some_memory() {
        assert!(Usage::of_self().peak_rss > 0);
    }
}
