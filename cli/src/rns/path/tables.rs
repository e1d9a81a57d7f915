//! All paths, and how often destinations announce.

use proto_rns::wire::msgpack::Value;
use rns_host::rpc::RpcRequest;

use super::{Path, fetch};
use crate::{
    failure::Failure,
    output::{
        self,
        style::{self, paint},
    },
    rns::{
        fields::{amount, hash, number, text},
        shown,
    },
};

/// Shows a table.
pub(super) async fn show(options: &Path) -> Result<(), Failure> {
    let only = options.hash.as_ref().map_or(Value::Nil, |hash| hash.as_bytes().as_slice().into());
    let table = if options.rates {
        fetch(options, RpcRequest::RateTable, vec!["rates".into(), only.clone(), Value::Nil]).await?
    } else {
        let hops = options.max_hops.map_or(Value::Nil, |hops| Value::Unsigned(hops.into()));
        let wanted = vec!["table".into(), only.clone(), hops];
        fetch(options, RpcRequest::PathTable { max_hops: options.max_hops }, wanted).await?
    };
    let Value::Array(rows) = table else {
        return Err(Failure::network("what was asked for is no table: the other end speaks another version"));
    };
    let mut rows: Vec<Value> =
        rows.into_iter().filter(|row| only == Value::Nil || row.get("hash") == Some(&only)).collect();
    if options.json {
        return output::json(&shown::json(&Value::Array(rows)));
    }
    if rows.is_empty() {
        return output::line("No information available");
    }
    if options.rates {
        rows.sort_by(|one, other| amount(one, "last").total_cmp(&amount(other, "last")));
        rows.iter().try_for_each(|row| output::line(rate_line(row, shown::unix_now())))
    } else {
        rows.sort_by(|one, other| amount(one, "hops").total_cmp(&amount(other, "hops")));
        rows.iter().try_for_each(|row| output::line(path_line(row)))
    }
}

fn path_line(row: &Value) -> String {
    let hops = format!("{} hop{}", amount(row, "hops"), if amount(row, "hops") == 1.0 { " " } else { "s" });
    format!(
        "<{}> is {hops} away via <{}> on {} expires {}",
        paint(style::STRONG, shown_hash(row, "hash")),
        shown_hash(row, "via"),
        text(row, "interface").unwrap_or("?"),
        shown::date(amount(row, "expires"))
    )
}

fn rate_line(row: &Value, now: f64) -> String {
    let times: Vec<f64> = match row.get("timestamps") {
        Some(Value::Array(times)) => times.iter().map(number).collect(),
        _ => Vec::new(),
    };
    let span = now - times.first().copied().unwrap_or(now);
    let hours = (span / 3_600.0).max(1.0);
    let count = f64::from(u32::try_from(times.len()).unwrap_or(u32::MAX));
    let mut line = format!(
        "<{}> last heard {} ago, {:.0} announces/hour in the last {}",
        paint(style::STRONG, shown_hash(row, "hash")),
        shown::period((now - amount(row, "last")).round()),
        count / hours,
        shown::period(span.round())
    );
    let violations = amount(row, "rate_violations");
    if violations > 0.0 {
        line += &format!(", {violations} active rate violations");
    }
    let blocked = amount(row, "blocked_until") - now;
    if blocked > 0.0 {
        line += &format!(", new announces allowed in {}", shown::period(blocked.round()));
    }
    line
}

fn shown_hash(row: &Value, key: &str) -> String {
    hash(row, key).unwrap_or_else(|| "?".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(pairs: &[(&str, Value)]) -> Value {
        Value::Map(pairs.iter().map(|(key, value)| ((*key).into(), value.clone())).collect())
    }

    fn plain(line: &str) -> String {
        anstream::adapter::strip_str(line).to_string()
    }

    #[test]
    fn a_path_is_shown_as_the_reference_shows_it() {
        let hops = |hops| {
            let row = row(&[
                ("hash", Value::Bytes(vec![1; 16])),
                ("via", Value::Bytes(vec![2; 16])),
                ("hops", Value::Unsigned(hops)),
                ("interface", "UDPInterface[u/127.0.0.1:1]".into()),
                ("expires", Value::Float(0.0)),
            ]);
            plain(&path_line(&row))
        };
        let start = format!(
            "<{}> is 1 hop  away via <{}> on UDPInterface[u/127.0.0.1:1] expires ",
            "01".repeat(16),
            "02".repeat(16)
        );
        assert!(hops(1).starts_with(&start), "{}", hops(1));
        assert!(hops(2).contains(" is 2 hops away "));
    }

    #[test]
    fn a_rate_says_when_its_destination_is_blocked() {
        let row = row(&[
            ("hash", Value::Bytes(vec![1; 16])),
            ("last", Value::Float(940.0)),
            ("rate_violations", Value::Unsigned(3)),
            ("blocked_until", Value::Float(1_060.0)),
            ("timestamps", Value::Array(vec![Value::Float(880.0), Value::Float(940.0)])),
        ]);
        let expected = "last heard 1m ago, 2 announces/hour in the last 2m, 3 active rate violations, \
                        new announces allowed in 1m";
        assert!(plain(&rate_line(&row, 1_000.0)).ends_with(expected));
    }
}
