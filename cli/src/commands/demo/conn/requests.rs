//! Requests and their answers, on one connection.

use bench_peer::Payload;
use proto_conn::{Message, Method, Scheme};
use std::time::{Duration, Instant};

use super::peers::{PATIENCE, connected};
use crate::{
    commands::demo::section::{Outcome, Stage, check},
    failure::Failure,
    output::quantity::{count, time},
};

/// Posts bodies, and compares what comes back.
pub(super) fn run(stage: &Stage, scheme: Scheme) -> Result<Outcome, Failure> {
    let (_echo, mut conn) = connected(scheme)?;
    let payload = Payload::new(SIZE);
    let total = stage.amount(500);
    stage.progress.start_bar(total.into());
    let (start, mut fastest) = (Instant::now(), Duration::MAX);
    for number in 0..total {
        let mut body = Vec::with_capacity(SIZE);
        payload.append(0, number, &mut body);
        let asked = Instant::now();
        let answer = conn.request(Message::request(Method::Post, "/", body), Some(PATIENCE));
        let answer = answer.map_err(Failure::network)?;
        fastest = fastest.min(asked.elapsed());
        check(answer.status == 200, || format!("the answer has status {}", answer.status))?;
        payload.check(0, number, &answer.body).map_err(Failure::check)?;
        conn.recycle(answer);
        stage.progress.set(u64::from(number) + 1);
    }
    let transfer = start.elapsed();
    let encrypted = conn.machine().tls_info().map(|info| format!(", {}", info.cipher)).unwrap_or_default();
    check(scheme.is_tls() != encrypted.is_empty(), || "the wrong connection is encrypted".into())?;
    conn.close(0, "", Some(PATIENCE)).map_err(Failure::network)?;
    let found = format!(
        "{} requests answered on one connection, the fastest in {}{encrypted}",
        count(total.into()),
        time(fastest)
    );
    Ok(Outcome { found, messages: total.into(), bytes: u64::from(total) * 2 * SIZE as u64, transfer })
}

const SIZE: usize = 16_384;
