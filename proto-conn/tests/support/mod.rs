//! A client and a server on a simulated network, over any of the six schemes.

#![allow(dead_code, unused_imports, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod certificates;
mod party;

pub(crate) use certificates::{clients, servers, suspicious_servers};
pub(crate) use party::{Party, Tale};

use netsim::{Network, NodeId, StreamConditions};
use proto_conn::{
    Code, Error, Message, Payload, Url,
    client::{Closed, Connection, Event, Options, State},
    http::BodyKind,
    server::{self, PeerId, Server},
};
use proto_core::LinkId;
use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// One client, one server, and a network between them.
pub(crate) struct Stage {
    pub(crate) net: Network<Party>,
    pub(crate) client: NodeId,
    pub(crate) server: NodeId,
    pub(crate) listener: LinkId,
}

/// The name by which the server is known.
pub(crate) const NAME: &str = "robot.test";

impl Stage {
    /// Both sides with their defaults; `scheme` decides about TLS.
    pub(crate) fn new(scheme: &str) -> Self {
        Self::with(scheme, "/", |_| {}, |_| {})
    }

    /// Both sides, changed.
    pub(crate) fn with(
        scheme: &str,
        target: &str,
        of_client: impl FnOnce(&mut Options),
        of_server: impl FnOnce(&mut server::Config),
    ) -> Self {
        let url = Url::parse(&format!("{scheme}://{NAME}:80{target}")).unwrap();
        let mut options = Options::default();
        let mut config = server::Config::default();
        if url.scheme.is_tls() {
            options.tls = Some(clients());
            config.tls = Some(servers());
        }
        of_client(&mut options);
        of_server(&mut config);
        let mut net = Network::new(7);
        let client =
            net.add_bare_node(Party::Client(Box::new(Connection::new(url, options, [1; 32]).unwrap())));
        let server = net.add_bare_node(Party::Server(Box::new(Server::new(config, [2; 32]).unwrap())));
        let bind = SocketAddr::from(([0, 0, 0, 0], 80));
        let listener = net.command(server, |party, _| party.server().listen(bind));
        let mut stage = Self { net, client, server, listener };
        stage.run(SECOND / 100);
        let ip = stage.server_ip();
        stage.net.set_name(NAME, vec![ip]);
        let _ = stage.tales_of_server();
        stage
    }

    pub(crate) fn server_ip(&self) -> IpAddr {
        self.net.link_address(self.server, self.listener).expect("it listens").ip()
    }

    /// Streams deliver at most so many bytes at a time.
    pub(crate) fn chunked(mut self, max_chunk: usize) -> Self {
        self.net.set_streams(StreamConditions { max_chunk, ..StreamConditions::default() });
        self
    }

    pub(crate) fn run(&mut self, time: Duration) {
        self.net.run_for(time);
    }

    pub(crate) fn ask(&mut self, message: Message) {
        self.net.command(self.client, |party, now| party.client().send(now, message)).unwrap();
    }

    pub(crate) fn try_send(&mut self, message: Message) -> Result<(), Error> {
        self.net.command(self.client, |party, now| party.client().send(now, message)).map(drop)
    }

    /// What the client told since the last look.
    pub(crate) fn told(&mut self) -> Vec<Event> {
        let tales = self.net.take_events(self.client);
        tales.into_iter().map(Tale::of_client).collect()
    }

    /// What the server told since the last look.
    pub(crate) fn tales_of_server(&mut self) -> Vec<server::Event> {
        let tales = self.net.take_events(self.server);
        tales.into_iter().map(Tale::of_server).collect()
    }

    /// Lets the server answer every request with `answer`, and echo every message, for as long as there is something
    /// to do or `time` has passed; returns what the client was told.
    pub(crate) fn serve(
        &mut self,
        time: Duration,
        mut answer: impl FnMut(&Message) -> Message,
    ) -> Vec<Event> {
        let mut told = vec![];
        let step = time / 200;
        for _ in 0..200 {
            self.run(step);
            for tale in self.tales_of_server() {
                if let server::Event::Request { peer, message } = tale {
                    let response = answer(&message);
                    self.respond(peer, &response);
                } else if let server::Event::Message { peer, message } = tale {
                    self.net
                        .command(self.server, |party, now| party.server().send(now, peer, &message))
                        .unwrap();
                }
            }
            told.extend(self.told());
        }
        told
    }

    /// Answers a peer; one that has gone meanwhile gets no answer.
    pub(crate) fn respond(&mut self, peer: PeerId, response: &Message) {
        let answered = self
            .net
            .command(self.server, |party, now| party.server().respond(now, peer, response, BodyKind::Whole));
        assert!(answered.is_ok() || answered.is_err_and(|error| error.code == Code::BadHandle));
    }

    pub(crate) fn state(&mut self) -> State {
        self.net.node_mut(self.client).machine.client().state()
    }
}

/// Answers with what came.
pub(crate) fn echo(request: &Message) -> Message {
    Message::response(200, request.body.clone())
}

/// The messages among events.
pub(crate) fn messages(events: &[Event]) -> Vec<&Message> {
    events
        .iter()
        .filter_map(|event| if let Event::Message(message) = event { Some(message) } else { None })
        .collect()
}

/// The failures among events.
pub(crate) fn failures(events: &[Event]) -> Vec<&Error> {
    let mut errors = vec![];
    for event in events {
        if let Event::Failed { error, .. } | Event::Closed(Closed { error: Some(error), .. }) = event {
            errors.push(error);
        }
    }
    errors
}

/// The states that a client went through.
pub(crate) fn states(events: &[Event]) -> Vec<State> {
    let state = |event: &Event| if let Event::State(state) = event { Some(*state) } else { None };
    events.iter().filter_map(state).collect()
}

/// How it ended.
pub(crate) fn closed(events: &[Event]) -> Option<&Closed> {
    events.iter().find_map(|event| if let Event::Closed(closed) = event { Some(closed) } else { None })
}

/// Bytes that differ from each other.
pub(crate) fn numbers(len: usize) -> Payload {
    (0..=u8::MAX).cycle().take(len).collect::<Vec<u8>>().into()
}
