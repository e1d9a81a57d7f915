//! What users of other clients reported, as far as it needs both sides and a network; the numbers are the
//! specification's.

#![allow(clippy::panic, reason = "a test fails by panicking")]

mod support;
mod tls_support;

use proto_conn::{
    Code, Flags, Message, Method,
    client::{Options, Reconnect, State},
    server::PeerId,
};
use support::{SECOND, Stage, closed, echo, failures, messages};

fn only_peer(stage: &mut Stage) -> PeerId {
    let peers: Vec<PeerId> = stage.net.node_mut(stage.server).machine.server().peer_ids().collect();
    let [peer] = peers[..] else { panic!("{} peers", peers.len()) };
    peer
}

/// A connection that has served one exchange, and is reset as the next request is under way.
fn second_request_meets_a_reset(method: Method) -> Vec<proto_conn::client::Event> {
    let mut stage = Stage::new("http");
    stage.ask(Message::get());
    assert_eq!(messages(&stage.serve(SECOND, echo)).len(), 1);
    let peer = only_peer(&mut stage);
    stage.ask(Message::request(method, "/", "body"));
    stage.net.reset_stream(stage.server, peer.0);
    stage.serve(8 * SECOND, echo)
}

#[test]
fn report_3_a_get_on_a_connection_that_is_being_closed_is_sent_once_more() {
    let told = second_request_meets_a_reset(Method::Get);
    let [answer] = messages(&told)[..] else { panic!("{told:?}") };
    assert!(answer.status == 200 && answer.flags.has(Flags::FROM_RETRY));
    assert_eq!(failures(&told).len(), 0);
}

#[test]
fn report_3_a_post_on_a_connection_that_is_being_closed_is_not_sent_again_by_itself() {
    let told = second_request_meets_a_reset(Method::Post);
    assert_eq!(messages(&told).len(), 0);
    let [error] = failures(&told)[..] else { panic!("{told:?}") };
    assert!(error.code.is_transient(), "{error}");
}

#[test]
fn report_7_after_a_timeout_the_connection_is_not_used_again() {
    let impatient = |options: &mut Options| options.http.timeouts.first_byte = SECOND;
    let mut stage = Stage::with("http", "/", impatient, |_| {});
    stage.ask(Message::request(Method::Get, "/late", ""));
    let mut late = None;
    for _ in 0..30 {
        stage.run(SECOND / 10);
        for tale in stage.tales_of_server() {
            if let proto_conn::server::Event::Request { peer, .. } = tale {
                late = Some(peer);
            }
        }
    }
    assert_eq!(failures(&stage.told())[0].code, Code::FirstByteTimeout);
    // The late answer must not become that of the next request.
    let late = late.unwrap();
    let _ = stage.net.command(stage.server, |party, now| {
        party.server().respond(now, late, &Message::response(200, "late"), proto_conn::http::BodyKind::Whole)
    });
    stage.ask(Message::request(Method::Post, "/", "in time"));
    let told = stage.serve(4 * SECOND, echo);
    assert_eq!(messages(&told)[0].body.as_str(), Some("in time"));
}

#[test]
fn report_8_the_total_deadline_holds_over_redirects() {
    let bounded = |options: &mut Options| {
        options.timeouts.total = Some(3 * SECOND);
        options.max_redirects = 255;
    };
    let mut stage = Stage::with("http", "/", bounded, |_| {});
    stage.ask(Message::get());
    // Each step of the serving takes a 50th of a second or more, so there is never an end.
    let told =
        stage.serve(10 * SECOND, |_| Message::response(302, "").with_header("Location", "/on").unwrap());
    let [error] = failures(&told)[..] else { panic!("{told:?}") };
    assert!([Code::TotalTimeout, Code::TooManyRedirects].contains(&error.code), "{error}");
}

#[test]
fn report_22_a_peer_that_never_answers_a_close_costs_the_deadline_only() {
    let mut stage = Stage::new("ws");
    stage.ask(Message::text("here"));
    stage.serve(SECOND, echo);
    stage.net.partition(stage.client, stage.server);
    stage.net.command(stage.client, |party, now| party.client().close(now, 1000, "bye")).unwrap();
    let told = stage.serve(2 * SECOND, echo);
    let ended = closed(&told).unwrap_or_else(|| panic!("{told:?}"));
    assert_eq!((ended.code, ended.is_clean), (1006, false));
    assert_eq!(ended.error.as_ref().map(|error| error.code), Some(Code::CloseTimeout));
}

#[test]
fn report_25_a_hundred_reconnects_leave_no_timer_behind() {
    let reconnecting = |options: &mut Options| {
        options.reconnect = Some(Reconnect { healthy_after: SECOND / 2, ..Reconnect::default() });
        options.ws.keepalive = Some(proto_conn::ws::Keepalive::default());
    };
    let mut stage = Stage::with("ws", "/", reconnecting, |_| {});
    stage.ask(Message::text("first"));
    stage.serve(SECOND, echo);
    for round in 0..100 {
        let peer = only_peer(&mut stage);
        stage.net.reset_stream(stage.server, peer.0);
        stage.serve(SECOND, echo);
        assert_eq!(stage.state(), State::Open, "{round}");
    }
    stage.ask(Message::text("last"));
    let told = stage.serve(60 * SECOND, echo);
    assert_eq!(messages(&told)[0].body.as_str(), Some("last"));
    assert_eq!((failures(&told).len(), stage.state()), (0, State::Open));
}
