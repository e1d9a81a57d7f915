//! The side that begins every operation.

use std::{sync::Arc, time::Duration};

use bench_peer::{
    Fault,
    rns::{Command, Content, Kind, course},
};
use bytes::Bytes;
use proto_rns::{
    DestinationHash,
    resource::{Data, Source},
    wire::msgpack::{Reader, Writer},
};
use runtime_tokio::rns::{Link, RnsNode};

use crate::interface;

/// Finds the responder, opens the links and runs the course.
pub(crate) async fn run(command: &Command) -> Result<(), Fault> {
    let node = RnsNode::builder().interface(interface::client(command.address, command.work.mtu)).spawn()?;
    let destination: DestinationHash = command.destination.parse()?;
    find(&node, destination).await?;
    let links = if command.work.kind == Kind::Packet { 0 } else { command.work.links };
    let mut initiator = Initiator { node, destination, links: Vec::new(), kind: command.work.kind };
    for _ in 0..links {
        initiator.links.push(initiator.node.connect(destination).await?);
    }
    course::run(command, initiator).await
}

/// Asks until the interface is up and somebody answers.
async fn find(node: &RnsNode, destination: DestinationHash) -> Result<(), Fault> {
    for _ in 0..ATTEMPTS {
        if node.find_path(destination, ATTEMPT).await.is_ok() {
            return Ok(());
        }
    }
    Err("the responder was not found".into())
}

struct Initiator {
    node: RnsNode,
    destination: DestinationHash,
    links: Vec<Link>,
    kind: Kind,
}

impl course::Initiator for Initiator {
    async fn perform(&self, link: usize, number: u64, content: &Arc<Content>) -> Result<usize, Fault> {
        let size = content.size(number);
        if self.kind == Kind::Packet {
            self.node.deliver(self.destination, &content.of(number)).await?;
            return Ok(size);
        }
        let link = self.links.get(link).ok_or("no such link")?;
        match self.kind {
            Kind::Message => _ = link.send(&content.of(number))?.await?,
            Kind::Resource => {
                let source = Pulled { content: Arc::clone(content), number };
                link.send_resource(Data::Pulled(Arc::new(source)), None, false)?.await?;
            }
            Kind::Request => {
                let mut request = Vec::new();
                Writer::new(&mut request).bytes(&number.to_le_bytes());
                let response = link.request(Command::PATH, &request).await?;
                if content.check(Reader::new(&response.data).bytes()?)? != number {
                    return Err(format!("request {number} got another one's response").into());
                }
            }
            Kind::Packet | Kind::RelayedPacket | Kind::RelayedPart => {
                return Err(format!("an initiator knows no {}", self.kind).into());
            }
        }
        Ok(size)
    }
}

/// The contents of a resource, as they are asked for.
struct Pulled {
    content: Arc<Content>,
    number: u64,
}

impl Source for Pulled {
    fn len(&self) -> u64 {
        self.content.size(self.number) as u64
    }

    fn read(&self, offset: u64, len: usize) -> Option<Bytes> {
        let mut bytes = Vec::with_capacity(len);
        let start = usize::try_from(offset).ok()?;
        while bytes.len() < len {
            let piece = self.content.piece(self.number, start + bytes.len(), len - bytes.len());
            if piece.is_empty() {
                return None;
            }
            bytes.extend_from_slice(&piece);
        }
        Some(bytes.into())
    }
}

const ATTEMPTS: usize = 50;
const ATTEMPT: Duration = Duration::from_millis(200);
