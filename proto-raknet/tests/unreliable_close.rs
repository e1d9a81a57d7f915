//! An unreliable notification of a close could come from anybody: it is believed once the peer does not answer.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

use proto_core::{Datagram, Instant, Machine};
use proto_raknet::{CloseReason, Config, ConnectOptions, Endpoint, Event, SOCKET};
use std::{net::SocketAddr, num::NonZeroUsize, time::Duration};

/// A framed DisconnectionNotification in the datagram with number 100, as jsp-raknet sends it.
const NOTIFICATION: [u8; 8] = [0x80, 100, 0, 0, 0x00, 0x00, 0x08, 0x15];

#[test]
fn a_peer_that_says_so_unreliably_and_falls_silent_has_vanished() {
    let mut pair = Pair::connected();
    let server = pair.addresses[0];
    let notified_at = pair.now;
    pair.ends[1].handle_datagram(notified_at, Datagram::new(SOCKET, server, &mut NOTIFICATION.clone()));
    while pair.end.is_none() && pair.now.saturating_since(notified_at) < Duration::from_secs(20) {
        pair.step(false);
    }
    assert_eq!(pair.end, Some(CloseReason::PeerVanished));
    assert!(pair.now.saturating_since(notified_at) < Duration::from_secs(5), "well before the usual timeout");
}

#[test]
fn a_peer_that_still_answers_has_not_closed() {
    let mut pair = Pair::connected();
    let (now, server) = (pair.now, pair.addresses[0]);
    pair.ends[1].handle_datagram(now, Datagram::new(SOCKET, server, &mut NOTIFICATION.clone()));
    while pair.now.saturating_since(now) < Duration::from_secs(20) {
        pair.step(true);
    }
    assert_eq!(pair.end, None);
}

/// A server and its client, 10 ms a step.
struct Pair {
    addresses: [SocketAddr; 2],
    ends: [Endpoint; 2],
    now: Instant,
    connected: bool,
    end: Option<CloseReason>,
}

impl Pair {
    fn connected() -> Self {
        let addresses = ["10.0.0.1:19132", "10.0.0.2:50000"].map(|address| address.parse().unwrap());
        let server = Endpoint::new(Config::default(), [1; 32]).unwrap();
        let mut client = Endpoint::new(Config::client(), [2; 32]).unwrap();
        let now = Instant::from_millis(1);
        client.connect(now, addresses[0], ConnectOptions::default()).unwrap();
        let mut pair = Self { addresses, ends: [server, client], now, connected: false, end: None };
        while !pair.connected {
            pair.step(true);
        }
        pair
    }

    /// Lets 10 ms pass; what the server sends arrives only if it is `heard`.
    fn step(&mut self, heard: bool) {
        self.now += Duration::from_millis(10);
        for from in [1, 0] {
            self.ends[from].handle_timeout(self.now);
            let mut buf = Vec::new();
            while let Some(transmit) = self.ends[from].poll_transmit(self.now, NonZeroUsize::MIN, &mut buf) {
                let mut data = buf.split_off(buf.len() - transmit.len);
                if from == 1 || heard {
                    let datagram = Datagram::new(SOCKET, self.addresses[from], &mut data);
                    self.ends[1 - from].handle_datagram(self.now, datagram);
                }
            }
        }
        while let Some(event) = self.ends[1].poll_event() {
            self.connected |= matches!(event, Event::Connected { .. });
            if let Event::Disconnected { reason, .. } = event {
                self.end = Some(reason);
            }
        }
        while self.ends[0].poll_event().is_some() {}
    }
}
