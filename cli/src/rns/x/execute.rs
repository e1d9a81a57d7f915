//! Having another node run a command.

use proto_rns::{
    DestinationHash,
    identity::Identity,
    link::{LinkConfig, RequestFailure},
};
use runtime_tokio::rns::{Link, RequestFailed, RnsNode};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt as _, BufReader, stdin};

use super::{
    X,
    protocol::{self, Order, Outcome},
    show,
};
use crate::{
    failure::Failure,
    output::{self, progress::Progress},
    rns::{attach::attach, call},
};

/// Has `destination` run the command, or those on standard input.
///
/// # Errors
/// The other node is not reached or does not answer, or cannot run the command; or its exit code is to be this
/// program's.
pub(super) async fn run(
    options: &X,
    destination: DestinationHash,
    identity: &Identity,
) -> Result<(), Failure> {
    let progress = options.progress("connecting");
    let node = attach(options.config.as_deref()).await?;
    let mut caller = Caller { options, node, destination, identity, link: None, progress };
    let mut outcome = None;
    if let Some(command) = &options.command {
        outcome = Some(caller.execute(command).await?);
    }
    if options.interactive {
        caller.converse().await?;
    }
    caller.node.shutdown().await;
    match outcome {
        Some(outcome) if options.mirror && !options.interactive => mirror(&outcome),
        Some(outcome) if !outcome.ran => Err(Failure::check("the other node could not run the command")),
        Some(_) | None => Ok(()),
    }
}

/// This end of the conversation with one node.
struct Caller<'a> {
    options: &'a X,
    node: RnsNode,
    destination: DestinationHash,
    identity: &'a Identity,
    link: Option<Link>,
    progress: Progress,
}

impl Caller<'_> {
    /// Has commands run until the user has had enough. Links that close are opened again.
    async fn converse(&mut self) -> Result<(), Failure> {
        let mut lines = BufReader::new(stdin()).lines();
        loop {
            show::prompt()?;
            let line = lines.next_line().await;
            let line =
                line.map_err(|error| Failure::file(format_args!("cannot read standard input: {error}")))?;
            match line.as_deref().map(str::trim) {
                None | Some("exit" | "quit") => return Ok(()),
                Some("") => {}
                Some(command) => {
                    self.progress = self.options.progress("connecting");
                    if let Err(failure) = self.execute(command).await {
                        self.progress.finish();
                        output::note(failure.what());
                    }
                }
            }
        }
    }

    /// Has one command run, and shows what came of it.
    async fn execute(&mut self, command: &str) -> Result<Outcome, Failure> {
        let order = Order {
            command: command.into(),
            timeout: Some(self.options.wait),
            stdout_limit: self.options.stdout,
            stderr_limit: self.options.stderr,
            stdin: self.options.stdin.clone().map(String::into_bytes),
        };
        let link = self.open().await?;
        self.progress.describe("waiting for the result");
        let start = Instant::now();
        let patience = self.options.wait + ON_THE_WAY;
        let order = order.to_vec();
        let answer = link.request_with(protocol::COMMAND, &order, Some(patience), None);
        let longest = self.options.result_wait.map_or(Duration::MAX, |wait| patience + wait);
        let answer = tokio::time::timeout(longest, answer).await;
        let answer = match answer {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(self.unanswered(&error)),
            Err(_) => {
                return Err(Failure::network("the result did not arrive in time").advise("-W gives it more"));
            }
        };
        self.progress.finish();
        let outcome = Outcome::parse(&answer.data).map_err(|error| {
            Failure::network(format_args!("{} answers with something else: {error}", self.destination))
        })?;
        show::outcome(self.options, &outcome, answer.data.len() as u64, start.elapsed())?;
        Ok(outcome)
    }

    async fn open(&mut self) -> Result<Link, Failure> {
        if let Some(link) = self.link.as_ref().filter(|link| link.stats().is_some()) {
            return Ok(link.clone());
        }
        let (config, wait) = (LinkConfig::default(), self.options.wait);
        let link = call::open_link(&self.node, self.destination, &config, wait, &self.progress).await?;
        if !self.options.noid {
            call::identify(&link, self.identity)?;
        }
        Ok(self.link.insert(link).clone())
    }

    fn unanswered(&self, error: &RequestFailed) -> Failure {
        let failure = Failure::network(format_args!("{} does not answer: {error}", self.destination));
        match error {
            RequestFailed::Closed(_)
            | RequestFailed::Failed(RequestFailure::LinkClosed | RequestFailure::Timeout) => {
                failure.advise("its listener must allow this identity; see iolite rns x -p")
            }
            RequestFailed::Failed(_) | RequestFailed::Refused(_) | _ => failure,
        }
    }
}

/// Ends as the command did. One that a signal ended has the signal's number, negative, as its code.
fn mirror(outcome: &Outcome) -> Result<(), Failure> {
    match outcome.code {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::silent(low_byte(code))),
        None if outcome.ran => Err(Failure::check("the command has no exit code")),
        None => Err(Failure::check("the other node could not run the command")),
    }
}

/// Returns what the operating system keeps of an exit code.
const fn low_byte(code: i64) -> u8 {
    code.to_le_bytes()[0]
}

/// What order and result may take on their way.
const ON_THE_WAY: Duration = Duration::from_secs(10);
