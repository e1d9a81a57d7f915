//! What is wrong with a config file, where, and what to do about it.

use super::parse::SyntaxError;
use proto_rns::iface::InterfaceConfigError;
use std::{borrow::Cow, fmt};

/// One mistake.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The line, from 1; 0 where it is about the whole file.
    pub line: usize,
    /// The section, the names of those around it first: `interfaces > Home`. Empty outside of all sections.
    pub section: String,
    /// The key, where it is about one.
    pub key: Option<String>,
    /// What is wrong.
    pub problem: Problem,
}

/// How bad a mistake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something written has no effect.
    Warning,
    /// A setting has its default instead, or an interface is not started.
    Error,
}

/// What is wrong at some place of a config file.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The line is not understood.
    Syntax(SyntaxError),
    /// The file is too long to be a config file.
    TooLong,
    /// A section that does not exist.
    UnknownSection {
        /// One that does, and has a similar name.
        nearest: Option<&'static str>,
    },
    /// A key that does not exist, at least not there.
    UnknownKey {
        /// One that does, and has a similar name.
        nearest: Option<&'static str>,
    },
    /// A value that the key cannot have.
    Value {
        /// The value.
        value: String,
        /// What it should be.
        expected: Cow<'static, str>,
    },
    /// A key is missing.
    Missing {
        /// What it is for.
        purpose: &'static str,
    },
    /// Two keys that mean the same have different values.
    Contradiction {
        /// The other key.
        other: &'static str,
    },
    /// A kind of interface that does not exist.
    UnknownType {
        /// The kind.
        value: String,
        /// One that does exist, and has a similar name.
        nearest: Option<&'static str>,
    },
    /// A kind of interface that the reference has, but this program has not.
    UnsupportedType {
        /// The kind.
        value: String,
    },
    /// A host name that cannot be resolved.
    UnknownHost {
        /// The name.
        host: String,
    },
    /// A network device that is not there, or has no suitable address.
    UnknownDevice {
        /// The device's name.
        device: String,
    },
    /// A setting that the reference has, but this program does not act on.
    NoEffect,
    /// Values that do not go together.
    Interface(InterfaceConfigError),
}

/// The kinds of interface that this program has.
pub const INTERFACE_TYPES: [&str; 7] = [
    "TCPClientInterface",
    "TCPServerInterface",
    "BackboneInterface",
    "BackboneClientInterface",
    "UDPInterface",
    "PipeInterface",
    "SerialInterface",
];

impl Diagnostic {
    /// Says how bad it is.
    pub const fn severity(&self) -> Severity {
        match self.problem {
            Problem::UnknownSection { .. } | Problem::UnknownKey { .. } | Problem::NoEffect => {
                Severity::Warning
            }
            Problem::Syntax(_)
            | Problem::TooLong
            | Problem::Value { .. }
            | Problem::Missing { .. }
            | Problem::Contradiction { .. }
            | Problem::UnknownType { .. }
            | Problem::UnsupportedType { .. }
            | Problem::UnknownHost { .. }
            | Problem::UnknownDevice { .. }
            | Problem::Interface(_) => Severity::Error,
        }
    }

    /// Says what to do.
    pub fn remedy(&self) -> String {
        let key = self.key.as_deref().unwrap_or("the key");
        match &self.problem {
            Problem::Syntax(SyntaxError::Quote | SyntaxError::BehindQuote) => {
                "put quotes around the whole value, of the kind that it does not contain".into()
            }
            Problem::Syntax(SyntaxError::EmptyItem) => "take a comma away".into(),
            Problem::Syntax(SyntaxError::SecondKey { .. }) => "keep one of the two lines".into(),
            Problem::Syntax(SyntaxError::SecondSection { .. }) => {
                "give it another name, or move its lines to the first one".into()
            }
            Problem::Syntax(SyntaxError::Line | SyntaxError::Heading | SyntaxError::Depth) => {
                "write [section], [[interface name]], or key = value; put # in front of a remark".into()
            }
            Problem::TooLong => "check that it is the right file".into(),
            Problem::UnknownSection { nearest: Some(nearest) } => format!("did you mean [{nearest}]?"),
            Problem::UnknownSection { nearest: None } => {
                "take it away, or write an interface as [[name]] into [interfaces]".into()
            }
            Problem::UnknownKey { nearest: Some(nearest) } => format!("did you mean {nearest}?"),
            Problem::UnknownKey { nearest: None } | Problem::NoEffect => "take the line away".into(),
            Problem::Value { expected, .. } => format!("write {expected}"),
            Problem::Missing { .. } => format!("add a line {key} = .."),
            Problem::Contradiction { other } => format!("keep either {key} or {other}"),
            Problem::UnknownType { nearest: Some(nearest), .. } => format!("did you mean {nearest}?"),
            Problem::UnknownType { nearest: None, .. } | Problem::UnsupportedType { .. } => {
                format!("use one of {}, or set enabled = no", INTERFACE_TYPES.join(", "))
            }
            Problem::UnknownHost { .. } => "check the name, or write an address".into(),
            Problem::UnknownDevice { .. } => "check the device's name, or write listen_ip instead".into(),
            Problem::Interface(_) => "change one of the values".into(),
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        if !self.section.is_empty() {
            write!(f, "[{}] ", self.section)?;
        }
        if let Some(key) = &self.key {
            write!(f, "{key}: ")?;
        }
        write!(f, "{}; {}", self.problem, self.remedy())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(f),
            Self::TooLong => write!(f, "the file is longer than {} bytes", super::MAX_LEN),
            Self::UnknownSection { .. } => f.write_str("there is no such section"),
            Self::UnknownKey { .. } => f.write_str("there is no such key here"),
            Self::Value { value, expected } => write!(f, "{value:?} is not {expected}"),
            Self::Missing { purpose } => write!(f, "missing; it says {purpose}"),
            Self::Contradiction { other } => write!(f, "means the same as {other}, but has another value"),
            Self::UnknownType { value, .. } => write!(f, "there is no interface of type {value:?}"),
            Self::UnsupportedType { value } => write!(f, "this program has no {value}"),
            Self::UnknownHost { host } => write!(f, "there is no host {host:?}"),
            Self::UnknownDevice { device } => {
                write!(f, "there is no device {device:?} with a suitable address")
            }
            Self::NoEffect => f.write_str("this program does not act on it"),
            Self::Interface(error) => error.fmt(f),
        }
    }
}
