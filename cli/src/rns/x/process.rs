//! Running a command.

use std::{
    process::{ExitStatus, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use super::protocol::{Order, Outcome};

/// Runs a command to its end, or until its time is over. Dropping the future kills it.
///
/// Of what it writes the first 16 MiB of each stream are kept, and the rest is counted.
pub(super) async fn run(order: &Order) -> Outcome {
    let started = unix_seconds();
    let failed = Outcome { started, ..Outcome::default() };
    let words = shell_words::split(&order.command).unwrap_or_default();
    let Some((program, arguments)) = words.split_first() else { return failed };
    let stdin = if order.stdin.is_some() { Stdio::piped() } else { Stdio::null() };
    let spawned = Command::new(program)
        .args(arguments)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn();
    let Ok(mut child) = spawned else { return failed };
    let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return failed;
    };
    let writing = tokio::spawn(feed(child.stdin.take(), order.stdin.clone().unwrap_or_default()));
    let mut out = Captured::up_to(order.stdout_limit);
    let mut err = Captured::up_to(order.stderr_limit);
    let running = async {
        // Both at once: a command that nobody reads from never ends.
        tokio::select! {
            status = child.wait() => status.ok(),
            () = read_both(&mut out, &mut stdout, &mut err, &mut stderr) => child.wait().await.ok(),
        }
    };
    let ended = timeout(order.timeout.unwrap_or(LONGEST), running).await.ok().flatten();
    let concluded = ended.map(|_| unix_seconds());
    let status = match ended {
        Some(status) => Some(status),
        None => killed(&mut child).await,
    };
    // Its own children may keep the streams open; what it wrote itself is there already.
    let _ = timeout(LEFTOVERS, read_both(&mut out, &mut stdout, &mut err, &mut stderr)).await;
    writing.abort();
    Outcome {
        ran: true,
        code: status.and_then(code),
        stdout_len: out.len,
        stderr_len: err.len,
        stdout: out.kept,
        stderr: err.kept,
        started,
        concluded,
    }
}

async fn killed(child: &mut Child) -> Option<ExitStatus> {
    // It may have ended in this moment.
    let _ = child.start_kill();
    child.wait().await.ok()
}

async fn read_both(
    out: &mut Captured,
    stdout: &mut ChildStdout,
    err: &mut Captured,
    stderr: &mut ChildStderr,
) {
    tokio::join!(out.read(stdout), err.read(stderr));
}

async fn feed(stdin: Option<ChildStdin>, input: Vec<u8>) {
    if let Some(mut stdin) = stdin {
        // A command need not read to the end.
        let _ = stdin.write_all(&input).await;
    }
}

/// What a command wrote to one of its streams.
#[derive(Debug)]
struct Captured {
    kept: Vec<u8>,
    limit: usize,
    len: u64,
    is_over: bool,
}

impl Captured {
    fn up_to(limit: Option<u64>) -> Self {
        let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(MOST_KEPT).min(MOST_KEPT);
        Self { kept: Vec::new(), limit, len: 0, is_over: false }
    }

    /// Reads to the end. Cancel-safe.
    async fn read(&mut self, stream: &mut (impl AsyncRead + Unpin)) {
        let mut buffer = [0; 8_192];
        while !self.is_over {
            let read = stream.read(&mut buffer).await.unwrap_or_default();
            let bytes = buffer.get(..read).unwrap_or_default();
            let room = self.limit.saturating_sub(self.kept.len()).min(read);
            self.kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
            self.len += read as u64;
            self.is_over = read == 0;
        }
    }
}

/// Returns the exit code; that of a command which a signal ended is the signal's number, negative.
fn code(status: ExitStatus) -> Option<i64> {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        status.code().map(i64::from).or_else(|| status.signal().map(|signal| -i64::from(signal)))
    }
    #[cfg(not(unix))]
    status.code().map(i64::from)
}

fn unix_seconds() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

/// What is kept of a stream; the answer carries no more.
const MOST_KEPT: usize = 16 << 20;
/// How long a command may run that was not told.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// How long the streams of a command that has ended are read.
const LEFTOVERS: Duration = Duration::from_millis(500);

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn order(command: &str) -> Order {
        Order { command: command.into(), timeout: Some(Duration::from_secs(20)), ..Order::default() }
    }

    #[tokio::test]
    async fn a_command_has_its_arguments_without_a_shell() {
        let outcome = run(&order("echo 'a  b' $HOME; x")).await;
        assert_eq!((outcome.ran, outcome.code), (true, Some(0)));
        assert_eq!(outcome.stdout, b"a  b $HOME; x\n");
        assert!(outcome.concluded >= Some(outcome.started));
    }

    #[tokio::test]
    async fn both_streams_are_cut_at_their_limits_and_counted() {
        let order = Order {
            stdout_limit: Some(2),
            stderr_limit: Some(0),
            stdin: Some(b"hello".into()),
            ..order("sh -c 'cat; echo err >&2; exit 3'")
        };
        let outcome = run(&order).await;
        assert_eq!((outcome.code, &outcome.stdout[..], &outcome.stderr[..]), (Some(3), &b"he"[..], &b""[..]));
        assert_eq!((outcome.stdout_len, outcome.stderr_len), (5, 4));
    }

    #[tokio::test]
    async fn a_command_is_killed_when_its_time_is_over() {
        let order =
            Order { timeout: Some(Duration::from_millis(200)), ..order("sh -c 'echo early; sleep 60'") };
        let outcome = timeout(Duration::from_secs(10), run(&order)).await.unwrap();
        assert_eq!((outcome.ran, outcome.code, outcome.concluded), (true, Some(-9), None));
        assert_eq!(outcome.stdout, b"early\n");
    }

    #[tokio::test]
    async fn what_is_no_command_does_not_run() {
        for wrong in ["", "no-such-command-here", "'unclosed"] {
            assert!(!run(&order(wrong)).await.ran, "{wrong}");
        }
    }
}
