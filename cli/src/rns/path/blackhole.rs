//! Identities that are refused.

use proto_core::UnixTime;
use proto_rns::{IdentityHash, wire::msgpack::Value};
use rns_host::rpc::RpcRequest;
use std::time::Duration;

use super::{Path, ask, remote, tell};
use crate::{
    failure::Failure,
    output,
    rns::{
        fields::{digits, hash, text},
        shown,
    },
};

/// Refuses an identity, or accepts it again.
pub(super) async fn change(options: &Path, identity: IdentityHash) -> Result<(), Failure> {
    if options.unblackhole {
        let done = ask(options, RpcRequest::Unblackhole(identity)).await? == Value::Bool(true);
        let refused = format!("the identity <{identity}> is not blackholed");
        return tell(options, done, format!("Lifted blackhole for identity <{identity}>"), refused);
    }
    let until = options.duration.map(until).transpose()?;
    let reason = options.reason.clone();
    let done = ask(options, RpcRequest::Blackhole { identity, until, reason }).await? == Value::Bool(true);
    let refused = format!("the identity <{identity}> is blackholed already");
    tell(options, done, format!("Blackholed identity <{identity}>"), refused)
}

/// Shows the refused identities of the shared instance, or those that a node elsewhere publishes.
pub(super) async fn show(options: &Path) -> Result<(), Failure> {
    let list = match options.hash {
        Some(hash) if options.blackholed_list => {
            remote(options, IdentityHash::new(*hash.as_bytes())).blackhole_list().await?
        }
        _ => ask(options, RpcRequest::BlackholedIdentities).await?,
    };
    let Value::Map(mut entries) = list else {
        return Err(Failure::network("what was asked for is no list: the other end speaks another version"));
    };
    if let Some(filter) = &options.list_filter {
        entries.retain(|(identity, details)| line(identity, details, 0.0).contains(filter.as_str()));
    }
    if options.json {
        return output::json(&shown::json(&Value::Map(entries)));
    }
    if entries.is_empty() {
        return output::line("No blackholed identity data available");
    }
    let now = shown::unix_now();
    entries.iter().try_for_each(|(identity, details)| output::line(line(identity, details, now)))
}

fn until(hours: f64) -> Result<UnixTime, Failure> {
    let wrong = || Failure::usage(format_args!("a duration of {hours} hours makes no sense"));
    let seconds = shown::unix_now() + hours * 3_600.0;
    if hours.is_nan() || hours <= 0.0 {
        return Err(wrong());
    }
    Duration::try_from_secs_f64(seconds).map(UnixTime::new).map_err(|_| wrong())
}

fn line(identity: &Value, details: &Value, now: f64) -> String {
    let unknown = || "?".into();
    let duration = match details.get("until") {
        Some(Value::Float(until)) => format!("for {}", shown::period(until - now)),
        _ => "indefinitely".into(),
    };
    let reason = text(details, "reason").map(|reason| format!(" ({reason})")).unwrap_or_default();
    let source = hash(details, "source").unwrap_or_else(unknown);
    let identity = digits(identity).unwrap_or_else(unknown);
    format!("<{identity}> blackholed {duration}{reason} by <{source}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_shown_as_the_reference_shows_it() {
        let details = |until| {
            Value::Map(vec![
                ("source".into(), Value::Bytes(vec![2; 16])),
                ("until".into(), until),
                ("reason".into(), "spam x".into()),
            ])
        };
        let identity = Value::Bytes(vec![1; 16]);
        let (one, two) = ("01".repeat(16), "02".repeat(16));
        assert_eq!(
            line(&identity, &details(Value::Float(7_298.69)), 100.0),
            format!("<{one}> blackholed for 1h, 59m and 58.69s (spam x) by <{two}>")
        );
        assert!(line(&identity, &details(Value::Nil), 0.0).contains("blackholed indefinitely (spam x)"));
    }

    #[test]
    fn a_duration_must_be_some_time() {
        assert!(until(24.0).is_ok());
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(until(wrong).is_err(), "{wrong}");
        }
    }
}
