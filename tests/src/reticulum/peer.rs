//! What any implementation of a node must be able to do for a test.

use proto_rns::{DestinationHash, IdentityHash, LinkHash, PacketHash, RequestId, ResourceHash};
use std::{collections::VecDeque, time::Duration};

use super::{Content, DestinationSpec, Event};

/// A running node of some implementation.
///
/// Commands return once the node has taken them; what comes of them is told by [events](Event), through
/// [`Waiting`](super::Waiting). Every channel carries messages of type 0x0101, and every link takes resources.
///
/// # Panics
/// All methods panic when the node does not do what it is told: a scenario fails there.
pub trait ReticulumPeer {
    /// Makes an identity.
    fn create_identity(&mut self) -> IdentityHash;

    /// Takes an identity by its private key.
    fn load_identity(&mut self, private_key: &[u8; 64]) -> IdentityHash;

    /// Makes one end of a destination, and returns its hash.
    fn create_destination(&mut self, spec: &DestinationSpec) -> DestinationHash;

    /// Announces an own destination, with other words than its own if `app_data` is given.
    fn announce(&mut self, destination: DestinationHash, app_data: Option<&[u8]>);

    /// Asks the network for a path.
    fn request_path(&mut self, destination: DestinationHash);

    /// Returns how far away a destination is, if a path is known.
    fn hops_to(&mut self, destination: DestinationHash) -> Option<u8>;

    /// Sends a packet to a destination of which it has the sending end. Its fate is told where there can be a proof.
    fn send_packet(&mut self, destination: DestinationHash, payload: &[u8]) -> PacketHash;

    /// Begins to open a link to a destination of which it has the sending end.
    fn open_link(&mut self, destination: DestinationHash) -> LinkHash;

    /// Tells the other end of a link that it opened who it is.
    fn identify(&mut self, link: LinkHash, identity: IdentityHash);

    /// Closes a link.
    fn close_link(&mut self, link: LinkHash);

    /// Sends a packet on a link.
    fn send_on_link(&mut self, link: LinkHash, payload: &[u8]) -> PacketHash;

    /// Sends a request on a link that it opened.
    fn request(&mut self, link: LinkHash, path: &str, body: Content) -> RequestId;

    /// Begins to send a resource, compressed where that makes it shorter, with a note as the metadata
    /// `{"note": bytes}`.
    fn send_resource(&mut self, link: LinkHash, content: Content, note: Option<&[u8]>) -> ResourceHash;

    /// Stops a resource that it sends or receives.
    fn cancel_resource(&mut self, resource: ResourceHash);

    /// Opens the channel of a link. What arrives before that is lost.
    fn open_channel(&mut self, link: LinkHash);

    /// Sends a message on the channel of a link, as soon as there is room.
    fn send_message(&mut self, link: LinkHash, payload: &[u8]);

    /// Opens a buffer on the channel of a link.
    fn open_buffer(&mut self, link: LinkHash, streams: BufferStreams);

    /// Writes into the buffer of a link.
    fn write_buffer(&mut self, link: LinkHash, content: Content);

    /// Ends what it writes into the buffer of a link.
    fn close_buffer(&mut self, link: LinkHash);

    /// Returns what is known of its interfaces.
    fn interfaces(&mut self) -> Vec<InterfaceStatus>;

    /// Waits a while for the next event that is not in the backlog; `None` when there is none.
    fn next_event(&mut self, patience: Duration) -> Option<Event>;

    /// Returns the events that nobody has asked for yet.
    fn backlog(&mut self) -> &mut VecDeque<Event>;
}

/// The two directions of a buffer. The other end has them the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferStreams {
    /// The number of the stream that it reads.
    pub receive: u16,
    /// The number of the stream that it writes.
    pub send: u16,
}

impl BufferStreams {
    /// Returns what the other end has.
    #[must_use]
    pub const fn reversed(self) -> Self {
        Self { receive: self.send, send: self.receive }
    }
}

/// What is known of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceStatus {
    /// Its name.
    pub name: String,
    /// Whether it works.
    pub is_up: bool,
    /// How many others are connected to it, where it is a server.
    pub clients: Option<u32>,
    /// How many bytes it received.
    pub received: u64,
    /// How many bytes it sent.
    pub sent: u64,
}
