//! References that are relative to a URL (RFC 3986 §5).

use alloc::{borrow::ToOwned as _, format, string::String};

use super::{Url, UrlError, UrlProblem, parse};

/// Resolves `reference` against `base`.
pub(super) fn resolve(base: &Url, reference: &str) -> Result<Url, UrlError> {
    if reference.len() > Url::MAX_LEN {
        return Err(UrlError { problem: UrlProblem::TooLong, at: Url::MAX_LEN });
    }
    if let Some(rest) = reference.strip_prefix("//") {
        return parse::behind_scheme(base.scheme, rest, 2).map(without_dots);
    }
    if has_scheme(reference) {
        return parse::absolute(reference).map(without_dots);
    }
    // Checked as a path of its own, so that errors point into the reference.
    parse::target(reference, 0)?;
    let reference = reference.split('#').next().unwrap_or_default();
    let (base_path, base_query) = match base.target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (base.target.as_str(), None),
    };
    let target = match reference.split_once('?') {
        _ if reference.is_empty() => join(base_path, base_query),
        Some(("", query)) => join(base_path, Some(query)),
        Some((path, query)) => join(&merge(base_path, path), Some(query)),
        None => merge(base_path, reference),
    };
    let url = without_dots(Url { target, ..base.clone() });
    if url.target.len() > Url::MAX_LEN {
        return Err(UrlError { problem: UrlProblem::TooLong, at: 0 });
    }
    if url.scheme.is_datagram() && !(url.target == "/" || url.target.starts_with("/?")) {
        return Err(UrlError { problem: UrlProblem::Path, at: 0 });
    }
    Ok(url)
}

/// A colon before the first slash, question mark and number sign ends a scheme.
fn has_scheme(reference: &str) -> bool {
    let end = reference.find([':', '/', '?', '#']);
    end.is_some_and(|end| end > 0 && reference.get(end..).is_some_and(|rest| rest.starts_with(':')))
}

fn join(path: &str, query: Option<&str>) -> String {
    match query {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

/// Puts a relative path in place of what follows the base's last slash (RFC 3986 §5.2.3).
fn merge(base: &str, path: &str) -> String {
    if path.starts_with('/') {
        return path.to_owned();
    }
    let directory = base.rfind('/').and_then(|slash| base.get(..=slash)).unwrap_or("/");
    format!("{directory}{path}")
}

/// Takes `.` and `..` out of the path (RFC 3986 §5.2.4).
fn without_dots(url: Url) -> Url {
    let (path, query) = match url.target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (url.target.as_str(), None),
    };
    let mut kept = String::with_capacity(path.len());
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." => {}
            ".." => kept.truncate(kept.rfind('/').unwrap_or(0)),
            _ => {
                kept.push('/');
                kept.push_str(segment);
                continue;
            }
        }
        if is_last {
            kept.push('/');
        }
    }
    let target = join(&kept, query);
    Url { target, ..url }
}
