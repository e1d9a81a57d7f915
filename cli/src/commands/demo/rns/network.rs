//! Two nodes and the transport node between them, over TCP on the loopback interface.

use proto_rns::{
    DestinationHash,
    crypto::Dalek,
    dest::{DestinationName, LocalDestination},
    identity::Identity,
    iface::{Framing, InterfaceConfig, Medium, Target},
    link::{LinkConfig, ProofStrategy},
};
use runtime_tokio::rns::{Destination, Link, RnsNode};
use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    time::Duration,
};
use tokio::time::timeout;

use crate::{failure::Failure, rns::keys};

/// The nodes, and the destination on the far one.
#[derive(Debug)]
pub(super) struct Network {
    /// The node that begins.
    pub(super) near: RnsNode,
    /// The node that answers.
    pub(super) far: RnsNode,
    /// Where it answers.
    pub(super) destination: Destination,
    transport: RnsNode,
}

impl Network {
    /// Starts the nodes, with a destination that proves everything and has links of this kind.
    ///
    /// # Errors
    /// They do not start, or do not connect.
    pub(super) async fn start(links: LinkConfig) -> Result<Self, Failure> {
        let address = free_address()?;
        let server = Medium::TcpServer { bind: address, framing: Framing::Hdlc, backbone: false };
        let transport = spawn(true)?;
        up(&transport, InterfaceConfig::new("middle", server)).await?;
        let (near, far) = (spawn(false)?, spawn(false)?);
        for node in [&near, &far] {
            let target = Target::Address(address);
            let client = Medium::TcpClient { target, framing: Framing::Hdlc, backbone: false };
            up(node, InterfaceConfig::new("end", client)).await?;
        }
        let identity = Identity::generate(&Dalek, &mut keys::entropy()?);
        let name = DestinationName::parse("iolite.demo").map_err(Failure::check)?;
        let mut destination = LocalDestination::single(name, identity);
        destination.proofs = ProofStrategy::All;
        destination.links = Some(links);
        let destination = far.register(destination).map_err(Failure::network)?;
        Ok(Self { near, far, destination, transport })
    }

    /// Starts the nodes and waits until the near one knows the way.
    ///
    /// # Errors
    /// They do not start, or the announce does not arrive.
    pub(super) async fn joined(links: LinkConfig) -> Result<Self, Failure> {
        let network = Self::start(links).await?;
        network.destination.announce(None).map_err(Failure::network)?;
        let found = network.near.find_path(network.destination.hash(), PATIENCE).await;
        found.map_err(Failure::network)?;
        Ok(network)
    }

    /// Opens a link and returns both ends of it.
    ///
    /// # Errors
    /// It is not established.
    pub(super) async fn link(&self) -> Result<(Link, Link), Failure> {
        let hash: DestinationHash = self.destination.hash();
        let ends = async {
            tokio::try_join!(async { self.near.connect(hash).await.map_err(Failure::network) }, async {
                self.destination.accept().await.map_err(Failure::network)
            },)
        };
        within("the link", ends).await
    }

    /// Ends all nodes in good order.
    pub(super) async fn end(self) {
        let Self { near, far, destination, transport } = self;
        drop(destination);
        tokio::join!(near.shutdown(), far.shutdown(), transport.shutdown());
    }
}

/// Waits for something that must happen soon.
///
/// # Errors
/// It does not, or fails.
pub(super) async fn within<T>(
    what: &str,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let done = timeout(PATIENCE, work).await;
    done.unwrap_or_else(|_| Err(Failure::check(format_args!("{what} did not come within {PATIENCE:?}"))))
}

fn spawn(transport: bool) -> Result<RnsNode, Failure> {
    let started = RnsNode::builder().transport(transport).spawn();
    started.map_err(|error| Failure::network(format_args!("the node does not start: {error}")))
}

async fn up(node: &RnsNode, interface: InterfaceConfig) -> Result<(), Failure> {
    let interface = node.add_interface(interface).map_err(Failure::network)?;
    let up = async { node.interface_up(interface).await.map_err(Failure::network) };
    within("an interface", up).await
}

/// Finds a port that is free now. An interface cannot say which it got.
fn free_address() -> Result<SocketAddr, Failure> {
    let found = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    found.map_err(|error| Failure::network(format_args!("no free port on the loopback interface: {error}")))
}

const PATIENCE: Duration = Duration::from_secs(20);
