//! URLs.

use proto_conn::Url;

/// Reads a URL: what is read can be written and read again, and a reference to it leads where it is.
pub fn url(data: &[u8]) {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let Ok(url) = Url::parse(text) else { return };
    if url.userinfo.as_ref().is_none_or(|userinfo| userinfo.password.is_none()) {
        assert_eq!(Url::parse(&url.to_string()).unwrap(), url, "{text:?}");
    }
    for reference in ["", "/a/../b", "?c", "//other/d", "../.."] {
        if let Ok(joined) = url.join(reference) {
            assert!(joined.target.starts_with('/') || url.scheme.is_datagram(), "{text:?} {reference}");
        }
    }
}
