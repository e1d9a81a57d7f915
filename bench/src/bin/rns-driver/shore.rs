//! One node beside the relay, driven by hand until everything is known that frames need.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    sync::Arc,
    thread,
    time::{Duration, Instant, SystemTime},
};

use bench_peer::{
    Fault,
    rns::{Command, Mtu},
};
use proto_core::{
    Flow, LinkEvent, LinkId, LinkRequest, Machine as _, Sink, StdClock, Transmit, UnixTime, pump,
};
use proto_rns::{
    DestinationHash,
    bz2::Bz2,
    crypto::SecureEntropy,
    dest::{DestinationName, LocalDestination},
    identity::Identity,
    iface::{Framing, InterfaceConfig, Medium, Target},
    node::{Event, Node, NodeConfig, Tools},
};

/// A node with one connection and one destination.
pub(crate) struct Shore {
    pub(crate) node: Node,
    pub(crate) destination: DestinationHash,
    pub(crate) stream: TcpStream,
    clock: StdClock,
    link: Option<LinkId>,
    out: Vec<u8>,
}

impl Shore {
    /// Connects to the relay.
    pub(crate) fn connect(command: &Command) -> Result<Self, Fault> {
        let stream = TcpStream::connect(command.address)?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let clock = StdClock::new(Instant::now());
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| error.to_string())?;
        let crypto = host_crypto::provider();
        let identity = Identity::generate(&*crypto, &mut SecureEntropy::new(seed));
        seed.reverse();
        let tools = Tools { crypto, compression: Arc::new(Bz2::default()) };
        let wall = UnixTime::new(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?);
        let mut node =
            Node::new(NodeConfig::default(), tools, None, seed, clock.to_machine(Instant::now()), wall)?;
        let name = DestinationName::new(Command::APPLICATION, &Command::ASPECTS)?;
        let destination =
            node.register(clock.to_machine(Instant::now()), LocalDestination::single(name, identity))?;
        let target = Target::Address(command.address);
        let medium = Medium::TcpClient { target, framing: Framing::Hdlc, backbone: false };
        let mut interface = InterfaceConfig::new("shore", medium);
        interface.fixed_mtu = Some(match command.work.mtu {
            // Whatever the relay's own default is, it is not longer.
            Mtu::Default => LONGEST,
            Mtu::Fixed(bytes) => bytes,
        });
        node.add_interface(clock.to_machine(Instant::now()), interface)?;
        Ok(Self { node, destination, stream, clock, link: None, out: Vec::new() })
    }

    /// Gives the node a command.
    pub(crate) fn with<T>(&mut self, command: impl FnOnce(&mut Node, proto_core::Instant) -> T) -> T {
        let now = self.now();
        command(&mut self.node, now)
    }

    fn now(&self) -> proto_core::Instant {
        self.clock.to_machine(Instant::now())
    }

    /// Reads and writes what there is.
    pub(crate) fn turn(&mut self) -> Result<(), Fault> {
        let mut buffer = [0; 4096];
        match self.stream.read(&mut buffer) {
            Ok(0) => return Err("the relay closed the connection".into()),
            Ok(len) => {
                let now = self.now();
                if let (Some(link), Some(data)) = (self.link, buffer.get_mut(..len)) {
                    self.node.handle_stream(now, link, data);
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
        let now = self.now();
        let mut tray = Tray { opened: None, out: &mut self.out };
        let _ = pump(&mut self.node, now, usize::MAX, &mut Vec::new(), &mut tray);
        if let Some(link) = tray.opened {
            self.link = Some(link);
            let up =
                LinkEvent::Up { local: self.stream.local_addr().ok(), peer: self.stream.peer_addr().ok() };
            self.node.handle_link(now, link, up);
        }
        // So little is written during set-up that the socket always has room.
        self.stream.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }
}

/// Lets both nodes work until `done` tells something, for as long as the slowest relay may need.
pub(crate) fn work<T>(
    shores: &mut [Shore; 2],
    what: &str,
    mut done: impl FnMut(&mut [Shore; 2]) -> Option<T>,
) -> Result<T, Fault> {
    for _ in 0..TURNS {
        for shore in shores.iter_mut() {
            shore.turn()?;
        }
        if let Some(done) = done(shores) {
            return Ok(done);
        }
        thread::sleep(TURN);
    }
    Err(format!("the relay passed on no {what}").into())
}

/// What a node has for its driver.
struct Tray<'a> {
    opened: Option<LinkId>,
    out: &'a mut Vec<u8>,
}

impl Sink<Event> for Tray<'_> {
    fn link(&mut self, request: LinkRequest) {
        if let LinkRequest::Open { link, .. } = request {
            self.opened = Some(link);
        }
    }

    fn transmit(&mut self, _transmit: &Transmit, bytes: &[u8]) -> Flow {
        self.out.extend_from_slice(bytes);
        Flow::Sent
    }

    fn event(&mut self, _event: Event) {}
}

const LONGEST: usize = 131_072;
const TURN: Duration = Duration::from_millis(2);
const TURNS: usize = 15_000;
