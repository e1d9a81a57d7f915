//! The connection's requests for links.

use alloc::collections::VecDeque;
use proto_core::{LinkId, LinkRequest, LinkSpec};

/// Numbers the links, and keeps the requests until the driver takes them.
#[derive(Debug, Default)]
pub(super) struct Links {
    next: u32,
    requests: VecDeque<LinkRequest>,
}

impl Links {
    /// Asks for a link. A number comes back only after two thousand million others, long after its link is gone.
    pub(super) fn open(&mut self, spec: LinkSpec) -> LinkId {
        let link = LinkId(self.next);
        self.next = (self.next + 1) % LinkId::FIRST_ACCEPTED.0;
        self.requests.push_back(LinkRequest::Open { link, spec });
        link
    }

    pub(super) fn close(&mut self, link: LinkId) {
        self.requests.push_back(LinkRequest::Close { link });
    }

    pub(super) fn poll(&mut self) -> Option<LinkRequest> {
        self.requests.pop_front()
    }
}
