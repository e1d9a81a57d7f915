//! A node with interfaces of the suite's hand, and a clock that the suite moves.

use proto_core::{Datagram, Instant, LinkEvent, LinkId, LinkRequest, LinkSpec, Machine, UnixTime};
use proto_rns::{
    identity::Identity,
    iface::{Framing, InterfaceConfig, InterfaceId, LocalAddress, Medium, Target},
    node::{AddInterfaceError, Event, Node, NodeConfig, NodeConfigError, Tools},
};
use std::{
    collections::{BTreeMap, VecDeque},
    net::SocketAddr,
    num::NonZeroUsize,
    time::Duration,
};

/// A node without sockets.
#[derive(Debug)]
pub(crate) struct MockNode {
    pub(crate) node: Node,
    /// Everything that it told.
    pub(crate) events: Vec<Event>,
    clock: Clock,
    interfaces: BTreeMap<InterfaceId, MockInterface>,
    accepted: u32,
}

/// The place of one interface in the driver's world.
#[derive(Debug)]
struct MockInterface {
    link: LinkId,
    framing: Option<Framing>,
    sent: VecDeque<Vec<u8>>,
}

/// The machine's time: the host's, until it is stopped, and what it was moved ahead by.
#[derive(Debug)]
struct Clock {
    started: std::time::Instant,
    stopped: Option<Duration>,
    ahead: Duration,
}

impl Clock {
    /// So long before the start things can have happened.
    const BEFORE: Duration = Duration::from_secs(100 * 24 * 60 * 60);

    fn now(&self) -> Instant {
        let elapsed = self.stopped.unwrap_or_else(|| self.started.elapsed());
        Instant::ZERO + Self::BEFORE + elapsed + self.ahead
    }
}

impl MockNode {
    /// Creates a node without interfaces.
    #[allow(clippy::disallowed_methods, reason = "the suite waits in real time")]
    pub(crate) fn new(
        config: NodeConfig,
        identity: Option<Identity>,
        wall: UnixTime,
    ) -> Result<Self, NodeConfigError> {
        let started = std::time::Instant::now();
        let clock = Clock { started, stopped: None, ahead: Duration::ZERO };
        let tools = Tools { crypto: host_crypto::provider(), ..Tools::default() };
        let node = Node::new(config, tools, identity, crate::tools::seed(), clock.now(), wall)?;
        Ok(Self { node, events: Vec::new(), clock, interfaces: BTreeMap::new(), accepted: 0 })
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Returns a time of the machine in seconds since 1970, as far from the host's present as it is from the machine's:
    /// what the clock was moved ahead by makes things old, not the present late.
    pub(crate) fn epoch(&self, at: Instant) -> f64 {
        let now = self.clock.now();
        let ahead = at.saturating_since(now).as_secs_f64() - now.saturating_since(at).as_secs_f64();
        crate::tools::wall().since_epoch().as_secs_f64() + ahead
    }

    /// Lets time pass only where it is moved ahead from now on.
    pub(crate) fn freeze(&mut self) {
        self.clock.stopped.get_or_insert_with(|| self.clock.started.elapsed());
    }

    /// Moves the time ahead; what becomes due is done.
    pub(crate) fn advance(&mut self, by: Duration) {
        self.clock.ahead += by;
        self.settle();
    }

    /// Adds an interface that works at once and carries a packet a datagram.
    pub(crate) fn attach(&mut self, config: InterfaceConfig) -> Result<InterfaceId, AddInterfaceError> {
        let id = self.node.add_interface(self.now(), config)?;
        self.open(id);
        Ok(id)
    }

    /// Adds what a program that uses the node as its shared instance is connected by.
    pub(crate) fn attach_local_client(&mut self) -> Result<Option<InterfaceId>, AddInterfaceError> {
        let server = match self.local_server() {
            Some(server) => server,
            None => {
                let medium = Medium::LocalServer { at: LocalAddress::Tcp(NOWHERE) };
                let id = self.node.add_interface(self.now(), InterfaceConfig::new("shared", medium))?;
                self.open(id);
                id
            }
        };
        let Some(listener) = self.interfaces.get(&server).map(|server| server.link) else { return Ok(None) };
        let link = LinkId(LinkId::FIRST_ACCEPTED.0 + self.accepted);
        self.accepted += 1;
        let before: Vec<InterfaceId> = self.node.interfaces().map(|(id, _)| id).collect();
        self.node.handle_link(self.now(), link, LinkEvent::Accepted { listener, peer: None });
        let client = self.node.interfaces().map(|(id, _)| id).find(|id| !before.contains(id));
        if let Some(id) = client {
            let framing = Some(Framing::Hdlc);
            self.interfaces.insert(id, MockInterface { link, framing, sent: VecDeque::new() });
        }
        self.settle();
        Ok(client)
    }

    /// Has a frame arrive.
    pub(crate) fn inject(&mut self, id: InterfaceId, frame: &[u8]) {
        let Some(MockInterface { link, framing, .. }) = self.interfaces.get(&id) else { return };
        let (link, now) = (*link, self.clock.now());
        match framing {
            Some(framing) => {
                let mut stream = Vec::new();
                framing.frame(&[frame], &mut stream);
                self.node.handle_stream(now, link, &mut stream);
            }
            None => {
                let mut data = frame.to_vec();
                self.node.handle_datagram(now, Datagram::new(link, NOWHERE, &mut data));
            }
        }
        self.settle();
    }

    /// Takes the frames that left by an interface since the last time.
    pub(crate) fn sent(&mut self, id: InterfaceId) -> Vec<Vec<u8>> {
        self.settle();
        self.interfaces.get_mut(&id).map(|interface| interface.sent.drain(..).collect()).unwrap_or_default()
    }

    /// Puts frames that were taken back to the front of those that left.
    pub(crate) fn put_back(&mut self, id: InterfaceId, frames: &[Vec<u8>]) {
        if let Some(interface) = self.interfaces.get_mut(&id) {
            frames.iter().rev().for_each(|frame| interface.sent.push_front(frame.clone()));
        }
    }

    /// Removes an interface.
    pub(crate) fn detach(&mut self, id: InterfaceId) -> bool {
        let removed = self.node.remove_interface(self.now(), id);
        self.settle();
        self.interfaces.remove(&id);
        removed
    }

    /// Does what is due and collects what the node has to say.
    pub(crate) fn settle(&mut self) {
        let now = self.clock.now();
        while self.node.poll_timeout().is_some_and(|due| due <= now) {
            self.node.handle_timeout(now);
            self.drain(now);
        }
        self.drain(now);
    }

    fn drain(&mut self, now: Instant) {
        let mut bytes = Vec::new();
        while let Some(transmit) = self.node.poll_transmit(now, NonZeroUsize::MIN, &mut bytes) {
            let interface = self.interfaces.values_mut().find(|known| known.link == transmit.link);
            if let Some(interface) = interface {
                interface.take(&mut bytes);
            }
            bytes.clear();
        }
        while let Some(event) = self.node.poll_event() {
            self.events.push(event);
        }
    }

    /// Answers the request for an interface's link.
    fn open(&mut self, id: InterfaceId) {
        let now = self.clock.now();
        while let Some(request) = self.node.poll_link() {
            if let LinkRequest::Open { link, spec } = request {
                let framing = (!matches!(spec, LinkSpec::Udp { .. })).then_some(Framing::Hdlc);
                self.interfaces.insert(id, MockInterface { link, framing, sent: VecDeque::new() });
                self.node.handle_link(now, link, LinkEvent::Up { local: None, peer: None });
            }
        }
        self.settle();
    }

    fn local_server(&self) -> Option<InterfaceId> {
        let is_server = |medium: &Medium| matches!(medium, Medium::LocalServer { .. });
        let found = self
            .node
            .interfaces()
            .find(|(_, known)| known.parent().is_none() && is_server(&known.config().medium));
        found.map(|(id, _)| id)
    }
}

impl MockInterface {
    /// Keeps the frames that were just sent.
    fn take(&mut self, bytes: &mut [u8]) {
        match self.framing {
            Some(framing) => {
                let sent = &mut self.sent;
                proto_rns::iface::Deframer::new(framing, proto_rns::iface::MAX_MTU)
                    .feed(bytes, |frame| sent.push_back(frame.to_vec()));
            }
            None => self.sent.push_back(bytes.to_vec()),
        }
    }
}

/// The address of interfaces that have none.
const NOWHERE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9);

/// Returns the settings of a connection that [`MockNode::attach`] takes.
pub(crate) fn mock_connection() -> InterfaceConfig {
    let target = Target::Address(NOWHERE);
    InterfaceConfig::new("mock", Medium::TcpClient { target, framing: Framing::Hdlc, backbone: false })
}

/// Returns the settings of an interface that [`MockNode::attach`] takes, named `name`.
pub(crate) fn mock_interface(name: &str) -> InterfaceConfig {
    InterfaceConfig::new(name, Medium::Udp { bind: NOWHERE, forward: Some(NOWHERE) })
}
