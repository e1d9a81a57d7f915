//! Programs that run to their end.

use std::{
    io::Read,
    process::{Child, Command, Stdio},
    thread::{self, JoinHandle},
    time::Duration,
};

use super::patience::{now, pause};

/// What a program said before it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its exit code, if it was not killed.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Output {
    /// Runs a command to its end.
    ///
    /// # Panics
    /// It cannot be started, or does not end in time.
    pub fn of(command: &mut Command, patience: Duration) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let stdout = read_all(child.stdout.take().expect("piped"));
        let stderr = read_all(child.stderr.take().expect("piped"));
        let code = wait(&mut child, patience);
        let [stdout, stderr] = [stdout, stderr].map(|reader| reader.join().expect("a reader"));
        let output = Self { code: code.flatten(), stdout, stderr };
        assert!(code.is_some(), "{command:?} did not end; it said {output:#?}");
        output
    }

    /// Checks that the program succeeded.
    ///
    /// # Panics
    /// It did not.
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }
}

/// Waits for the end of a program, which is killed when it takes too long.
fn wait(child: &mut Child, patience: Duration) -> Option<Option<i32>> {
    let deadline = now() + patience;
    while now() < deadline {
        if let Some(status) = child.try_wait().expect("a child") {
            return Some(status.code());
        }
        pause(Duration::from_millis(10));
    }
    // An error means that it has ended after all.
    drop(child.kill());
    drop(child.wait());
    None
}

fn read_all(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is worth showing.
        drop(from.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
