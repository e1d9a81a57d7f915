//! Networks, and who plays in them.

use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use super::{
    AccessCode, Config, Interface, InterfaceKind, Iolite, Reference, ReticulumPeer, SharedInstance,
    Waiting as _, installed, scenarios::Scenario,
};
use crate::peers::peer::free_port;

/// Who starts the nodes of a network.
#[derive(Clone, Copy, Debug)]
pub struct Cast {
    /// The node that begins.
    pub initiator: Player,
    /// The node that answers.
    pub responder: Player,
    /// Those between them.
    pub relay: Player,
}

/// An implementation of a node.
#[derive(Clone, Copy, Debug)]
pub struct Player {
    /// What it is called.
    pub name: &'static str,
    /// Starts a node.
    pub start: fn(&Config) -> Box<dyn ReticulumPeer>,
    /// Says whether its tests are to be left out.
    pub is_skipped: fn() -> bool,
}

/// What joins two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// TCP: a server and a client.
    Tcp,
    /// UDP between two addresses.
    Udp,
    /// Backbone on both ends.
    Backbone,
    /// A Backbone client at a TCP server.
    BackboneToTcp,
    /// A pipe to a program that connects to a TCP server.
    Pipe,
}

/// A network: nodes in the order in which they must start.
#[derive(Clone, Debug)]
pub struct Stage {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    role: Role,
    config: Config,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Initiator,
    Responder,
    Relay,
}

impl Cast {
    /// All are the reference.
    pub const REFERENCE: Self =
        Self { initiator: Player::REFERENCE, responder: Player::REFERENCE, relay: Player::REFERENCE };

    const fn player(self, role: Role) -> Player {
        match role {
            Role::Initiator => self.initiator,
            Role::Responder => self.responder,
            Role::Relay => self.relay,
        }
    }
}

impl Player {
    /// Our node.
    pub const IOLITE: Self =
        Self { name: "iolite", start: |config| Box::new(Iolite::start(config)), is_skipped: || false };

    /// PyPI `rns`.
    pub const REFERENCE: Self = Self {
        name: "rns-python",
        start: |config| Box::new(Reference::start(config)),
        is_skipped: installed::is_skipped,
    };
}

impl Stage {
    /// Two nodes. The responder listens where the medium has a side that does.
    pub fn pair(medium: Medium) -> Self {
        Self::line(medium, 0)
    }

    /// Two nodes with transport nodes between: they are `relays + 1` hops apart.
    pub fn line(medium: Medium, relays: usize) -> Self {
        let (mut listener, mut connector) = medium.ends();
        let mut nodes = vec![Node { role: Role::Responder, config: Config::new([listener]) }];
        for _ in 0..relays {
            let towards_responder = connector;
            (listener, connector) = medium.ends();
            let config = Config::new([towards_responder, listener]).with_transport();
            nodes.push(Node { role: Role::Relay, config });
        }
        nodes.push(Node { role: Role::Initiator, config: Config::new([connector]) });
        Self { nodes }
    }

    /// Two nodes. The initiator is a client of the shared instance of a third, which is joined with the responder by
    /// TCP.
    pub fn behind_shared_instance(shared: &SharedInstance) -> Self {
        let (listener, connector) = Medium::Tcp.ends();
        let node = |role, interface| Node { role, config: Config::new(interface) };
        let mut stage = Self {
            nodes: vec![
                node(Role::Responder, Some(listener)),
                node(Role::Relay, Some(connector)),
                node(Role::Initiator, None),
            ],
        };
        for node in stage.nodes.iter_mut().skip(1) {
            node.config.shared = Some(shared.clone());
        }
        stage
    }

    /// Two clients of the shared instance of a third, which has no other interface.
    pub fn within_shared_instance(shared: &SharedInstance) -> Self {
        let roles = [Role::Relay, Role::Responder, Role::Initiator];
        let config = Config::new([]).with_shared(shared.clone());
        Self { nodes: roles.map(|role| Node { role, config: config.clone() }).into() }
    }

    /// Closes the interfaces to those who do not know `access`.
    #[must_use]
    pub fn with_access(self, access: &AccessCode) -> Self {
        self.with_two_accesses(access, access)
    }

    /// Closes the interfaces of the initiator and of the others to those who do not know what they know.
    #[must_use]
    pub fn with_two_accesses(mut self, initiator: &AccessCode, others: &AccessCode) -> Self {
        for node in &mut self.nodes {
            let access = if node.role == Role::Initiator { initiator } else { others };
            node.config.interfaces.iter_mut().for_each(|interface| interface.access = Some(access.clone()));
        }
        self
    }

    /// Lets nodes announce as often as they like: otherwise more than two new destinations within a second are held
    /// back (spec 1.8).
    #[must_use]
    pub fn without_ingress_control(mut self) -> Self {
        let interfaces = self.nodes.iter_mut().flat_map(|node| &mut node.config.interfaces);
        interfaces.for_each(|it| it.options.push(("ingress_control".into(), "no".into())));
        self
    }

    /// Adds a line to the section `[reticulum]` of all nodes.
    #[must_use]
    pub fn with_option(mut self, key: &str, value: &str) -> Self {
        for node in &mut self.nodes {
            node.config.options.push((key.to_owned(), value.to_owned()));
        }
        self
    }

    /// Starts the nodes, waits until they are joined, and has the initiator and the responder play `scenario`.
    ///
    /// # Panics
    /// A node cannot be had, they are not joined in time, or the scenario fails.
    pub fn play(&self, cast: Cast, scenario: impl FnOnce(&mut dyn ReticulumPeer, &mut dyn ReticulumPeer)) {
        if self.nodes.iter().any(|node| (cast.player(node.role).is_skipped)()) {
            return;
        }
        let mut initiator = None;
        let mut responder = None;
        let mut relays = Vec::new();
        for Node { role, config } in &self.nodes {
            let player = cast.player(*role);
            println!("{role:?}: {}", player.name);
            let peer = (player.start)(config);
            match role {
                Role::Initiator => initiator = Some(peer),
                Role::Responder => responder = Some(peer),
                Role::Relay => relays.push(peer),
            }
        }
        let mut initiator = initiator.expect("every stage has one");
        let mut responder = responder.expect("every stage has one");
        for peer in relays.iter_mut().chain([&mut initiator, &mut responder]) {
            peer.connected();
        }
        scenario(&mut *initiator, &mut *responder);
    }

    /// Plays scenarios one after the other between the same nodes.
    ///
    /// # Panics
    /// As for [`play`](Self::play).
    pub fn play_all(&self, cast: Cast, scenarios: &[Scenario]) {
        self.play(cast, |initiator, responder| {
            for scenario in scenarios {
                scenario(initiator, responder);
            }
        });
    }
}

impl Medium {
    /// Returns the interfaces at both ends. The first must be there first.
    ///
    /// # Panics
    /// The operating system has no free port.
    pub fn ends(self) -> (Interface, Interface) {
        let here = free_address();
        let (listener, connector) = match self {
            Self::Tcp => {
                (InterfaceKind::TcpServer { listen: here }, InterfaceKind::TcpClient { target: here })
            }
            Self::Udp => {
                let there = free_address();
                (
                    InterfaceKind::Udp { listen: here, forward: there },
                    InterfaceKind::Udp { listen: there, forward: here },
                )
            }
            Self::Backbone => (
                InterfaceKind::BackboneServer { listen: here },
                InterfaceKind::BackboneClient { target: here },
            ),
            Self::BackboneToTcp => {
                (InterfaceKind::TcpServer { listen: here }, InterfaceKind::BackboneClient { target: here })
            }
            Self::Pipe => {
                (InterfaceKind::TcpServer { listen: here }, InterfaceKind::Pipe { command: pipe_to(here) })
            }
        };
        (Interface::new("listener", listener), Interface::new("connector", connector))
    }
}

/// Returns the command line of a program that joins its standard input and output to a TCP server.
fn pipe_to(server: SocketAddr) -> String {
    let mut command = installed::script("rns_pipe.py");
    command.args([server.ip().to_string(), server.port().to_string()]);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_str().expect("a path in UTF-8")).collect::<Vec<_>>().join(" ")
}

/// Asks the operating system for an address of this machine that is free now, for UDP and for TCP.
fn free_address() -> SocketAddr {
    let addresses = std::iter::repeat_with(|| SocketAddr::from((Ipv4Addr::LOCALHOST, free_port())));
    let mut free = addresses.take(100).filter(|address| TcpListener::bind(address).is_ok());
    free.next().expect("a free port")
}
