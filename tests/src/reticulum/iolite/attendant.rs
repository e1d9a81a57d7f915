//! The task that handles events. A face may not: it is told of them while the node is busy.

use proto_rns::node::{Event, Node};
use runtime_core::Handle;
use tokio::sync::mpsc::UnboundedReceiver;

use super::desk::Desk;

/// Has the desk handle what happens, in order, until the node is gone.
pub(super) async fn attend(handle: Handle<Node, Desk>, mut happened: UnboundedReceiver<Event>) {
    while let Some(event) = happened.recv().await {
        let owed = handle.with(|node, desk, now| desk.handle(node, now, event));
        if let Some(owed) = owed {
            drop(tokio::spawn(owed.send(handle.clone())));
        }
    }
}
