//! Options of every client.

use clap::Args;
use proto_conn::{Scheme, Url, client::Options};
use runtime_blocking::{ReceiveMode, conn::Connection};
use std::time::Duration;

use super::{fault, trace::Trace, values};
use crate::{args::values::time, failure::Failure};

/// What is to be seen, how long it may take, and how answers are waited for.
#[derive(Clone, Debug, Args)]
pub(super) struct Common {
    /// Show phases with their times and the heads of messages on standard error.
    #[arg(short, long)]
    verbose: bool,

    /// How long everything together may take.
    #[arg(short, long, value_name = "TIME", value_parser = time)]
    pub(super) max_time: Option<Duration>,

    /// How to wait for answers: park sleeps, poll never does, spin:TIME looks for so long before it sleeps.
    #[arg(long, value_name = "MODE", value_parser = values::receive_mode, default_value = "park")]
    receive_mode: ReceiveMode,
}

impl Common {
    /// Creates the connection, which opens nothing yet, and what shows its life.
    ///
    /// # Errors
    /// The URL and the options do not fit each other.
    pub(super) fn create(&self, url: &Url, options: Options) -> Result<(Connection, Trace), Failure> {
        let trace = Trace::new(self.verbose, url);
        let created = Connection::open_url(url.clone(), options);
        let mut conn = created.map_err(|error| fault::of(url, &error))?;
        conn.set_receive_mode(self.receive_mode);
        Ok((conn, trace))
    }
}

/// Refuses the URL of another scheme than those that a command is for.
///
/// # Errors
/// It has another one.
pub(super) fn expect_scheme(url: &Url, fits: impl Fn(Scheme) -> bool) -> Result<(), Failure> {
    if fits(url.scheme) {
        return Ok(());
    }
    let command = match url.scheme {
        Scheme::Http | Scheme::Https => "get",
        Scheme::Ws | Scheme::Wss => "ws",
        Scheme::Udp => "udp",
        Scheme::UdpMulticast => "multicast",
    };
    Err(Failure::usage(format_args!("{url} has a scheme that this command is not for"))
        .advise(format_args!("use `iolite conn {command}` for {}", url.scheme)))
}
