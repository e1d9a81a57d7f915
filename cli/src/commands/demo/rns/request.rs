//! Requests over a link, and their responses.

use proto_rns::{
    link::{LinkConfig, RequestPolicies, RequestPolicy},
    wire::msgpack::Value,
};
use runtime_tokio::rns::Link;
use std::{sync::Arc, time::Instant};

use super::network::Network;
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::count,
};

/// Asks for responses of every length from nothing to more than a packet holds, and for what is not allowed.
pub(super) async fn run(stage: Stage) -> Result<Outcome, Failure> {
    let mut policies = RequestPolicies::default();
    policies.allow(PATH, RequestPolicy::All);
    policies.allow(SECRET, RequestPolicy::List(Vec::new()));
    let links = LinkConfig { requests: Arc::new(policies), ..LinkConfig::default() };
    let network = Network::joined(links).await?;
    let (near, far) = network.link().await?;
    let answering = tokio::spawn(answer(far));
    let total = stage.amount(100);
    let (start, mut bytes) = (Instant::now(), 0);
    for number in 0..total {
        let wanted = usize::try_from(number).unwrap_or(0) * STEP;
        let asked = Value::Bytes(vec![0xa5; wanted]).to_vec();
        let response = near.request(PATH, &asked).await.map_err(Failure::network)?;
        check(response.data == asked, || {
            format!("the response to request {number} is not what was asked for")
        })?;
        bytes += 2 * asked.len() as u64;
    }
    let transfer = start.elapsed();
    let refused = near.request_with(SECRET, &[], Some(REFUSAL), None).await;
    check(refused.is_err(), || "a request was answered to somebody who may not ask".into())?;
    near.close();
    answering.abort();
    network.end().await;
    let found =
        format!("{} requests answered, small and as resources, a forbidden one not", count(total.into()));
    Ok(Outcome { found, messages: 2 * u64::from(total), bytes, transfer })
}

/// Answers every request with what it came with.
async fn answer(link: Link) {
    while let Ok(request) = link.next_request().await {
        // Whoever asked finds out that there is no answer.
        let _ = link.respond(request.id, &request.data);
    }
}

const PATH: &str = "/echo";
const SECRET: &str = "/secret";
const STEP: usize = 400;
const REFUSAL: std::time::Duration = std::time::Duration::from_millis(300);
