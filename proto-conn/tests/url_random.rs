//! URLs by chance, against another implementation.

#![allow(clippy::wildcard_enum_match_arm, reason = "test code")]
#![cfg(feature = "idna")]

use proptest::prelude::*;
use proto_conn::{Host, Url, UrlProblem};

/// Text that is nearly a URL.
fn nearly_urls() -> impl Strategy<Value = String> {
    let scheme =
        prop_oneof![4 => "(http|https|ws|wss)", 1 => "[a-zA-Z+.-]{1,5}", 1 => Just("udp".to_owned())];
    let userinfo = prop_oneof![3 => Just(String::new()), 1 => "[a-z%0-9:._~!-]{0,8}@"];
    let host = prop_oneof![
        4 => "[a-zA-Z0-9_-]{1,8}(\\.[a-zA-Z0-9-]{1,5}){0,2}\\.?",
        2 => "[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,3}",
        1 => "[0-9x.]{1,9}",
        2 => "\\[[0-9a-f:]{2,20}\\]",
        1 => "xn--[a-z0-9-]{1,8}",
        1 => "[a-zäöüß日本。.]{1,6}",
        1 => "[ -~]{0,8}",
    ];
    let port = prop_oneof![3 => Just(String::new()), 2 => ":[0-9]{0,6}", 1 => ":[ -~]{1,3}"];
    let path = prop_oneof![
        1 => Just(String::new()),
        4 => "(/[a-zA-Z0-9._~!$&'()*+,;=:@%-]{0,6}){1,4}",
        1 => "/[ -~ü\\t]{0,10}",
    ];
    let query = prop_oneof![2 => Just(String::new()), 1 => "\\?[a-z0-9=&/?%]{0,8}", 1 => "[?#][ -~]{0,8}"];
    (scheme, userinfo, host, port, path, query).prop_map(|(scheme, userinfo, host, port, path, query)| {
        format!("{scheme}://{userinfo}{host}{port}{path}{query}")
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_096, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused_within_its_bounds(text in "\\PC{0,40}", reference in "\\PC{0,20}") {
        if let Err(error) = Url::parse(&text) {
            prop_assert!(error.at <= text.len());
        }
        let base = Url::parse("http://h/a/b?c").unwrap();
        if let Err(error) = base.join(&reference) {
            prop_assert!(error.at <= reference.len());
        }
    }

    #[test]
    fn what_is_read_can_be_written_and_read_again(text in nearly_urls()) {
        if let Ok(url) = Url::parse(&text)
            && url.userinfo.as_ref().is_none_or(|userinfo| userinfo.password.is_none())
        {
            prop_assert_eq!(Url::parse(&url.to_string()), Ok(url));
        }
    }

    #[test]
    fn the_other_implementation_reads_what_we_read(text in nearly_urls()) {
        // Theirs cuts blanks off both ends.
        let text = text.trim_end().to_owned();
        let (ours, theirs) = (Url::parse(&text), url::Url::parse(&text));
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) if !ours.scheme.is_datagram() => {
                prop_assert_eq!(ours.scheme.name(), theirs.scheme());
                prop_assert_eq!(Some(ours.port), theirs.port_or_known_default());
                // Theirs writes IPv6 addresses that contain IPv4 ones in hexadecimal.
                match (&ours.host, theirs.host().unwrap()) {
                    (Host::Name(ours), url::Host::Domain(theirs)) => prop_assert_eq!(ours, theirs),
                    (Host::V4(ours), url::Host::Ipv4(theirs)) => prop_assert_eq!(*ours, theirs),
                    (Host::V6 { ip, .. }, url::Host::Ipv6(theirs)) => prop_assert_eq!(*ip, theirs),
                    (ours, theirs) => prop_assert!(false, "{} is not {}", ours, theirs),
                }
                // Theirs takes dot segments out of absolute URLs, and encodes apostrophes in queries.
                let theirs = &theirs[url::Position::BeforePath..url::Position::AfterQuery];
                let ours = ours.join("").unwrap().target;
                if !text.contains('\'') && !text.to_ascii_lowercase().contains("%2e") {
                    prop_assert_eq!(ours, theirs);
                }
            }
            // Datagram schemes are opaque to theirs.
            (Ok(_), Ok(_)) => {}
            // Theirs checks the labels of international names only.
            (Ok(ours), Err(error)) => prop_assert!(false, "{ours} is not read by theirs: {error}"),
            (Err(error), Ok(theirs)) => {
                // Theirs is the browsers' reading, which repairs what it can; ours names what it does not repair.
                let repaired = match error.problem {
                    // Datagram schemes are opaque to theirs, and other schemes none of ours.
                    _ if !["http", "https", "ws", "wss"].contains(&theirs.scheme()) => true,
                    // Raw characters are encoded, backslashes are slashes, tabs and line ends fall away.
                    UrlProblem::Character | UrlProblem::Percent => true,
                    // More than one @, no host in front of a slash, and longer names than the DNS has.
                    UrlProblem::Name | UrlProblem::NoHost => true,
                    // Credentials that are not UTF-8.
                    UrlProblem::Userinfo => true,
                    // Numbers in many notations.
                    UrlProblem::Ipv4 => true,
                    UrlProblem::Port => theirs.port() == Some(0) || text.contains(['\\', '@', '\t']),
                    UrlProblem::Ipv6 | UrlProblem::Zone | UrlProblem::Idna => text.contains(['\\', '@', '\t']),
                    _ => false,
                };
                prop_assert!(repaired, "{error}, but theirs reads {theirs}");
            }
            (Err(_), Err(_)) => {}
        }
    }
}
