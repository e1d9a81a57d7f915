//! What goes over the wire: a command and its result.

use proto_rns::{
    dest::DestinationName,
    wire::msgpack::{Reader, Shape, ShapeError, Value, Writer},
};
use std::time::Duration;

/// The name of the utility, for its files.
pub(super) const UTILITY: &str = "rnx";

/// The path of requests.
pub(super) const COMMAND: &str = "command";

/// Returns the name of the destination that runs commands.
pub(super) fn name() -> DestinationName {
    DestinationName::new("rnx", &["execute"]).unwrap_or_else(|_| unreachable!("the name has no dots"))
}

/// A command that is to be run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Order {
    /// The command and its arguments.
    pub(super) command: String,
    /// How long it may run.
    pub(super) timeout: Option<Duration>,
    /// The most bytes of standard output to return.
    pub(super) stdout_limit: Option<u64>,
    /// The most bytes of standard error to return.
    pub(super) stderr_limit: Option<u64>,
    /// What it reads.
    pub(super) stdin: Option<Vec<u8>>,
}

/// What became of a command.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// Whether it could be run at all.
    pub(super) ran: bool,
    /// Its exit code; a signal that ended it is negative.
    pub(super) code: Option<i64>,
    /// The beginning of its standard output.
    pub(super) stdout: Vec<u8>,
    /// The beginning of its standard error.
    pub(super) stderr: Vec<u8>,
    /// How many bytes it wrote to standard output.
    pub(super) stdout_len: u64,
    /// How many bytes it wrote to standard error.
    pub(super) stderr_len: u64,
    /// When it began, in UNIX seconds.
    pub(super) started: f64,
    /// When it ended by itself.
    pub(super) concluded: Option<f64>,
}

impl Order {
    /// Writes the order.
    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut order = Vec::new();
        let mut writer = Writer::new(&mut order);
        writer.array(5).bytes(self.command.as_bytes());
        match self.timeout {
            Some(timeout) => writer.float(timeout.as_secs_f64()),
            None => writer.nil(),
        };
        for limit in [self.stdout_limit, self.stderr_limit] {
            match limit {
                Some(limit) => writer.unsigned(limit),
                None => writer.nil(),
            };
        }
        writer.optional_bytes(self.stdin.as_deref());
        order
    }

    /// Reads an order. Fields that are missing or of another kind are as if they were nil.
    ///
    /// # Errors
    /// There is no command.
    pub(super) fn parse(order: &[u8]) -> Result<Self, ShapeError> {
        let Value::Array(fields) = Value::parse(order)? else { return Err(ShapeError::Unexpected) };
        let field = |at: usize| fields.get(at);
        let command = field(0).and_then(bytes).ok_or(ShapeError::Unexpected)?;
        let command = String::from_utf8(command).map_err(|_| ShapeError::Unexpected)?;
        let seconds = field(1).and_then(number);
        Ok(Self {
            command,
            timeout: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            stdout_limit: field(2).and_then(limit),
            stderr_limit: field(3).and_then(limit),
            stdin: field(4).and_then(bytes),
        })
    }
}

impl Outcome {
    /// Writes the outcome.
    pub(super) fn to_vec(&self) -> Vec<u8> {
        let mut outcome = Vec::new();
        let mut writer = Writer::new(&mut outcome);
        writer.array(8).bool(self.ran);
        match self.code {
            Some(code) => writer.integer(code),
            None => writer.nil(),
        };
        if self.ran {
            writer.bytes(&self.stdout).bytes(&self.stderr);
            writer.unsigned(self.stdout_len).unsigned(self.stderr_len);
        } else {
            writer.nil().nil().nil().nil();
        }
        writer.float(self.started);
        match self.concluded {
            Some(concluded) => writer.float(concluded),
            None => writer.nil(),
        };
        outcome
    }

    /// Reads an outcome.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn parse(outcome: &[u8]) -> Result<Self, ShapeError> {
        let mut reader = Reader::new(outcome);
        if reader.array_len()? < 8 {
            return Err(ShapeError::Unexpected);
        }
        let ran = reader.bool()?;
        let code = match reader.shape()? {
            Shape::Unsigned(code) => i64::try_from(code).ok(),
            Shape::Negative(code) => Some(code),
            Shape::Nil
            | Shape::Bool(_)
            | Shape::Float(_)
            | Shape::Bytes(_)
            | Shape::Text(_)
            | Shape::Array(_)
            | Shape::Map(_) => None,
        };
        let [stdout, stderr] = [reader.optional_bytes()?, reader.optional_bytes()?].map(Option::unwrap_or_default);
        let mut len = || -> Result<u64, ShapeError> {
            Ok(match reader.shape()? {
                Shape::Unsigned(len) => len,
                _ => 0,
            })
        };
        let (stdout_len, stderr_len) = (len()?, len()?);
        let started = Value::read(&mut reader).ok().as_ref().and_then(number).unwrap_or_default();
        let concluded = Value::read(&mut reader).ok().as_ref().and_then(number);
        let (stdout, stderr) = (stdout.to_vec(), stderr.to_vec());
        Ok(Self { ran, code, stdout, stderr, stdout_len, stderr_len, started, concluded })
    }
}
