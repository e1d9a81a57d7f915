//! `iolite conn get`, `post` and `head`: one request and its answer.

mod exchange;
mod sink;

use clap::Args;
use proto_conn::{Message, Method, Scheme, Url, client::Options};
use std::path::PathBuf;

use super::{
    common::{Common, expect_scheme},
    reach::Reach,
    values,
};
use crate::{commands::aside, failure::Failure, interrupt::Interrupt};

/// Fetches what a URL names and writes it to standard output or a file.
#[derive(Debug, Args)]
#[command(after_help = GET_EXAMPLES)]
pub(crate) struct Get {
    /// What to fetch: http://HOST/PATH, with :PORT behind the host where it is not the usual one, or https://...
    url: Url,

    #[command(flatten)]
    transfer: Transfer,
}

/// Sends data to a URL and writes the answer to standard output or a file.
#[derive(Debug, Args)]
#[command(after_help = POST_EXAMPLES)]
pub(crate) struct Post {
    /// Where to send it: http://HOST/PATH, with :PORT behind the host where it is not the usual one, or https://...
    url: Url,

    /// What to send: the text itself, or the contents of a file with @FILE, of standard input with @-. Its kind is told
    /// with -H 'Content-Type: ...'.
    #[arg(short, long, value_name = "DATA")]
    data: Option<String>,

    /// Use another method, such as PUT, PATCH or DELETE.
    #[arg(short = 'X', long = "request", value_name = "METHOD", default_value = "POST")]
    method: String,

    #[command(flatten)]
    transfer: Transfer,
}

/// Asks for the head of an answer and writes it to standard output.
#[derive(Debug, Args)]
#[command(after_help = HEAD_EXAMPLES)]
pub(crate) struct Head {
    /// What to ask about: http://HOST/PATH, with :PORT behind the host where it is not the usual one, or https://...
    url: Url,

    #[command(flatten)]
    transfer: Transfer,
}

/// How an answer is got and where it goes.
#[derive(Debug, Args)]
struct Transfer {
    /// Follow redirects.
    #[arg(short = 'L', long)]
    location: bool,

    /// How many redirects to follow.
    #[arg(long, value_name = "COUNT", default_value_t = 10, requires = "location")]
    max_redirs: u8,

    /// Write the body to a file, which is there once it is whole. On a terminal a bar shows how far it is.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write the answer's head in front of its body.
    #[arg(short, long)]
    include: bool,

    /// Ask for a compressed body, and unpack it.
    #[arg(long)]
    compressed: bool,

    /// End with exit code 22 when the status is 400 or more.
    #[arg(short, long)]
    fail: bool,

    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    common: Common,
}

/// Runs `iolite conn get`.
///
/// # Errors
/// No whole answer came, or it could not be written.
pub(crate) async fn get(options: Get, interrupt: Interrupt) -> Result<(), Failure> {
    let Get { url, transfer } = options;
    interrupt.or(aside(move || transfer.run(&url, Message::get()))).await
}

/// Runs `iolite conn post`.
///
/// # Errors
/// As for [`get`], and the data cannot be read.
pub(crate) async fn post(options: Post, interrupt: Interrupt) -> Result<(), Failure> {
    let Post { url, data, method, transfer } = options;
    let work = move || {
        let body = data.as_deref().map(values::data).transpose()?.unwrap_or_default();
        transfer.run(&url, Message::request(Method::from_name(&method), "", body))
    };
    interrupt.or(aside(work)).await
}

/// Runs `iolite conn head`.
///
/// # Errors
/// As for [`get`].
pub(crate) async fn head(options: Head, interrupt: Interrupt) -> Result<(), Failure> {
    let Head { url, mut transfer } = options;
    transfer.include = true;
    interrupt.or(aside(move || transfer.run(&url, Message::request(Method::Head, "", "")))).await
}

impl Transfer {
    /// Sends the request and takes in its answer.
    fn run(&self, url: &Url, request: Message) -> Result<(), Failure> {
        expect_scheme(url, Scheme::is_http)?;
        let options = self.options()?;
        let (mut conn, mut trace) = self.common.create(url, options.clone())?;
        trace.request(&request, &options);
        let mut sink = sink::Sink::new(self.output.as_deref(), self.include);
        let status = exchange::run(&mut conn, url, request, &mut trace, &mut sink)?;
        trace.sum_up(sink.finish()?);
        if self.fail && status >= 400 {
            return Err(super::fault::status(url, status));
        }
        Ok(())
    }

    fn options(&self) -> Result<Options, Failure> {
        let mut options = self.reach.options()?;
        options.timeouts.total = self.common.max_time;
        options.keep_alive = false;
        options.max_redirects = if self.location { self.max_redirs } else { 0 };
        options.decode = self.compressed;
        options.stream_responses = true;
        Ok(options)
    }
}

const GET_EXAMPLES: &str = "\
Examples:
  iolite conn get http://192.168.1.7/status
  iolite conn get https://example.org/ -v -L --compressed
  iolite conn get https://robot.local/map.bin -o map.bin --cacert lab.pem
  iolite conn get https://robot.local/ -k --pin 4f9c...e1 --max-time 2s

The exit codes are those of `iolite conn --help`.";

const POST_EXAMPLES: &str = "\
Examples:
  iolite conn post http://192.168.1.7/move -d '{\"x\": 1}' -H 'Content-Type: application/json'
  iolite conn post https://robot.local/firmware -d @image.bin -u admin:secret
  iolite conn post http://192.168.1.7/setting/3 -X PUT -d on

The exit codes are those of `iolite conn --help`.";

const HEAD_EXAMPLES: &str = "\
Examples:
  iolite conn head http://192.168.1.7/map.bin
  iolite conn head https://example.org/ -L -v

The exit codes are those of `iolite conn --help`.";
