//! Clients of others.

use std::{process::Command, time::Duration};

use super::installed;
use crate::peers::Output;

/// A client of others, which runs to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visitor {
    /// `curl`.
    Curl,
    /// `wrk`: a load.
    Wrk,
    /// `h2load`, for HTTP/1.1: a load.
    H2load,
    /// PyPI `requests`.
    Requests,
    /// PyPI `websocket-client`.
    WebsocketClient,
    /// PyPI `websockets`.
    Websockets,
    /// npm `undici`: HTTP and WebSocket.
    Undici,
    /// npm `ws`.
    Ws,
}

impl Visitor {
    /// Returns the name that `IOLITE_SKIP_PEERS` knows it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Curl => "curl",
            Self::Wrk => "wrk",
            Self::H2load => "h2load",
            Self::Requests => "requests",
            Self::WebsocketClient => "websocket-client",
            Self::Websockets => "websockets",
            Self::Undici => "undici",
            Self::Ws => "ws",
        }
    }

    /// Says, and prints, whether its tests are to be left out.
    pub fn is_skipped(self) -> bool {
        installed::is_skipped(self.name())
    }

    /// Runs it, and returns its standard output. The scripts take a URL and the file with the authority's certificate.
    ///
    /// # Panics
    /// It cannot be had, or fails.
    pub fn run(self, args: &[&str]) -> String {
        Output::of(self.command().args(args), LONGEST_VISIT).succeeded().stdout
    }

    fn command(self) -> Command {
        match self {
            Self::Curl => installed::debian("curl", "curl", &[]),
            Self::Wrk => installed::debian("wrk", "wrk", &[]),
            Self::H2load => installed::debian("h2load", "nghttp2-client", &[]),
            Self::Requests | Self::WebsocketClient | Self::Websockets => {
                let mut command = installed::python_script("client.py");
                command.arg(self.name());
                command
            }
            Self::Undici | Self::Ws => {
                let mut command = installed::node_script("client.js");
                command.arg(self.name());
                command
            }
        }
    }
}

/// How long a visit may take on a slow machine that is busy.
const LONGEST_VISIT: Duration = Duration::from_secs(60);
