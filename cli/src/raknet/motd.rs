//! What servers say about themselves, for people and for machines.

use proto_raknet::Motd;
use serde_json::{Value, json};

use crate::output::style::{self, paint};

/// Returns the fields of a description by name, in the order of the wire.
pub(crate) fn fields(motd: &Motd) -> Vec<(&'static str, String)> {
    let mut fields = vec![
        ("edition", motd.edition.to_string()),
        ("name", motd.name.clone()),
        ("protocol", motd.protocol.to_string()),
        ("version", motd.version.clone()),
        ("players", format!("{} of {}", motd.players, motd.max_players)),
    ];
    let optional = [
        ("guid", motd.guid.map(|guid| guid.to_string())),
        ("level", motd.level.clone()),
        ("mode", motd.mode.clone()),
        ("mode number", motd.mode_number.map(|number| number.to_string())),
        ("port v4", motd.port_v4.map(|port| port.to_string())),
        ("port v6", motd.port_v6.map(|port| port.to_string())),
    ];
    fields.extend(optional.into_iter().filter_map(|(name, value)| Some((name, value?))));
    fields.extend(motd.more.iter().map(|value| ("more", value.clone())));
    fields
}

/// Returns the fields as lines.
pub(crate) fn lines(motd: &Motd) -> Vec<String> {
    let fields = fields(motd);
    fields
        .iter()
        .map(|(name, value)| {
            format!("  {}  {}", paint(style::FAINT, format_args!("{name:<11}")), printable(value))
        })
        .collect()
}

/// Returns the fields as JSON.
pub(crate) fn json(motd: &Motd) -> Value {
    json!({
        "edition": motd.edition.to_string(),
        "name": motd.name,
        "protocol": motd.protocol,
        "version": motd.version,
        "players": motd.players,
        "max_players": motd.max_players,
        "guid": motd.guid.map(|guid| guid.to_string()),
        "level": motd.level,
        "mode": motd.mode,
        "mode_number": motd.mode_number,
        "port_v4": motd.port_v4,
        "port_v6": motd.port_v6,
        "more": motd.more,
    })
}

/// Returns text of a stranger without what could steer the terminal: control characters, and Minecraft's formatting
/// codes, which mean nothing here.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '§' => {
                letters.next();
            }
            control if control.is_control() => printable.extend(control.escape_default()),
            other => printable.push(other),
        }
    }
    printable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strangers_text_cannot_steer_the_terminal() {
        assert_eq!(printable("§aGreen§r\u{1b}[2Jend\n"), "Green\\u{1b}[2Jend\\n");
        assert_eq!(printable("ends with §"), "ends with ");
    }

    #[test]
    fn only_fields_that_are_there_are_shown() {
        let motd = Motd::new("A", 800, "1.21").with_players(1, 2);
        assert_eq!(fields(&motd).len(), 5);
        assert_eq!(fields(&motd.with_level("L")).last(), Some(&("level", "L".to_owned())));
    }
}
