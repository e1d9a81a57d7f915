//! A request on its way, and its answer as it comes in parts.

use proto_conn::{Flags, Kind, Message, Url, client::Event};
use runtime_blocking::conn::Connection;

use super::sink::Sink;
use crate::{
    conn::{fault, trace::Trace},
    failure::Failure,
};

/// Sends a request and hands its answer to `sink`. Returns the status.
///
/// # Errors
/// There is no whole answer, or it could not be written.
pub(super) fn run(
    conn: &mut Connection,
    url: &Url,
    request: Message,
    trace: &mut Trace,
    sink: &mut Sink,
) -> Result<u16, Failure> {
    conn.send(request).map_err(|error| fault::of(url, &error))?;
    let mut status = 0;
    loop {
        let Some(event) = conn.event(None).map_err(|error| fault::of(url, &error))? else { continue };
        match event {
            Event::State(state) => trace.state(conn, state),
            Event::Message(message) if message.kind == Kind::Informational => trace.response(&message),
            Event::Message(message) => {
                trace.response(&message);
                status = message.status;
                sink.head(&message)?;
                if !message.flags.has(Flags::STREAMED) {
                    sink.part(&message.body)?;
                    return Ok(status);
                }
            }
            Event::Part(part) => sink.part(&part)?,
            Event::End(trailers) => {
                trace.trailers(&trailers);
                return Ok(status);
            }
            Event::Reconnecting { after, attempt, error } => {
                trace.note(format_args!("{}; attempt {attempt} again in {after:?}", fault::reason(&error)));
            }
            Event::Failed { error, .. } => return Err(fault::of(url, &error)),
            Event::Closed(closed) => {
                let error = closed.error.unwrap_or_else(|| {
                    proto_conn::Error::new(proto_conn::Code::ClosedEarly, proto_conn::Phase::Receive)
                });
                return Err(fault::of(url, &error));
            }
            Event::Writable => {}
        }
    }
}
