//! The state of the interfaces, for people.

use proto_rns::wire::msgpack::Value;
use std::fmt::{self, Display};

use super::{Status, shown};
use crate::{
    output::style::{self, paint},
    rns::fields::{amount, count, hash, integer, text},
};

/// What is shown of a status.
#[derive(Debug)]
pub(super) struct Report<'a> {
    options: &'a Status,
    stats: &'a Value,
    links: Option<Value>,
}

impl<'a> Report<'a> {
    /// Shows `stats` as the options want.
    pub(super) const fn new(options: &'a Status, stats: &'a Value, links: Option<Value>) -> Self {
        Self { options, stats, links }
    }

    fn interfaces(&self) -> Vec<&'a Value> {
        let Some(Value::Array(all)) = self.stats.get("interfaces") else { return Vec::new() };
        let filter = self.options.filter.as_ref().map(|filter| filter.to_lowercase());
        let is_wanted = |interface: &&Value| {
            let name = text(interface, "name").unwrap_or_default();
            (self.options.all || interface.get("parent_interface_name").is_none())
                && filter.as_ref().is_none_or(|filter| name.to_lowercase().contains(filter))
        };
        let mut wanted: Vec<&Value> = all.iter().filter(is_wanted).collect();
        if let Some(key) = self.options.sort {
            key.sort(&mut wanted, self.options.reverse);
        }
        wanted
    }

    fn write_interface(&self, f: &mut fmt::Formatter<'_>, interface: &Value) -> fmt::Result {
        let is_up = interface.get("status") == Some(&Value::Bool(true));
        let status = if is_up { paint(style::GOOD, "Up") } else { paint(style::BAD, "Down") };
        writeln!(f, "\n {}", paint(style::STRONG, text(interface, "name").unwrap_or("?")))?;
        writeln!(f, "    Status    : {status}")?;
        let is_shared = text(interface, "type") == Some("LocalServerInterface");
        match count(interface, "clients") {
            // Whoever asks from this host is one of them.
            Some(clients) if is_shared => {
                let others = if self.options.remote.is_none() { clients } else { clients.saturating_sub(1) };
                writeln!(f, "    Serving   : {others} program{}", if others == 1 { "" } else { "s" })?;
            }
            Some(clients) => writeln!(f, "    Clients   : {clients}")?,
            None => {}
        }
        if !is_shared && interface.get("parent_interface_name").is_none() {
            writeln!(f, "    Mode      : {}", mode(interface))?;
        }
        let rate = shown::speed(amount(interface, "bitrate"));
        match count(interface, "mtu") {
            Some(mtu) => writeln!(f, "    Rate      : {rate}, MTU {mtu}")?,
            None => writeln!(f, "    Rate      : {rate}")?,
        }
        if let Some(size) = count(interface, "ifac_size") {
            let code = match interface.get("ifac_signature") {
                Some(Value::Bytes(signature)) => {
                    let end = signature.len().saturating_sub(5);
                    format!(" by <…{}>", shown::hex(signature.get(end..).unwrap_or_default()))
                }
                _ => String::new(),
            };
            writeln!(f, "    Access    : {}-bit IFAC{code}", size * 8)?;
        }
        if let Some(name) = text(interface, "ifac_netname") {
            writeln!(f, "    Network   : {name}")?;
        }
        if self.options.announce_stats {
            write_announces(f, interface)?;
        }
        write_traffic(f, "    Traffic   :", interface)
    }

    fn write_node(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let links = self.links.as_ref().and_then(integer);
        let links =
            links.map(|count| format!("{count} entr{} in link table", if count == 1 { "y" } else { "ies" }));
        let Some(id) = hash(self.stats, "transport_id") else {
            return links.map_or(Ok(()), |links| writeln!(f, "\n {links}"));
        };
        writeln!(f, "\n Transport Instance <{id}> running")?;
        if let Some(probe) = hash(self.stats, "probe_responder") {
            writeln!(f, " Probe responder at <{probe}> active")?;
        }
        let uptime = shown::period(amount(self.stats, "transport_uptime"));
        match links {
            Some(links) => writeln!(f, " Uptime is {uptime}, {links}"),
            None => writeln!(f, " Uptime is {uptime}"),
        }
    }
}

impl Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interfaces = self.interfaces();
        if interfaces.is_empty() {
            writeln!(f, "\n No interface of that name; -a shows connections, too")?;
        }
        for interface in interfaces {
            self.write_interface(f, interface)?;
        }
        if self.options.totals {
            writeln!(f)?;
            write_traffic(f, " Totals       :", self.stats)?;
        }
        self.write_node(f)
    }
}

fn write_announces(f: &mut fmt::Formatter<'_>, interface: &Value) -> fmt::Result {
    if let Some(target) = count(interface, "announce_rate_target") {
        let grace = count(interface, "announce_rate_grace").unwrap_or(0);
        let target = shown::period(f64::from(u32::try_from(target).unwrap_or(u32::MAX)));
        writeln!(f, "    Ann. rate : one each {target}, {grace} more in grace")?;
    }
    writeln!(f, "    Held anns : {}", amount(interface, "held_announces"))
}

fn write_traffic(f: &mut fmt::Formatter<'_>, label: &str, counts: &Value) -> fmt::Result {
    let sent = format!("↑{}", shown::size(amount(counts, "txb")));
    let received = format!("↓{}", shown::size(amount(counts, "rxb")));
    let width = sent.chars().count().max(received.chars().count()) + 2;
    let indent = " ".repeat(label.chars().count());
    writeln!(f, "{label} {sent:<width$}  {}", shown::speed(amount(counts, "txs")))?;
    writeln!(f, "{indent} {received:<width$}  {}", shown::speed(amount(counts, "rxs")))
}

fn mode(interface: &Value) -> &'static str {
    match count(interface, "mode") {
        Some(2) => "Point-to-Point",
        Some(3) => "Access Point",
        Some(4) => "Roaming",
        Some(5) => "Boundary",
        Some(6) => "Gateway",
        Some(7) => "Internal",
        _ => "Full",
    }
}
