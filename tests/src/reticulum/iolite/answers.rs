//! Answers to requests.
//!
//! They leave a moment after the request came. The reference sends a request first and then makes a note of it: an
//! answer that is faster than that, which takes a near peer some 100 µs, is dropped as one that nobody waits for, and the
//! request fails. A real application takes longer to answer.

use bytes::Bytes;
use proto_rns::{Env, LinkHash, RequestId, link, node::Node, wire::msgpack::Writer};
use runtime_core::Handle;
use std::time::Duration;

use super::desk::Desk;
use crate::reticulum::Answer;

/// An answer that a peer waits for.
#[derive(Debug)]
pub(super) struct Owed {
    /// Where it waits.
    pub(super) link: LinkHash,
    /// What for.
    pub(super) request: RequestId,
    /// What came with the request.
    pub(super) data: Bytes,
    /// What it gets.
    pub(super) answer: Answer,
}

impl Owed {
    /// Sends the answer after a moment.
    pub(super) async fn send(self, handle: Handle<Node, Desk>) {
        tokio::time::sleep(MOMENT).await;
        // A link that has closed since carries no answer.
        handle.with(|node, _, now| {
            let _ = node.with_link(now, self.link, |link, env, out| self.send_on(link, env, out));
        });
    }

    fn send_on(
        self,
        link: &mut link::Link,
        env: &mut Env<'_>,
        out: &mut dyn link::PacketSink,
    ) -> Result<(), link::RequestError> {
        match self.answer {
            Answer::Echo => link.respond(env, self.request, &self.data, out),
            Answer::Content(content) => {
                let mut value = Vec::new();
                Writer::new(&mut value).bytes(&content.bytes());
                link.respond(env, self.request, &value, out)
            }
            Answer::File(content) => {
                let mut metadata = Vec::new();
                Writer::new(&mut metadata).map(1).str("name").bytes(b"answer");
                link.respond_with_file(env, self.request, content.bytes().into(), metadata, out)
            }
        }
    }
}

/// How long an answer takes.
const MOMENT: Duration = Duration::from_millis(5);
