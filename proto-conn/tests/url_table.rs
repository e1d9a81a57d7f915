//! URLs, good and bad, one by one.

#![allow(clippy::panic, clippy::expect_used, reason = "test code")]

use proto_conn::{Host, Scheme, Url, UrlProblem};

#[track_caller]
fn url(text: &str) -> Url {
    Url::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[track_caller]
fn assert_bad(text: &str, problem: UrlProblem, at: usize) {
    let error = Url::parse(text).expect_err(text);
    assert_eq!((error.problem, error.at), (problem, at), "{text}");
}

#[test]
fn every_scheme_has_its_name_and_port() {
    let rows = [
        ("http://h", Scheme::Http, 80),
        ("HTTPS://h", Scheme::Https, 443),
        ("ws://h", Scheme::Ws, 80),
        ("wss://h", Scheme::Wss, 443),
        ("udp://h:5", Scheme::Udp, 5),
        ("udp_multicast://224.0.0.1:5", Scheme::UdpMulticast, 5),
        ("udpm://224.0.0.1:5", Scheme::UdpMulticast, 5),
    ];
    for (text, scheme, port) in rows {
        let url = url(text);
        assert_eq!((url.scheme, url.port, url.target.as_str()), (scheme, port, "/"), "{text}");
    }
}

#[test]
fn the_parts_are_where_they_belong() {
    let url = url("https://al%69ce:p%40ss:word@Robot.Example.:8443/a%2Fb/../c?x=1&y#part");
    let userinfo = url.userinfo.clone().unwrap();
    assert_eq!((userinfo.user.as_str(), userinfo.password.as_deref()), ("alice", Some("p@ss:word")));
    assert_eq!(url.host, Host::Name("robot.example.".to_owned()));
    assert_eq!((url.port, url.target.as_str()), (8443, "/a%2Fb/../c?x=1&y"));
    assert_eq!(url.authority(), "robot.example.:8443");
    assert_eq!(url.to_string(), "https://alice:***@robot.example.:8443/a%2Fb/../c?x=1&y");
    assert!(!format!("{url:?}").contains("ss:word"));
}

#[test]
fn a_default_port_and_a_zone_id_stay_out_of_the_host_field() {
    assert_eq!(url("http://h:80/").authority(), "h");
    assert_eq!(url("http://h:443/").authority(), "h:443");
    assert_eq!(url("http://h:/").port, 80);
    assert_eq!(url("http://h:00080").port, 80);
    let local = url("ws://[fe80::1%25eth0]:81/x");
    assert_eq!(local.authority(), "[fe80::1]:81");
    assert_eq!(local.to_string(), "ws://[fe80::1%25eth0]:81/x");
    assert_eq!(url("http://[::1]").authority(), "[::1]");
}

#[test]
fn a_query_without_a_path_and_a_fragment_without_either_are_fine() {
    assert_eq!(url("http://h?a=/b?c").target, "/?a=/b?c");
    assert_eq!(url("http://h#a/b?c").target, "/");
    assert_eq!(url("http://h/?").target, "/?");
}

#[test]
fn a_group_has_interfaces_and_maybe_one_source() {
    let group = url("udp_multicast://10.0.0.7@232.1.1.1:5000?iface=eth0&iface=w%6Can0&ttl=4");
    assert_eq!(group.source, Some("10.0.0.7".parse().unwrap()));
    assert_eq!(group.query_value("iface").as_deref(), Some("eth0"));
    assert_eq!(group.query_values("iface").collect::<Vec<_>>(), ["eth0", "wlan0"]);
    assert_eq!(group.query_value("if"), None);
    let group = url("udpm://[2001:db8::1]@[ff15::1]:5000/");
    assert_eq!(group.source, Some("2001:db8::1".parse().unwrap()));
    assert_eq!(group.to_string(), "udp_multicast://[2001:db8::1]@[ff15::1]:5000");
}

#[cfg(not(feature = "idna"))]
#[test]
fn international_names_need_a_feature() {
    assert_bad("http://bücher.example", UrlProblem::NoIdna, 7);
    assert_eq!(url("http://xn--bcher-kva.example").host.name(), Some("xn--bcher-kva.example"));
}

#[cfg(feature = "idna")]
#[test]
fn international_names_are_encoded() {
    let name = |text| url(text).host.to_string();
    assert_eq!(name("http://Bücher.example"), "xn--bcher-kva.example");
    assert_eq!(name("http://b%C3%BCcher.example"), "xn--bcher-kva.example");
    assert_eq!(name("http://XN--BCHER-KVA.example"), "xn--bcher-kva.example");
    assert_eq!(name("http://faß.example"), "xn--fa-hia.example");
    assert_eq!(name("http://日本語.jp"), "xn--wgv71a119e.jp");
    assert_bad("http://xn--a.example", UrlProblem::Idna, 7);
    assert_bad("http://a\u{fffd}.example", UrlProblem::Idna, 7);
    // The dots and digits of other scripts spell an address as well.
    assert_eq!(name("http://１２７。0.0.1"), "127.0.0.1");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    use UrlProblem as P;
    let rows = [
        ("", P::NoScheme, 0),
        ("h", P::NoScheme, 0),
        ("http:/h", P::NoScheme, 0),
        ("http:h", P::NoScheme, 0),
        ("//h", P::NoScheme, 0),
        (" http://h", P::UnknownScheme, 0),
        ("ftp://h", P::UnknownScheme, 0),
        ("://h", P::UnknownScheme, 0),
        ("http://", P::NoHost, 7),
        ("http:///x", P::NoHost, 7),
        ("http://:80", P::NoHost, 7),
        ("http://u@/", P::NoHost, 9),
        ("http://a b", P::Name, 7),
        ("http://a..b", P::Name, 7),
        ("http://.a", P::Name, 7),
        ("http://a\\b", P::Name, 7),
        ("http://a%2fb", P::Name, 7),
        ("http://a%00b", P::Name, 7),
        ("http://a%4", P::Name, 7),
        ("http://127.1", P::Ipv4, 7),
        ("http://0x7f.0.0.1", P::Ipv4, 7),
        ("http://1.2.3.256", P::Ipv4, 7),
        ("http://[::1", P::Ipv6, 7),
        ("http://[::g]", P::Ipv6, 7),
        ("http://[1.2.3.4]", P::Ipv6, 7),
        ("http://[v1.x]", P::Ipv6, 7),
        ("http://[::1]x", P::Ipv6, 7),
        ("http://[fe80::1%eth0]", P::Zone, 7),
        ("http://h:x", P::Port, 9),
        ("http://h:+1", P::Port, 9),
        ("http://h:0", P::Port, 9),
        ("http://h:65536", P::Port, 9),
        ("http://h:80:80", P::Port, 9),
        ("http://u:p@@h", P::Name, 11),
        ("http://u@v@h", P::Name, 9),
        ("http://u%ff@h", P::Userinfo, 7),
        ("http://u%0a@h", P::Userinfo, 7),
        ("http://u[@h", P::Character, 8),
        ("http://h/a b", P::Character, 10),
        ("http://h/\r\nX: y", P::Character, 9),
        ("http://h/ü", P::Character, 9),
        ("http://h/a|b", P::Character, 10),
        ("http://h/a\\b", P::Character, 10),
        ("http://h/%4", P::Percent, 9),
        ("http://h/?%zz", P::Percent, 10),
        ("http://h/#a#b", P::Character, 11),
        ("udp://h", P::NoPort, 7),
        ("udp://h:", P::NoPort, 7),
        ("udp://h:1/x", P::Path, 9),
        ("udp://u@h:1", P::Userinfo, 6),
        ("udp_multicast://h:1", P::Group, 16),
        ("udp_multicast://10.0.0.1:1", P::Group, 16),
        ("udp_multicast://::1@[ff02::1]:1", P::Source, 16),
        ("udp_multicast://[::1]@224.0.0.1:1", P::Source, 16),
        ("udp_multicast://224.0.0.1@224.0.0.2:1", P::Source, 16),
        ("udp_multicast://eth0@224.0.0.1:1", P::Source, 16),
    ];
    for (text, problem, at) in rows {
        assert_bad(text, problem, at);
    }
    let long = format!("http://h/{}", "a".repeat(Url::MAX_LEN));
    assert_bad(&long, P::TooLong, Url::MAX_LEN);
}

#[test]
fn an_error_reads_as_a_sentence() {
    let error = proto_conn::Error::from(Url::parse("http://h:x").unwrap_err());
    assert_eq!(
        error.to_string(),
        "arguments: not a usable URL: the port is not a number from 1 to 65535, at byte 9"
    );
}

#[test]
fn references_are_resolved_as_rfc_3986_section_5_4_says() {
    let base = url("http://a/b/c/d;p?q");
    let rows = [
        ("g", "/b/c/g"),
        ("./g", "/b/c/g"),
        ("g/", "/b/c/g/"),
        ("/g", "/g"),
        ("?y", "/b/c/d;p?y"),
        ("g?y", "/b/c/g?y"),
        ("#s", "/b/c/d;p?q"),
        ("g#s", "/b/c/g"),
        ("g?y#s", "/b/c/g?y"),
        (";x", "/b/c/;x"),
        ("g;x=1/./y", "/b/c/g;x=1/y"),
        ("", "/b/c/d;p?q"),
        (".", "/b/c/"),
        ("./", "/b/c/"),
        ("..", "/b/"),
        ("../", "/b/"),
        ("../g", "/b/g"),
        ("../..", "/"),
        ("../../g", "/g"),
        ("../../../g", "/g"),
        ("../../../../g", "/g"),
        ("/./g", "/g"),
        ("/../g", "/g"),
        ("g.", "/b/c/g."),
        (".g", "/b/c/.g"),
        ("g..", "/b/c/g.."),
        ("..g", "/b/c/..g"),
        ("./../g", "/b/g"),
        ("./g/.", "/b/c/g/"),
        ("g/./h", "/b/c/g/h"),
        ("g/../h", "/b/c/h"),
        ("g;x=1/../y", "/b/c/y"),
        ("g?y/./x", "/b/c/g?y/./x"),
        ("g?y/../x", "/b/c/g?y/../x"),
        ("g#s/../x", "/b/c/g"),
        ("/g//h", "/g//h"),
        ("./a:b", "/b/c/a:b"),
    ];
    for (reference, target) in rows {
        let joined = base.join(reference).unwrap_or_else(|error| panic!("{reference}: {error}"));
        assert_eq!(joined.target, target, "{reference}");
        assert!(joined.origin_eq(&base));
    }
    let other = base.join("//u@g:81/./x").unwrap();
    assert_eq!(other.to_string(), "http://u@g:81/x");
    assert_eq!(base.join("HTTPS://g").unwrap().to_string(), "https://g/");
    assert_eq!(base.join("g:h").unwrap_err().problem, UrlProblem::NoScheme);
    assert_eq!(base.join("a b").unwrap_err().at, 1);
    assert_eq!(url("udp://h:1").join("x").unwrap_err().problem, UrlProblem::Path);
}

#[test]
fn credentials_stay_within_the_origin() {
    let base = url("http://u:p@h/a");
    assert_eq!(base.join("b").unwrap().userinfo, base.userinfo);
    assert_eq!(base.join("//h/b").unwrap().userinfo, None);
    assert!(base.origin_eq(&url("http://H:80/")));
    assert!(!base.origin_eq(&url("https://h/")));
    assert!(!base.origin_eq(&url("http://h:81/")));
}
