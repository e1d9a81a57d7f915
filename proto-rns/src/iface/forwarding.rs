//! Which announces an interface passes on, by its mode and theirs (spec 1.6.4).

use super::{InterfaceProperties, Mode};

/// Where an announce came from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AnnounceSource<'a> {
    /// A destination of this node, or of a program that it serves.
    Local,
    /// Another node, over an interface with these properties.
    Interface(&'a InterfaceProperties),
    /// Another node, over an interface that is gone.
    Gone,
}

/// Says whether an announce from `source` may leave by `to`, when it is not meant for that interface alone.
pub(crate) fn may_pass_announce(source: AnnounceSource<'_>, to: &InterfaceProperties) -> bool {
    if to.mode == Mode::AccessPoint {
        return false;
    }
    let from = match source {
        AnnounceSource::Local => return true,
        AnnounceSource::Gone => return matches!(to.mode, Mode::Full | Mode::Gateway | Mode::PointToPoint),
        AnnounceSource::Interface(from) => from,
    };
    if from.mode == Mode::Internal && !to.announces_from_internal {
        return false;
    }
    match to.mode {
        Mode::Internal => from.announces_to_internal || from.mode != Mode::Boundary,
        Mode::Roaming => !matches!(from.mode, Mode::Roaming | Mode::Boundary),
        Mode::Boundary => from.mode != Mode::Roaming,
        Mode::AccessPoint => false,
        Mode::Full | Mode::Gateway | Mode::PointToPoint => true,
    }
}

/// Says whether a recursive search that a request over `from` started may ask over `to`.
pub(crate) const fn may_search(from: Mode, to: Mode) -> bool {
    !matches!(from, Mode::Boundary) || matches!(to, Mode::Boundary | Mode::Gateway)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::iface::InterfaceKind;
    use alloc::{string::String, vec::Vec};
    use proto_core::Instant;

    const MODES: [Mode; 7] = [
        Mode::Full,
        Mode::PointToPoint,
        Mode::AccessPoint,
        Mode::Roaming,
        Mode::Boundary,
        Mode::Gateway,
        Mode::Internal,
    ];

    fn interface(mode: Mode) -> InterfaceProperties {
        InterfaceProperties {
            name: String::new(),
            mode,
            kind: InterfaceKind::Network,
            bitrate: 1_000,
            hardware_mtu: None,
            negotiates_mtu: false,
            outgoing: true,
            online: true,
            created: Instant::ZERO,
            gravity: None,
            announce_cap: 0.02,
            announce_rate: None,
            announce_ingress: None,
            path_request_ingress: None,
            path_request_egress: None,
            recursive_path_requests: false,
            announces_from_internal: true,
            announces_to_internal: false,
        }
    }

    fn refused(to: &InterfaceProperties) -> Vec<Mode> {
        let passes = |from| may_pass_announce(AnnounceSource::Interface(&interface(from)), to);
        MODES.into_iter().filter(|&from| !passes(from)).collect()
    }

    #[test]
    fn each_mode_refuses_the_announces_that_the_reference_refuses() {
        assert_eq!(refused(&interface(Mode::AccessPoint)), MODES);
        assert_eq!(refused(&interface(Mode::Roaming)), [Mode::Roaming, Mode::Boundary]);
        assert_eq!(refused(&interface(Mode::Boundary)), [Mode::Roaming]);
        assert_eq!(refused(&interface(Mode::Internal)), [Mode::Boundary]);
        for open in [Mode::Full, Mode::Gateway, Mode::PointToPoint] {
            assert_eq!(refused(&interface(open)), []);
        }
    }

    #[test]
    fn internal_announces_can_be_kept_inside_and_boundary_ones_let_in() {
        let closed = InterfaceProperties { announces_from_internal: false, ..interface(Mode::Full) };
        assert_eq!(refused(&closed), [Mode::Internal]);
        let inviting = InterfaceProperties { announces_to_internal: true, ..interface(Mode::Boundary) };
        assert!(may_pass_announce(AnnounceSource::Interface(&inviting), &interface(Mode::Internal)));
    }

    #[test]
    fn own_announces_leave_everywhere_but_by_access_points() {
        for mode in MODES {
            let passes = may_pass_announce(AnnounceSource::Local, &interface(mode));
            assert_eq!(passes, mode != Mode::AccessPoint);
        }
        assert!(!may_pass_announce(AnnounceSource::Gone, &interface(Mode::Roaming)));
        assert!(may_pass_announce(AnnounceSource::Gone, &interface(Mode::Full)));
    }

    #[test]
    fn searches_from_a_boundary_stay_among_boundaries_and_gateways() {
        let found: Vec<Mode> = MODES.into_iter().filter(|&to| may_search(Mode::Boundary, to)).collect();
        assert_eq!(found, [Mode::Boundary, Mode::Gateway]);
        assert!(MODES.into_iter().all(|to| may_search(Mode::Gateway, to)));
    }
}
