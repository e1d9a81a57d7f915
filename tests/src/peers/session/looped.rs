//! Sessions on the blocking loop, which runs in a thread of its own: timers must not wait for a test.

use proto_raknet::{
    CloseReason, Config, ConnectFailure, ConnectOptions, Endpoint, Event, Message, PeerId, PeerInfo,
    ReceiptId, Received, SendError,
};
use std::{
    borrow::Borrow,
    collections::VecDeque,
    net::SocketAddr,
    sync::mpsc::{Receiver, Sender, TryRecvError, channel},
    thread,
    time::Duration,
};

use super::{Listening, Session};
use crate::{blocking::BlockingEndpoint, peers::patience::until};

/// A server on the loop.
pub(super) struct Listener {
    driven: Driven,
    address: SocketAddr,
}

impl Listener {
    pub(super) fn bind(address: SocketAddr, config: Config) -> Self {
        let driven = Driven::start(address, config);
        let address = driven.ask(|desk| desk.endpoint.local_addr().expect("a bound socket"));
        Self { driven, address }
    }
}

impl Listening for Listener {
    fn address(&self) -> SocketAddr {
        self.address
    }

    fn accept(&mut self) -> Box<dyn Session + '_> {
        let (peer, info) = self.driven.until("a session", |desk| desk.sessions.pop_front());
        Box::new(Visit { driven: &self.driven, peer, info, receipts: Vec::new() })
    }
}

/// Opens a session from a socket of its own.
pub(super) fn connect(
    from: SocketAddr,
    server: SocketAddr,
    config: Config,
    options: ConnectOptions,
) -> impl Session {
    let driven = Driven::start(from, config);
    driven.command(move |endpoint, now| endpoint.connect(now, server, options).expect("a fresh endpoint"));
    let opened = driven.until("a session", |desk| match desk.failure {
        Some(failure) => Some(Err(failure)),
        None => desk.sessions.pop_front().map(Ok),
    });
    let (peer, info) = opened.unwrap_or_else(|failure| panic!("no session with {server}: {failure}"));
    Visit { driven, peer, info, receipts: Vec::new() }
}

/// A session of an endpoint that is its own or its listener's.
struct Visit<D> {
    driven: D,
    peer: PeerId,
    info: PeerInfo,
    receipts: Vec<ReceiptId>,
}

impl<D: Borrow<Driven>> Session for Visit<D> {
    fn info(&self) -> PeerInfo {
        self.info
    }

    fn send(&mut self, message: Message) -> Option<usize> {
        let peer = self.peer;
        // What is refused for want of room is offered again.
        let sent = self.driven.borrow().until("room to send", move |desk| {
            match desk.endpoint.with(|endpoint, now| endpoint.send(now, peer, message.clone())) {
                Err(SendError::Full) => None,
                result => Some(result),
            }
        });
        let receipt = sent.expect("a message that can be sent")?;
        self.receipts.push(receipt);
        Some(self.receipts.len() - 1)
    }

    fn recv(&mut self) -> Received {
        self.driven.borrow().until("a message", |desk| desk.messages.pop_front())
    }

    fn was_acked(&mut self, receipt: usize) -> bool {
        let wanted = *self.receipts.get(receipt).expect("a receipt that was given");
        self.driven.borrow().until("a receipt", move |desk| {
            desk.receipts.iter().find(|(receipt, _)| *receipt == wanted).map(|(_, acked)| *acked)
        })
    }

    fn close(&mut self) -> CloseReason {
        let peer = self.peer;
        self.driven.borrow().command(move |endpoint, now| endpoint.disconnect(now, peer));
        self.closed()
    }

    fn closed(&mut self) -> CloseReason {
        self.driven.borrow().until("the session's end", |desk| desk.end)
    }
}

/// A thread that drives an endpoint.
struct Driven {
    tasks: Sender<Task>,
}

/// Something to do in the thread.
type Task = Box<dyn FnOnce(&mut Desk) + Send>;

impl Driven {
    fn start(address: SocketAddr, config: Config) -> Self {
        let (tasks, inbox) = channel();
        thread::spawn(move || {
            // The tests want the same run every time, as far as the network allows.
            let endpoint = BlockingEndpoint::bind(address, config, [7; 32]).expect("a loop");
            Desk::new(endpoint).work(&inbox);
        });
        Self { tasks }
    }

    /// Runs a command on the machine.
    fn command<T: Send + 'static>(
        &self,
        command: impl FnOnce(&mut Endpoint, proto_core::Instant) -> T + Send + 'static,
    ) -> T {
        self.ask(|desk| desk.endpoint.with(command))
    }

    /// Runs something in the thread.
    fn ask<T: Send + 'static>(&self, task: impl FnOnce(&mut Desk) -> T + Send + 'static) -> T {
        let (reply, answer) = channel();
        let task: Task = Box::new(move |desk| drop(reply.send(task(desk))));
        self.tasks.send(task).expect("the loop runs");
        answer.recv().expect("the loop runs")
    }

    /// Asks until there is an answer.
    fn until<T: Send + 'static>(
        &self,
        what: &str,
        question: impl FnMut(&mut Desk) -> Option<T> + Send + Clone + 'static,
    ) -> T {
        until(|| {
            let mut question = question.clone();
            self.ask(move |desk| question(desk))
        })
        .unwrap_or_else(|| panic!("waited in vain for {what} on the loop"))
    }
}

/// What happened so far. The tests have one session to an endpoint.
struct Desk {
    endpoint: BlockingEndpoint,
    sessions: VecDeque<(PeerId, PeerInfo)>,
    messages: VecDeque<Received>,
    receipts: Vec<(ReceiptId, bool)>,
    end: Option<CloseReason>,
    failure: Option<ConnectFailure>,
}

impl Desk {
    fn new(endpoint: BlockingEndpoint) -> Self {
        Self {
            endpoint,
            sessions: VecDeque::new(),
            messages: VecDeque::new(),
            receipts: Vec::new(),
            end: None,
            failure: None,
        }
    }

    /// Runs the endpoint until nobody can ask for anything any more.
    fn work(mut self, tasks: &Receiver<Task>) {
        loop {
            match tasks.try_recv() {
                Ok(task) => task(&mut self),
                Err(TryRecvError::Empty) => self.endpoint.turn(TASK_LATENCY).expect("a socket that works"),
                Err(TryRecvError::Disconnected) => return,
            }
            while let Some(event) = self.endpoint.poll_event() {
                self.note(event);
            }
        }
    }

    fn note(&mut self, event: Event) {
        match event {
            Event::Connected { peer, info } => self.sessions.push_back((peer, info)),
            Event::ConnectFailed { reason, .. } => self.failure = Some(reason),
            Event::Readable { peer } => {
                while let Some(message) = self.endpoint.with(|endpoint, _| endpoint.recv(peer)) {
                    self.messages.push_back(message);
                }
            }
            Event::ReceiptAcked { receipt, .. } => self.receipts.push((receipt, true)),
            Event::ReceiptLost { receipt, .. } => self.receipts.push((receipt, false)),
            Event::Disconnected { reason, unread, .. } => {
                self.messages.extend(unread);
                self.end = Some(reason);
            }
            // No test waits for these.
            Event::Writable { .. }
            | Event::SplitProgress { .. }
            | Event::Pong { .. }
            | Event::OutOfBand { .. } => {}
            other => println!("not waited for: {other:?}"),
        }
    }
}

/// How long a task waits for the loop at most.
const TASK_LATENCY: Duration = Duration::from_millis(1);
