//! Running the commands that others send.

use proto_rns::{
    dest::LocalDestination,
    identity::{Identity, PublicIdentity},
    link::{LinkConfig, RequestPolicies},
};
use runtime_tokio::rns::Link;
use serde_json::json;
use std::{sync::Arc, time::Duration};
use tokio::sync::Semaphore;

use super::{
    X, process,
    protocol::{self, Order, Outcome},
};
use crate::{
    failure::Failure,
    interrupt::Interrupt,
    output,
    rns::{access::Access, announcer, attach::attach},
};

/// Serves until the user ends it.
///
/// # Errors
/// The node does not start.
pub(super) async fn run(options: &X, identity: Identity, interrupt: Interrupt) -> Result<(), Failure> {
    let access = Access::of(options.noauth, &options.allowed, protocol::UTILITY)?;
    let node = attach(options.config.as_deref()).await?;
    let mut destination = LocalDestination::single(protocol::name(), identity);
    let mut requests = RequestPolicies::default();
    requests.allow(protocol::COMMAND, access.policy());
    destination.links = Some(LinkConfig { requests: Arc::new(requests), ..LinkConfig::default() });
    let destination = node.register(destination).map_err(Failure::check)?;
    tell_listening(options.json, &destination.hash().to_string())?;
    let running = Arc::new(Semaphore::new(MOST_AT_A_TIME));
    let serving = async {
        while let Ok(link) = destination.accept().await {
            let service = Service { link, access: access.clone(), json: options.json };
            tokio::spawn(service.serve(Arc::clone(&running)));
        }
        Err(Failure::network("the node ended"))
    };
    tokio::select! {
        ended = serving => ended,
        () = announcer::announce(&destination, (!options.no_announce).then_some(Duration::ZERO)) => Ok(()),
        () = interrupt.wait() => {
            node.shutdown().await;
            Ok(())
        }
    }
}

/// One peer.
struct Service {
    link: Link,
    access: Access,
    json: bool,
}

impl Service {
    /// Serves the peer until its link closes; commands that still run are then killed.
    async fn serve(self, running: Arc<Semaphore>) {
        tokio::select! {
            () = self.run_commands(&running) => {}
            () = self.turn_away() => {}
            _ = self.link.closed() => {}
        }
    }

    async fn run_commands(&self, running: &Semaphore) {
        while let Ok(request) = self.link.next_request().await {
            let peer = request.identity.as_ref();
            let outcome = match Order::parse(&request.data) {
                Ok(order) => {
                    let Ok(_turn) = running.acquire().await else { return };
                    self.tell("running", peer, &order.command, None);
                    let outcome = process::run(&order).await;
                    self.tell("ran", peer, &order.command, Some(&outcome));
                    outcome
                }
                Err(_) => Outcome::default(),
            };
            // The peer may have gone meanwhile.
            let _ = self.link.respond(request.id, &outcome.to_vec());
        }
    }

    /// Ends once it is clear that the peer is nobody to run commands for.
    async fn turn_away(&self) {
        if let Ok(peer) = self.link.identified().await
            && !self.access.allows(Some(&peer))
        {
            self.tell("refused", Some(&peer), "", None);
            self.link.close();
            return;
        }
        std::future::pending().await
    }

    /// Tells what happened. Where standard output is closed there is nobody to tell, and serving goes on.
    fn tell(&self, event: &str, peer: Option<&PublicIdentity>, command: &str, outcome: Option<&Outcome>) {
        let peer = peer.map(|peer| peer.hash().to_string());
        let told = if self.json {
            output::json(&json!({
                "event": event,
                "command": command,
                "identity": peer,
                "could_run": outcome.map(|outcome| outcome.ran),
                "code": outcome.and_then(|outcome| outcome.code),
            }))
        } else {
            let peer = peer.unwrap_or_else(|| "somebody unknown".into());
            let end = match outcome {
                Some(Outcome { ran: false, .. }) => ": it could not be run".into(),
                Some(Outcome { concluded: None, .. }) => ": killed, for its time was over".into(),
                Some(Outcome { code: Some(code), .. }) => format!(": exit code {code}"),
                Some(Outcome { code: None, .. }) => ": ended".into(),
                None => String::new(),
            };
            output::line(format_args!("{event} [{}] for {peer}{end}", command.escape_debug()))
        };
        drop(told);
    }
}

fn tell_listening(json: bool, destination: &str) -> Result<(), Failure> {
    if json {
        return output::json(&json!({ "event": "listening", "destination": destination }));
    }
    output::line(format_args!("rnx listening for commands on <{destination}>"))
}

/// Commands that run at the same time; further ones wait for their turn.
const MOST_AT_A_TIME: usize = 16;
