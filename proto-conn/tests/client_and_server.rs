//! A client and a server, all layers together, on a simulated network.

mod support;
mod tls_support;

use proto_conn::{
    Code, Flags, Kind, Message, Method, Phase,
    client::{Options, State},
};
use support::{SECOND, Stage, closed, echo, failures, messages, numbers, states};

#[test]
fn requests_are_answered_over_http_and_https_whatever_the_chunks() {
    for scheme in ["http", "https"] {
        for max_chunk in [usize::MAX, 1_000, 7] {
            let mut stage = Stage::new(scheme).chunked(max_chunk);
            for len in [0, 1, 64, 20_000] {
                stage.ask(Message::request(Method::Post, "/echo", numbers(len)));
                let told = stage.serve(4 * SECOND, echo);
                let [answer] = messages(&told)[..] else { panic!("{scheme} {max_chunk} {len}: {told:?}") };
                assert_eq!((answer.kind, answer.status), (Kind::Response, 200));
                assert!(answer.body == numbers(len), "{scheme} {max_chunk} {len}");
            }
        }
    }
}

#[test]
fn long_bodies_pass_both_ways() {
    for scheme in ["http", "https"] {
        let mut stage = Stage::new(scheme);
        stage.ask(Message::request(Method::Put, "/", numbers(5 << 20)));
        let told = stage.serve(20 * SECOND, echo);
        let [answer] = messages(&told)[..] else { panic!("{scheme}: {told:?}") };
        assert!(answer.body == numbers(5 << 20), "{scheme}");
    }
}

#[test]
fn one_connection_serves_several_exchanges_and_goes_through_its_states() {
    let mut stage = Stage::new("https");
    stage.ask(Message::get());
    let first = stage.serve(SECOND, echo);
    assert_eq!(states(&first), [State::Resolving, State::Connecting, State::TlsHandshake, State::HttpReady]);
    stage.ask(Message::get());
    stage.ask(Message::get());
    let later = stage.serve(SECOND, echo);
    assert_eq!(states(&later), []);
    assert_eq!(messages(&later).len(), 2);
}

#[test]
fn without_keep_alive_each_exchange_has_a_connection_of_its_own() {
    let mut stage = Stage::with("http", "/", |options| options.keep_alive = false, |_| {});
    for _ in 0..2 {
        stage.ask(Message::get());
        let told = stage.serve(SECOND, echo);
        assert_eq!(messages(&told).len(), 1);
        assert_eq!(states(&told).last(), Some(&State::Idle));
    }
}

#[test]
fn messages_are_echoed_over_ws_and_wss_whatever_the_chunks() {
    for scheme in ["ws", "wss"] {
        for max_chunk in [usize::MAX, 1_000, 3] {
            let mut stage = Stage::new(scheme).chunked(max_chunk);
            for len in [0, 125, 126, 20_000] {
                stage.ask(Message::binary(numbers(len)));
            }
            stage.ask(Message::text("gr\u{fc}\u{df}e"));
            let told = stage.serve(8 * SECOND, echo);
            let got = messages(&told);
            let lens: Vec<usize> = got.iter().map(|message| message.body.len()).collect();
            assert_eq!(lens, [0, 125, 126, 20_000, 7], "{scheme} {max_chunk} {told:?}");
            assert!(got[3].body == numbers(20_000));
            assert_eq!((got[4].kind, got[4].body.as_str()), (Kind::Text, Some("gr\u{fc}\u{df}e")));
        }
    }
}

#[test]
fn a_websocket_is_closed_by_both_sides() {
    let mut stage = Stage::new("wss");
    stage.ask(Message::text("hello"));
    stage.serve(SECOND, echo);
    assert_eq!(stage.state(), State::Open);
    stage.net.command(stage.client, |party, now| party.client().close(now, 1000, "done")).unwrap();
    let told = stage.serve(SECOND, echo);
    let ended = closed(&told).unwrap_or_else(|| panic!("{told:?}"));
    assert_eq!((ended.code, ended.is_clean, &ended.error), (1000, true, &None));
}

#[test]
fn nobody_listening_is_told_with_code_and_phase() {
    let mut stage = Stage::new("http");
    let listener = stage.listener;
    stage.net.command(stage.server, |party, _| party.server().stop(listener));
    stage.ask(Message::get());
    let told = stage.serve(8 * SECOND, echo);
    let [error] = failures(&told)[..] else { panic!("{told:?}") };
    assert_eq!((error.code, error.phase), (Code::ConnectRefused, Phase::Connect));
    assert_eq!(stage.state(), State::Idle);
}

#[test]
fn more_requests_than_may_wait_are_refused_and_room_is_told() {
    let mut stage = Stage::with("http", "/", |options| options.max_waiting = 3, |_| {});
    for _ in 0..3 {
        stage.ask(Message::get());
    }
    assert_eq!(stage.try_send(Message::get()).unwrap_err().code, Code::WouldBlock);
    let told = stage.serve(2 * SECOND, echo);
    assert_eq!(messages(&told).len(), 3);
    assert!(told.iter().any(|event| matches!(event, proto_conn::client::Event::Writable)), "{told:?}");
    stage.ask(Message::get());
}

#[test]
fn more_peers_than_there_may_be_are_closed_and_counted() {
    let mut stage = Stage::with("http", "/", |_| {}, |config| config.max_peers = 1);
    let listener = stage.listener;
    for link in [proto_core::LinkId(1 << 31), proto_core::LinkId((1 << 31) + 1)] {
        let event = proto_core::LinkEvent::Accepted { listener, peer: None };
        stage.net.command(stage.server, |party, now| {
            proto_core::Machine::handle_link(party.server(), now, link, event)
        });
    }
    let server = stage.net.node_mut(stage.server).machine.server();
    assert_eq!((server.peers(), server.refused_peers()), (1, 1));
}

#[test]
fn opening_ahead_of_use_fails_aloud() {
    let mut stage = Stage::new("http");
    let listener = stage.listener;
    stage.net.command(stage.server, |party, _| party.server().stop(listener));
    stage.net.command(stage.client, |party, now| party.client().open(now)).unwrap();
    let told = stage.serve(8 * SECOND, echo);
    let [error] = failures(&told)[..] else { panic!("{told:?}") };
    assert_eq!((error.code, error.phase), (Code::ConnectRefused, Phase::Connect));
}

#[test]
fn a_peer_that_vanishes_in_each_phase_is_told_at_the_deadline_of_that_phase() {
    for (scheme, before, code, phase) in [
        ("http", 0, Code::Unreachable, Phase::Connect),
        ("http", 1, Code::FirstByteTimeout, Phase::FirstByte),
        ("ws", 1, Code::PongTimeout, Phase::Receive),
    ] {
        let keepalive = |options: &mut Options| {
            options.ws.keepalive = Some(proto_conn::ws::Keepalive::default());
        };
        let mut stage = Stage::with(scheme, "/", keepalive, |_| {});
        for _ in 0..before {
            stage.ask(if scheme == "ws" { Message::text("a") } else { Message::get() });
            stage.serve(SECOND, echo);
        }
        stage.net.partition(stage.client, stage.server);
        if scheme == "http" {
            stage.ask(Message::get());
        }
        let told = stage.serve(120 * SECOND, echo);
        let error = failures(&told)[0];
        assert_eq!((error.code, error.phase), (code, phase), "{scheme} {before} {told:?}");
    }
}

#[test]
fn an_idle_connection_that_the_server_closed_is_replaced_without_a_word() {
    let idle = |config: &mut proto_conn::server::Config| config.idle_timeout = SECOND;
    let mut stage = Stage::with("http", "/", |_| {}, idle);
    for _ in 0..3 {
        stage.ask(Message::request(Method::Post, "/", "x"));
        let told = stage.serve(5 * SECOND, echo);
        assert_eq!((messages(&told).len(), failures(&told).len()), (1, 0), "{told:?}");
    }
}

#[test]
fn redirects_are_followed_only_if_asked_for_and_lose_credentials_on_the_way_to_others() {
    let answer = |request: &Message| {
        let response = match request.target.as_str() {
            "/a" => Message::response(302, "").with_header("Location", "/b?c"),
            "/b?c" => Message::response(307, "").with_header("Location", "http://other.test/d"),
            _ => {
                assert!(request.headers.get("authorization").is_none());
                Message::response(200, request.target.clone())
                    .with_header("X-Host", request.headers.get("host").unwrap())
            }
        };
        response.unwrap()
    };
    let request =
        || Message::request(Method::Get, "/a", "").with_header("Authorization", "Basic eDp5").unwrap();

    let mut stage = Stage::new("http");
    stage.ask(request());
    let told = stage.serve(SECOND, answer);
    assert_eq!(messages(&told)[0].status, 302);

    let mut stage = Stage::with("http", "/", |options| options.max_redirects = 5, |_| {});
    let server = stage.server_ip();
    stage.net.set_name("other.test", vec![server]);
    stage.ask(request());
    let told = stage.serve(8 * SECOND, answer);
    let [last] = messages(&told)[..] else { panic!("{told:?}") };
    assert_eq!((last.status, last.body.as_str()), (200, Some("/d")));
    assert_eq!(last.headers.get_str("x-host"), Some("other.test"));
    assert!(last.flags.has(Flags::REDIRECTED));
}

#[test]
fn a_circle_of_redirects_ends() {
    let mut stage = Stage::with("http", "/", |options| options.max_redirects = 3, |_| {});
    stage.ask(Message::get());
    let told = stage.serve(SECOND, |_| Message::response(302, "").with_header("Location", "/").unwrap());
    assert_eq!(failures(&told)[0].code, Code::TooManyRedirects);
}

#[test]
fn redirects_are_followed_when_answers_come_in_parts_too() {
    fn parts(told: &[proto_conn::client::Event]) -> Vec<&str> {
        use proto_conn::client::Event;
        told.iter().filter_map(|it| if let Event::Part(part) = it { part.as_str() } else { None }).collect()
    }
    let in_parts = |options: &mut Options| {
        options.max_redirects = 3;
        options.stream_responses = true;
    };
    let answer = |request: &Message| match request.target.as_str() {
        "/" => Message::response(302, "this way").with_header("Location", "/next").unwrap(),
        "/circle" => Message::response(302, "round").with_header("Location", "/circle").unwrap(),
        target => Message::response(200, target.to_owned()),
    };
    let mut stage = Stage::with("http", "/", in_parts, |_| {});
    stage.ask(Message::get());
    let told = stage.serve(8 * SECOND, answer);
    let [head] = messages(&told)[..] else { panic!("{told:?}") };
    assert_eq!(head.status, 200);
    assert!(head.flags.has(Flags::STREAMED) && head.flags.has(Flags::REDIRECTED), "{told:?}");
    assert_eq!(parts(&told).concat(), "/next", "the redirect's own body is nobody's");

    stage.ask(Message::request(Method::Get, "/circle", ""));
    let told = stage.serve(8 * SECOND, answer);
    assert_eq!(failures(&told)[0].code, Code::TooManyRedirects);
    assert!(parts(&told).is_empty(), "{told:?}");
    stage.ask(Message::request(Method::Get, "/on", ""));
    assert_eq!(messages(&stage.serve(8 * SECOND, answer))[0].status, 200);
}

#[test]
fn a_client_without_the_certificate_that_is_wanted_learns_so() {
    let mut stage =
        Stage::with("https", "/", |_| {}, |config| config.tls = Some(support::suspicious_servers()));
    stage.ask(Message::get());
    let told = stage.serve(4 * SECOND, echo);
    assert_eq!(failures(&told)[0].code, Code::ClientCertRequired, "{told:?}");
}

#[test]
fn a_lost_websocket_comes_back_when_asked_to() {
    let reconnecting =
        |options: &mut Options| options.reconnect = Some(proto_conn::client::Reconnect::default());
    let mut stage = Stage::with("ws", "/", reconnecting, |_| {});
    stage.ask(Message::text("one"));
    assert_eq!(messages(&stage.serve(SECOND, echo)).len(), 1);
    let peers: Vec<_> = stage.net.node_mut(stage.server).machine.server().peer_ids().collect();
    stage.net.reset_stream(stage.server, peers[0].0);
    let told = stage.serve(8 * SECOND, echo);
    assert!(states(&told).contains(&State::Waiting) && stage.state() == State::Open, "{told:?}");
    stage.ask(Message::text("two"));
    assert_eq!(messages(&stage.serve(SECOND, echo))[0].body.as_str(), Some("two"));
}

#[test]
fn a_refused_handshake_hands_the_response_out() {
    let refusing = |config: &mut proto_conn::server::Config| config.accept_websockets = false;
    let mut stage = Stage::with("ws", "/", |_| {}, refusing);
    stage.ask(Message::text("x"));
    let told = stage.serve(SECOND, |_| Message::response(404, "not here"));
    let [response] = messages(&told)[..] else { panic!("{told:?}") };
    assert_eq!((response.status, response.body.as_str()), (404, Some("not here")));
    let ended = closed(&told).unwrap();
    let error = ended.error.as_ref().unwrap();
    assert_eq!((error.code, error.phase, error.status), (Code::UpgradeRefused, Phase::Upgrade, Some(404)));
}

#[test]
fn answers_come_in_parts_when_asked_for_and_the_reader_sets_the_pace() {
    let mut stage = Stage::new("http");
    let mut request = Message::get();
    request.flags = Flags::ANSWER_IN_PARTS;
    stage.ask(request);
    let told = stage.serve(8 * SECOND, |_| Message::response(200, numbers(3 << 20)));
    let mut body = vec![];
    for event in &told {
        if let proto_conn::client::Event::Part(part) = event {
            body.extend_from_slice(part);
        }
    }
    assert!(body == *numbers(3 << 20));
    assert!(messages(&told)[0].flags.has(Flags::STREAMED));
    assert!(matches!(told.last(), Some(proto_conn::client::Event::End(_))), "{:?}", told.last());
}
