//! A listener's own announces.

use runtime_tokio::rns::Destination;
use std::{future::pending, time::Duration};

use crate::output::{
    self,
    style::{self, paint},
};

/// Announces a destination: once, if `interval` is zero, else again and again. Never ends.
pub(crate) async fn announce(destination: &Destination, interval: Option<Duration>) {
    let Some(interval) = interval else { return pending().await };
    loop {
        if let Err(error) = destination.announce(None) {
            output::note(format_args!("{} cannot announce: {error}", paint(style::ODD, "warning:")));
        }
        if interval.is_zero() {
            return pending().await;
        }
        tokio::time::sleep(interval).await;
    }
}
