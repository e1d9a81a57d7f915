//! What goes over the wire: a command and its result.

use proto_rns::{
    dest::DestinationName,
    wire::msgpack::{ShapeError, Value, Writer},
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
        let Value::Array(fields) = Value::parse(order)? else { return Err(ShapeError::WrongKind) };
        let field = |at: usize| fields.get(at);
        let command = field(0).and_then(bytes).ok_or(ShapeError::WrongKind)?;
        let command = String::from_utf8(command).map_err(|_| ShapeError::WrongKind)?;
        let seconds = field(1).and_then(number);
        Ok(Self {
            command,
            timeout: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            stdout_limit: field(2).and_then(unsigned),
            stderr_limit: field(3).and_then(unsigned),
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

    /// Reads an outcome. Fields of another kind are as if they were nil.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn parse(outcome: &[u8]) -> Result<Self, ShapeError> {
        let Value::Array(fields) = Value::parse(outcome)? else { return Err(ShapeError::WrongKind) };
        let field = |at: usize| fields.get(at);
        let Some(Value::Bool(ran)) = field(0) else { return Err(ShapeError::WrongKind) };
        Ok(Self {
            ran: *ran,
            code: field(1).and_then(integer),
            stdout: field(2).and_then(bytes).unwrap_or_default(),
            stderr: field(3).and_then(bytes).unwrap_or_default(),
            stdout_len: field(4).and_then(unsigned).unwrap_or_default(),
            stderr_len: field(5).and_then(unsigned).unwrap_or_default(),
            started: field(6).and_then(number).unwrap_or_default(),
            concluded: field(7).and_then(number),
        })
    }
}

fn bytes(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::Bytes(bytes) => Some(bytes.clone()),
        Value::Text(text) => Some(text.clone().into_bytes()),
        Value::Nil
        | Value::Bool(_)
        | Value::Unsigned(_)
        | Value::Negative(_)
        | Value::Float(_)
        | Value::Array(_)
        | Value::Map(_) => None,
    }
}

fn unsigned(value: &Value) -> Option<u64> {
    if let Value::Unsigned(number) = value { Some(*number) } else { None }
}

fn integer(value: &Value) -> Option<i64> {
    if let Value::Negative(number) = value { Some(*number) } else { i64::try_from(unsigned(value)?).ok() }
}

#[allow(clippy::cast_precision_loss, reason = "times in seconds are far below where that matters")]
fn number(value: &Value) -> Option<f64> {
    if let Value::Float(number) = value { Some(*number) } else { integer(value).map(|number| number as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_outcomes_read_back_as_they_were_written() {
        let orders = [
            Order { command: "uname -a".into(), ..Order::default() },
            Order {
                command: "cat".into(),
                timeout: Some(Duration::from_millis(1_500)),
                stdout_limit: Some(0),
                stderr_limit: Some(70_000),
                stdin: Some(b"\xff".into()),
            },
        ];
        for order in orders {
            assert_eq!(Order::parse(&order.to_vec()), Ok(order));
        }
        let outcomes = [
            Outcome { started: 7.5, ..Outcome::default() },
            Outcome {
                ran: true,
                code: Some(-9),
                stdout: b"out".into(),
                stderr: Vec::new(),
                stdout_len: 300,
                stderr_len: 1,
                started: 1.0,
                concluded: Some(2.0),
            },
        ];
        for outcome in outcomes {
            assert_eq!(Outcome::parse(&outcome.to_vec()), Ok(outcome));
        }
    }

    #[test]
    fn what_is_no_order_is_refused() {
        assert_eq!(Order::parse(&[0x90]), Err(ShapeError::WrongKind));
        assert_eq!(Order::parse(&[0x91, 7]), Err(ShapeError::WrongKind));
        assert_eq!(Order::parse(&[0xc0]), Err(ShapeError::WrongKind));
        assert!(Order::parse(&[0x91, 0xa1, b'x']).is_ok(), "what is missing is nil");
        assert!(Outcome::parse(&[0x91, 1]).is_err());
        // A time that no clock can count.
        let endless = [0x92, 0xa1, b'x', 0xcb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0];
        assert_eq!(Order::parse(&endless).map(|order| order.timeout), Ok(None));
    }
}
