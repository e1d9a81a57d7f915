//! Requests and their answers.

use super::{Scenario, known, linked, open_link};
use crate::reticulum::{Allowance, Answer, Content, ReticulumPeer, Waiting as _};

/// What requests do.
pub const ALL: [Scenario; 4] = [are_echoed, get_long_answers, get_files, are_for_some];

/// Requests are answered with what came, whether it fits into a packet or needs a resource.
pub fn are_echoed(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let link = linked(initiator, responder, |spec| spec.answering("/echo", Answer::Echo));
    for body in [Content::random(1, 20), Content::random(2, 100_000), Content::compressible(3, 100_000)] {
        let request = initiator.request(link, "/echo", body);
        let arrived = responder.request_of(request);
        assert_eq!((arrived.link, arrived.path.as_str()), (link, "/echo"));
        assert_eq!(arrived.body, body.fingerprint());
        assert_eq!(arrived.identity, None);
        assert_eq!(initiator.response_to(request).body, body.fingerprint());
    }
}

/// Small requests get answers of any length.
pub fn get_long_answers(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let answers = [
        Content::random(1, 1),
        Content::random(2, 5_000),
        Content::random(3, 1 << 20),
        Content::compressible(4, 1 << 20),
    ];
    let link = linked(initiator, responder, |spec| {
        answers.iter().fold(spec, |spec, answer| spec.answering(&path(*answer), Answer::Content(*answer)))
    });
    for answer in answers {
        let request = initiator.request(link, &path(answer), Content::random(9, 10));
        responder.request_of(request);
        assert_eq!(initiator.response_to(request).body, answer.fingerprint());
    }
}

/// A file is an answer too, and comes with its name.
pub fn get_files(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    for file in [Content::random(1, 10), Content::random(2, 200_000)] {
        let link = linked(initiator, responder, |spec| spec.answering("/file", Answer::File(file)));
        let request = initiator.request(link, "/file", Content::random(9, 10));
        let response = initiator.response_to(request);
        assert_eq!(response.body, file.fingerprint());
        assert_eq!(response.file_name.as_deref(), Some(b"answer".as_slice()));
    }
}

/// A request that only some may make is answered once the initiator has said that it is one of them.
pub fn are_for_some(initiator: &mut dyn ReticulumPeer, responder: &mut dyn ReticulumPeer) {
    let identity = initiator.create_identity();
    let known = known(initiator, responder, |spec| {
        spec.answering_some("/some", Answer::Echo, Allowance::Listed(vec![identity])).answering_some(
            "/none",
            Answer::Echo,
            Allowance::Nobody,
        )
    });
    let link = open_link(initiator, responder, known.destination).link;
    let body = Content::random(1, 10);
    let early = initiator.request(link, "/some", body);
    responder.no_request_of(early);
    initiator.identify(link, identity);
    responder.identified(link);
    let never = initiator.request(link, "/none", body);
    responder.no_request_of(never);
    let request = initiator.request(link, "/some", body);
    assert_eq!(responder.request_of(request).identity, Some(identity));
    assert_eq!(initiator.response_to(request).body, body.fingerprint());
}

fn path(content: Content) -> String {
    format!("/{}", content.seed)
}
