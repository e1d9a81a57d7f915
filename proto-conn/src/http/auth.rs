//! Credentials (RFC 9110 §11).

use alloc::{format, string::String};

use crate::base64;

/// Returns the value of an Authorization or Proxy-Authorization field for user and password (RFC 7617 §2). `None` if
/// the name has a colon, or either a control character: they could not be told apart then.
pub fn basic(user: &str, password: &str) -> Option<String> {
    if user.contains(':') || user.chars().chain(password.chars()).any(char::is_control) {
        return None;
    }
    Some(format!("Basic {}", base64::encode(format!("{user}:{password}").as_bytes())))
}

/// Returns the value of an Authorization field for a token (RFC 6750 §2.1). `None` if that is not one.
pub fn bearer(token: &str) -> Option<String> {
    let body = token.trim_end_matches('=');
    let is_token = !body.is_empty()
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte));
    is_token.then(|| format!("Bearer {token}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_rfcs_hold() {
        assert_eq!(basic("Aladdin", "open sesame").unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(basic("test", "123\u{a3}").unwrap(), "Basic dGVzdDoxMjPCow==");
        assert_eq!(bearer("mF_9.B5f-4.1JqM").unwrap(), "Bearer mF_9.B5f-4.1JqM");
        assert_eq!(bearer("YQ==").unwrap(), "Bearer YQ==");
    }

    #[test]
    fn what_would_be_read_otherwise_is_refused() {
        assert_eq!(basic("a:b", "c"), None);
        assert_eq!(basic("a", "b\r\nc"), None);
        assert_eq!(
            [bearer(""), bearer("="), bearer("a b"), bearer("a=b"), bearer("a\r\nb: c")],
            [None, None, None, None, None]
        );
    }
}
