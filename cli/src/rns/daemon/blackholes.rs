//! Lists of refused identities that other nodes publish.

use proto_rns::{
    IdentityHash,
    storage::{Storage as _, StoredItem},
};
use std::{future::pending, time::Duration};
use tokio::time::{sleep, timeout};

use super::{instance::Instance, log::Level, management::blackhole_of};

/// Fetches the lists of the sources that the config file names, again and again. Never ends.
pub(super) async fn update(instance: &Instance) {
    let settings = &instance.config().blackhole;
    if settings.sources.is_empty() {
        return pending().await;
    }
    sleep(FIRST_UPDATE).await;
    loop {
        for source in &settings.sources {
            match fetch(instance, *source).await {
                Ok(new) => instance
                    .log()
                    .tell(Level::Info, format_args!("refuses {new} more identities, as <{source}> does")),
                Err(why) => instance.log().tell(
                    Level::Warning,
                    format_args!("cannot fetch the refused identities of <{source}>: {why}"),
                ),
            }
        }
        sleep(settings.update_interval).await;
    }
}

/// Fetches a list and refuses who is on it. Returns how many are new.
async fn fetch(instance: &Instance, source: IdentityHash) -> Result<usize, String> {
    let destination = blackhole_of(source).ok_or("it has no address")?;
    let node = instance.node();
    node.find_path(destination, PATIENCE).await.map_err(|error| error.to_string())?;
    let connecting = timeout(PATIENCE, node.connect(destination)).await;
    let link = connecting.map_err(|_| "it does not answer")?.map_err(|error| error.to_string())?;
    let response = link.request("/list", &[]).await.map_err(|error| error.to_string())?;
    let new = node.with_node(|node, _| node.refuse_listed(&response.data, source));
    let new = new.ok_or("what it publishes is no list")?;
    instance.store().write(StoredItem::BlackholeOf(source), &response.data);
    Ok(new)
}

const FIRST_UPDATE: Duration = Duration::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(30);
