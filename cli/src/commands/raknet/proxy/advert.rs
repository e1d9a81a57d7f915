//! Answering pings with what the target says about itself.

use bytes::Bytes;
use proto_raknet::Motd;
use runtime_tokio::raknet::{self, RaknetListener};
use std::{net::SocketAddr, time::Duration};

use super::journal::Journal;

/// Asks the target again and again, and answers pings to `listener` with the latest description. While the target
/// does not answer, pongs carry no description. Never ends.
pub(super) async fn keep_up_to_date(
    listener: &RaknetListener,
    target: SocketAddr,
    refresh: Duration,
    journal: &Journal,
) {
    let mut shown: Option<Bytes> = None;
    loop {
        let latest = match raknet::ping(target, PATIENCE).await {
            Ok(pong) => as_ours(listener, &pong.data),
            Err(error) => {
                if shown.as_ref().is_none_or(|shown| !shown.is_empty()) {
                    journal.target_silent(target, &error);
                }
                Bytes::new()
            }
        };
        if shown.as_ref() != Some(&latest) {
            match listener.set_pong_data(latest.clone()) {
                Ok(()) if latest.is_empty() => {}
                Ok(()) => journal.target_speaks(&latest),
                Err(error) => journal.description_refused(&error),
            }
            shown = Some(latest);
        }
        tokio::time::sleep(refresh).await;
    }
}

/// Puts the proxy's identifier and port in place of the target's: clients follow the port of a description past the
/// proxy.
fn as_ours(listener: &RaknetListener, data: &Bytes) -> Bytes {
    let Ok(motd) = Motd::parse(data) else { return data.clone() };
    let port = listener.local_addr().port();
    let ours = Motd {
        guid: motd.guid.map(|_| listener.guid()),
        port_v4: motd.port_v4.map(|_| port),
        port_v6: motd.port_v6.map(|_| port),
        ..motd
    };
    ours.to_pong_data().map_or_else(|_| data.clone(), Bytes::from)
}

/// How long the target may take to answer.
const PATIENCE: Duration = Duration::from_secs(2);
