//! Who is let in: bans, and limits by IP address. All tables are bounded.

use alloc::collections::BTreeMap;
use core::{net::IpAddr, time::Duration};
use proto_core::Instant;

use crate::IncomingConfig;

/// Judges addresses. Nothing here is ever decided against an address because of a malformed datagram: its source may be
/// forged, and a proxy stands for many players (RakLib#57).
#[derive(Debug, Default)]
pub(crate) struct Gate {
    /// Banned addresses and when the ban ends.
    bans: BTreeMap<IpAddr, Option<Instant>>,
    /// Offline messages of each address in the current second.
    offline: BTreeMap<IpAddr, u32>,
    offline_second: u64,
    /// When each address opened its last session.
    connected: BTreeMap<IpAddr, Instant>,
    /// Sessions of each address.
    sessions: BTreeMap<IpAddr, usize>,
}

/// Why a session is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The address connected a moment ago.
    TooSoon,
    /// The address has as many sessions as it may.
    TooMany,
}

impl Gate {
    /// Bans an address for a while, or for ever. When the list is full the ban that ends first makes room.
    pub(crate) fn ban(&mut self, ip: IpAddr, until: Option<Instant>, max_tracked: usize) {
        if !self.bans.contains_key(&ip) && self.bans.len() >= max_tracked {
            let first = self.bans.iter().min_by_key(|(_, until)| until.map_or(u64::MAX, Instant::as_nanos));
            if let Some(first) = first.map(|(ip, _)| *ip) {
                self.bans.remove(&first);
            }
        }
        self.bans.insert(ip, until);
    }

    /// Lifts a ban, and says whether there was one.
    pub(crate) fn unban(&mut self, ip: IpAddr) -> bool {
        self.bans.remove(&ip).is_some()
    }

    /// Says whether an address is banned.
    pub(crate) fn is_banned(&mut self, ip: IpAddr, now: Instant) -> bool {
        if self.bans.is_empty() {
            return false;
        }
        match self.bans.get(&ip) {
            None => false,
            Some(Some(until)) if *until <= now => {
                self.bans.remove(&ip);
                false
            }
            Some(_) => true,
        }
    }

    /// Counts an offline message, and says whether it may be answered. Addresses beyond the table's size are not
    /// limited: the table is emptied every second, and a flood from many addresses must not shut out the true ones.
    pub(crate) fn admits_offline(&mut self, ip: IpAddr, now: Instant, config: &IncomingConfig) -> bool {
        let Some(limit) = config.offline_messages_per_ip else { return true };
        let second = now.as_nanos() / 1_000_000_000;
        if second != self.offline_second {
            self.offline_second = second;
            self.offline.clear();
        }
        if let Some(count) = self.offline.get_mut(&ip) {
            *count = count.saturating_add(1);
            return *count <= limit;
        }
        if self.offline.len() < config.max_tracked_ips {
            self.offline.insert(ip, 1);
        }
        true
    }

    /// Says whether an address may open another session.
    pub(crate) fn admits_session(
        &self,
        ip: IpAddr,
        now: Instant,
        config: &IncomingConfig,
    ) -> Result<(), Refused> {
        if let (Some(interval), Some(&last)) = (config.min_interval_per_ip, self.connected.get(&ip))
            && last + interval > now
        {
            return Err(Refused::TooSoon);
        }
        if config.max_connections_per_ip.is_some_and(|max| self.sessions.get(&ip).is_some_and(|&n| n >= max))
        {
            return Err(Refused::TooMany);
        }
        Ok(())
    }

    /// Takes note of a session.
    pub(crate) fn session_opened(&mut self, ip: IpAddr, now: Instant, config: &IncomingConfig) {
        *self.sessions.entry(ip).or_insert(0) += 1;
        if let Some(interval) = config.min_interval_per_ip {
            if self.connected.len() >= config.max_tracked_ips {
                self.forget_old(now, interval);
            }
            if self.connected.len() < config.max_tracked_ips || self.connected.contains_key(&ip) {
                self.connected.insert(ip, now);
            }
        }
    }

    /// Takes note of the end of a session.
    pub(crate) fn session_closed(&mut self, ip: IpAddr) {
        if let Some(count) = self.sessions.get_mut(&ip) {
            *count -= 1;
            if *count == 0 {
                self.sessions.remove(&ip);
            }
        }
    }

    fn forget_old(&mut self, now: Instant, interval: Duration) {
        self.connected.retain(|_, last| *last + interval > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(n: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, n])
    }

    #[test]
    fn bans_end_and_the_list_is_bounded() {
        let mut gate = Gate::default();
        gate.ban(ip(1), Some(Instant::from_millis(100)), 2);
        gate.ban(ip(2), None, 2);
        assert!(gate.is_banned(ip(1), Instant::from_millis(99)));
        assert!(!gate.is_banned(ip(1), Instant::from_millis(100)));
        gate.ban(ip(3), Some(Instant::from_millis(500)), 2);
        gate.ban(ip(4), None, 2);
        assert!(gate.is_banned(ip(2), Instant::ZERO) && gate.is_banned(ip(4), Instant::ZERO));
        assert!(!gate.is_banned(ip(3), Instant::ZERO), "the one that ends first made room");
        assert!(gate.unban(ip(2)) && !gate.unban(ip(2)));
    }

    #[test]
    fn offline_messages_are_limited_by_address_and_second() {
        let config =
            IncomingConfig { offline_messages_per_ip: Some(3), max_tracked_ips: 1, ..Default::default() };
        let mut gate = Gate::default();
        let allowed = (0..5).filter(|_| gate.admits_offline(ip(1), Instant::ZERO, &config)).count();
        assert_eq!(allowed, 3);
        assert!((0..5).all(|_| gate.admits_offline(ip(2), Instant::ZERO, &config)), "the table is full");
        assert!(gate.admits_offline(ip(1), Instant::from_millis(1_000), &config));
    }

    #[test]
    fn sessions_are_limited_only_where_asked() {
        let mut gate = Gate::default();
        let open = IncomingConfig::default();
        for _ in 0..100 {
            assert_eq!(gate.admits_session(ip(1), Instant::ZERO, &open), Ok(()), "a proxy is many players");
            gate.session_opened(ip(1), Instant::ZERO, &open);
        }
        let limited = IncomingConfig {
            max_connections_per_ip: Some(100),
            min_interval_per_ip: Some(Duration::from_millis(100)),
            ..Default::default()
        };
        assert_eq!(gate.admits_session(ip(1), Instant::ZERO, &limited), Err(Refused::TooMany));
        gate.session_closed(ip(1));
        assert_eq!(gate.admits_session(ip(1), Instant::ZERO, &limited), Ok(()));
        gate.session_opened(ip(2), Instant::ZERO, &limited);
        assert_eq!(gate.admits_session(ip(2), Instant::from_millis(99), &limited), Err(Refused::TooSoon));
        assert_eq!(gate.admits_session(ip(2), Instant::from_millis(100), &limited), Ok(()));
    }
}
