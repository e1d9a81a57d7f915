//! What a Bedrock server says about itself in its pong.
//!
//! The text is a list of fields, each ended by a semicolon:
//! `MCPE;name;protocol;version;players;max;guid;level;mode;modeNumber;portV4;portV6;`. A length of 16 bits
//! stands in front of it. Bedrock clients ignore a server without it; any other game may put bytes of its own
//! there.

use alloc::{
    borrow::Cow,
    string::{String, ToString as _},
    vec::Vec,
};
use core::{fmt, str::FromStr};

use thiserror::Error;

use crate::{guid::Guid, wire::MAX_PONG_DATA};

/// The fields of a Bedrock server's pong.
///
/// Servers leave out fields at the end, and some write nothing or nonsense into optional ones: those are
/// `None`. Text fields may hold semicolons, which are escaped on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Motd {
    /// Which game it is.
    pub edition: Edition,
    /// The first line: the server's name.
    pub name: String,
    /// The game's protocol version, which has nothing to do with RakNet's.
    pub protocol: i32,
    /// The game's version as text, such as `1.21.60`.
    pub version: String,
    /// How many players are there.
    pub players: i32,
    /// How many may be.
    pub max_players: i32,
    /// The server's GUID; on the wire a decimal number.
    pub guid: Option<Guid>,
    /// The second line: the name of the level.
    pub level: Option<String>,
    /// The game mode as text, such as `Survival`.
    pub mode: Option<String>,
    /// The game mode as a number.
    pub mode_number: Option<i32>,
    /// The port over IPv4.
    pub port_v4: Option<u16>,
    /// The port over IPv6.
    pub port_v6: Option<u16>,
    /// Fields that games of another version put behind the ports.
    pub more: Vec<String>,
}

impl Motd {
    /// Creates the text of an empty Bedrock server with room for one player.
    pub fn new(name: impl Into<String>, protocol: i32, version: impl Into<String>) -> Self {
        Self {
            edition: Edition::Bedrock,
            name: name.into(),
            protocol,
            version: version.into(),
            players: 0,
            max_players: 1,
            guid: None,
            level: None,
            mode: None,
            mode_number: None,
            port_v4: None,
            port_v6: None,
            more: Vec::new(),
        }
    }

    /// Sets how many players are there and how many may be.
    #[must_use]
    pub fn with_players(self, players: i32, max_players: i32) -> Self {
        Self { players, max_players, ..self }
    }

    /// Sets the GUID, which should be that of the pong around the text.
    #[must_use]
    pub fn with_guid(self, guid: Guid) -> Self {
        Self { guid: Some(guid), ..self }
    }

    /// Sets the second line.
    #[must_use]
    pub fn with_level(self, level: impl Into<String>) -> Self {
        Self { level: Some(level.into()), ..self }
    }

    /// Sets the game mode, as text and as number.
    #[must_use]
    pub fn with_mode(self, mode: impl Into<String>, number: i32) -> Self {
        Self { mode: Some(mode.into()), mode_number: Some(number), ..self }
    }

    /// Sets the ports that clients shall connect to.
    #[must_use]
    pub fn with_ports(self, v4: u16, v6: u16) -> Self {
        Self { port_v4: Some(v4), port_v6: Some(v6), ..self }
    }

    /// Reads the data of a pong.
    ///
    /// The length in front of the text may be missing, or larger than what is there. Bytes that are not UTF-8
    /// become U+FFFD.
    ///
    /// # Errors
    /// A [`MotdParseError`] when the data is not such a text or lacks one of its first six fields.
    pub fn parse(data: &[u8]) -> Result<Self, MotdParseError> {
        let text = String::from_utf8_lossy(text_of(data));
        let mut fields = Fields(&text);
        Ok(Self {
            edition: fields.required("edition")?.parse()?,
            name: fields.required("name")?.into_owned(),
            protocol: fields.number("protocol")?,
            version: fields.required("version")?.into_owned(),
            players: fields.number("players")?,
            max_players: fields.number("max players")?,
            guid: fields.text().and_then(|digits| guid_of(&digits)),
            level: fields.text(),
            mode: fields.text(),
            mode_number: fields.optional(),
            port_v4: fields.optional(),
            port_v6: fields.optional(),
            more: fields.map(Cow::into_owned).collect(),
        })
    }

    /// Returns the data of the pong: the length and the text.
    ///
    /// # Errors
    /// [`MotdError::TooLong`] when that is more than [`MAX_PONG_DATA`], [`MotdError::TrailingBackslash`] when
    /// a field would swallow the semicolon that ends it.
    pub fn to_pong_data(&self) -> Result<Vec<u8>, MotdError> {
        if self.texts().any(|text| text.ends_with('\\')) {
            return Err(MotdError::TrailingBackslash);
        }
        let text = self.to_string();
        let room = MAX_PONG_DATA - LENGTH_LEN;
        let len = u16::try_from(text.len())
            .ok()
            .filter(|&len| usize::from(len) <= room)
            .ok_or_else(|| MotdError::TooLong { excess: text.len().saturating_sub(room) })?;
        Ok([&len.to_be_bytes(), text.as_bytes()].concat())
    }

    /// The fields that hold free text.
    fn texts(&self) -> impl Iterator<Item = &str> {
        [&self.name, &self.version]
            .into_iter()
            .chain(&self.level)
            .chain(&self.mode)
            .chain(&self.more)
            .map(String::as_str)
    }
}

/// Writes the text without the length in front, up to the last optional field that is there.
impl fmt::Display for Motd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{};{};{};", self.edition, Escaped(&self.name), self.protocol)?;
        write!(f, "{};{};{};", Escaped(&self.version), self.players, self.max_players)?;
        let optional = [
            self.guid.map(|guid| guid.0.to_string()),
            self.level.clone(),
            self.mode.clone(),
            self.mode_number.map(|number| number.to_string()),
            self.port_v4.map(|port| port.to_string()),
            self.port_v6.map(|port| port.to_string()),
        ];
        let mut behind: Vec<&str> = optional.iter().map(|field| field.as_deref().unwrap_or("")).collect();
        behind.extend(self.more.iter().map(String::as_str));
        let there = behind.iter().rposition(|field| !field.is_empty()).map_or(0, |last| last + 1);
        behind.iter().take(there).try_for_each(|field| write!(f, "{};", Escaped(field)))
    }
}

/// Which game a [`Motd`] advertises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edition {
    /// `MCPE`: Bedrock.
    Bedrock,
    /// `MCEE`: Education.
    Education,
}

impl Edition {
    const fn tag(self) -> &'static str {
        match self {
            Self::Bedrock => "MCPE",
            Self::Education => "MCEE",
        }
    }
}

impl fmt::Display for Edition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.tag())
    }
}

impl FromStr for Edition {
    type Err = MotdParseError;

    fn from_str(tag: &str) -> Result<Self, MotdParseError> {
        [Self::Bedrock, Self::Education]
            .into_iter()
            .find(|edition| edition.tag() == tag)
            .ok_or(MotdParseError::Edition)
    }
}

/// Why the data of a pong is no [`Motd`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum MotdParseError {
    /// The text starts with neither `MCPE` nor `MCEE`.
    #[error("the text starts with neither MCPE nor MCEE")]
    Edition,
    /// The text ends before a field that every server sends.
    #[error("the field \"{0}\" is missing")]
    Missing(&'static str),
    /// A field that every server sends as a number is none, or too large.
    #[error("the field \"{0}\" is not a number in range")]
    Number(&'static str),
}

/// Why a [`Motd`] cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum MotdError {
    /// The encoding is longer than a pong may be.
    #[error("the encoded text is {excess} bytes too long")]
    TooLong {
        /// By how many bytes.
        excess: usize,
    },
    /// A text field ends with a backslash, which would escape the semicolon that ends the field.
    #[error("a field must not end with a backslash")]
    TrailingBackslash,
}

/// The text inside the data of a pong.
fn text_of(data: &[u8]) -> &[u8] {
    match data.split_first_chunk::<LENGTH_LEN>() {
        // A length this large does not fit a pong: these are the first letters of a text without one.
        Some((b"MC", _)) | None => data,
        Some((len, text)) => text.get(..usize::from(u16::from_be_bytes(*len))).unwrap_or(text),
    }
}

/// Reads a GUID, which some servers write as a signed number.
fn guid_of(digits: &str) -> Option<Guid> {
    digits.parse().or_else(|_| digits.parse().map(i64::cast_unsigned)).ok().map(Guid)
}

/// The fields of a text, unescaped, from the first to the last.
struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    fn required(&mut self, name: &'static str) -> Result<Cow<'a, str>, MotdParseError> {
        self.next().ok_or(MotdParseError::Missing(name))
    }

    fn number(&mut self, name: &'static str) -> Result<i32, MotdParseError> {
        self.required(name)?.parse().map_err(|_| MotdParseError::Number(name))
    }

    fn optional<T: FromStr>(&mut self) -> Option<T> {
        self.next()?.parse().ok()
    }

    fn text(&mut self) -> Option<String> {
        self.next().map(Cow::into_owned).filter(|field| !field.is_empty())
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        if self.0.is_empty() {
            return None;
        }
        let end =
            self.0.match_indices(';').map(|(at, _)| at).find(|&at| !self.0.split_at(at).0.ends_with('\\'));
        let (field, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest.strip_prefix(';').unwrap_or(rest);
        Some(if field.contains(ESCAPED) { field.replace(ESCAPED, ";").into() } else { field.into() })
    }
}

/// Writes a field with its semicolons escaped.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.0.split(';');
        f.write_str(parts.next().unwrap_or_default())?;
        parts.try_for_each(|part| write!(f, "{ESCAPED}{part}"))
    }
}

const ESCAPED: &str = "\\;";

const LENGTH_LEN: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::prelude::*;

    fn full() -> Motd {
        Motd::new("go-raknet echo", 111, "1.0")
            .with_players(0, 10)
            .with_guid(Guid(1))
            .with_level("x")
            .with_mode("Survival", 1)
            .with_ports(19132, 19133)
    }

    #[test]
    fn a_whole_text_has_its_length_in_front() {
        let text = b"MCPE;go-raknet echo;111;1.0;0;10;1;x;Survival;1;19132;19133;";
        let data = full().to_pong_data().unwrap();
        assert_eq!(data, [&[0, 60], &text[..]].concat());
        assert_eq!(Motd::parse(&data), Ok(full()));
    }

    #[test]
    fn a_text_without_its_length_parses_too() {
        assert_eq!(Motd::parse(full().to_string().as_bytes()), Ok(full()));
    }

    #[test]
    fn what_stands_behind_the_announced_length_is_ignored() {
        let data = [full().to_pong_data().unwrap(), b"more;".to_vec()].concat();
        assert_eq!(Motd::parse(&data), Ok(full()));
    }

    #[test]
    fn an_announced_length_beyond_the_data_reads_what_is_there() {
        let mut data = full().to_pong_data().unwrap();
        data[0] = 1;
        assert_eq!(Motd::parse(&data), Ok(full()));
    }

    #[test]
    fn fields_missing_at_the_end_are_none() {
        let short = Motd::parse(b"MCPE;native;11;1.0;0;20;1;x;").unwrap();
        assert_eq!(
            short,
            Motd::new("native", 11, "1.0").with_players(0, 20).with_guid(Guid(1)).with_level("x")
        );
        let shorter = Motd::parse(b"MCPE;native;11;1.0;0;20").unwrap();
        assert_eq!(shorter, Motd::new("native", 11, "1.0").with_players(0, 20));
        assert_eq!(shorter.to_string(), "MCPE;native;11;1.0;0;20;");
    }

    #[test]
    fn a_gap_before_a_later_field_stays_a_gap() {
        let gap = Motd { guid: None, level: None, mode: None, mode_number: None, port_v6: None, ..full() };
        assert_eq!(gap.to_string(), "MCPE;go-raknet echo;111;1.0;0;10;;;;;19132;");
        assert_eq!(Motd::parse(gap.to_string().as_bytes()), Ok(gap));
    }

    #[test]
    fn fields_behind_the_ports_are_kept() {
        let text = "MCPE;a;1;2;3;4;5;b;c;6;7;8;0;new;";
        let motd = Motd::parse(text.as_bytes()).unwrap();
        assert_eq!(motd.more, ["0", "new"]);
        assert_eq!(motd.to_string(), text);
    }

    #[test]
    fn the_education_edition_is_another() {
        assert_eq!(Motd::parse(b"MCEE;a;1;2;3;4;").unwrap().edition, Edition::Education);
        assert_eq!(Motd::parse(b"MCXX;a;1;2;3;4;"), Err(MotdParseError::Edition));
        assert_eq!(Motd::parse(b"free data of another game"), Err(MotdParseError::Edition));
    }

    #[test]
    fn semicolons_inside_a_field_are_escaped() {
        let text = r"MCPE;a\;b;1;c\d;3;4;";
        let motd = Motd::parse(text.as_bytes()).unwrap();
        assert_eq!((&*motd.name, &*motd.version), ("a;b", r"c\d"));
        assert_eq!(motd.to_string(), text);
    }

    #[test]
    fn a_field_that_would_escape_its_own_end_is_refused() {
        let motd = Motd::new("shop\\", 1, "1");
        assert_eq!(motd.to_pong_data(), Err(MotdError::TrailingBackslash));
    }

    #[test]
    fn a_text_too_long_for_a_pong_says_by_how_much() {
        let fits = Motd::new("x".repeat(397 - "MCPE;;1;1;0;1;".len()), 1, "1");
        assert_eq!(fits.to_pong_data().unwrap().len(), MAX_PONG_DATA);
        let long = Motd { name: format!("{}xxx", fits.name), ..fits };
        assert_eq!(long.to_pong_data(), Err(MotdError::TooLong { excess: 3 }));
        let huge = Motd::new("x".repeat(70_000), 1, "1");
        assert_eq!(huge.to_pong_data(), Err(MotdError::TooLong { excess: 70_014 - 397 }));
    }

    #[test]
    fn a_field_that_must_be_there_is_named_when_it_is_not() {
        assert_eq!(Motd::parse(b""), Err(MotdParseError::Missing("edition")));
        assert_eq!(Motd::parse(b"MCPE;a;1;2;3"), Err(MotdParseError::Missing("max players")));
        assert_eq!(Motd::parse(b"MCPE;a;one;2;3;4;"), Err(MotdParseError::Number("protocol")));
    }

    #[test]
    fn nonsense_in_optional_fields_is_none() {
        let motd = Motd::parse(b"MCPE;a;1;2;3;4;guid;b;c;mode;99999;-1;").unwrap();
        let expected = Motd::new("a", 1, "2").with_players(3, 4).with_level("b");
        assert_eq!(motd, Motd { mode: Some("c".into()), ..expected });
    }

    #[test]
    fn a_negative_guid_is_the_same_64_bits() {
        assert_eq!(Motd::parse(b"MCPE;a;1;2;3;4;-1;").unwrap().guid, Some(Guid(u64::MAX)));
    }

    #[test]
    fn a_text_cut_inside_a_letter_is_shown_as_far_as_it_goes() {
        assert_eq!(Motd::parse(b"MCPE;a;1;2;3;4;5;caf\xc3").unwrap().level.as_deref(), Some("caf\u{fffd}"));
    }

    /// Any field that the wire can carry: not empty, and not ended by a backslash.
    fn any_field() -> impl Strategy<Value = String> {
        "[a-z;\\\\§ ]{0,11}[a-z;§]"
    }

    proptest! {
        #[test]
        fn an_encoded_text_parses_back(
            education: bool,
            name in any_field(),
            protocol: i32,
            version in any_field(),
            (players, max_players) in any::<(i32, i32)>(),
            guid: Option<u64>,
            (level, mode) in (proptest::option::of(any_field()), proptest::option::of(any_field())),
            mode_number: Option<i32>,
            (port_v4, port_v6) in any::<(Option<u16>, Option<u16>)>(),
            more in proptest::collection::vec(any_field(), 0..3),
        ) {
            let edition = if education { Edition::Education } else { Edition::Bedrock };
            let guid = guid.map(Guid);
            let motd = Motd {
                edition, name, protocol, version, players, max_players, guid, level, mode, mode_number, port_v4,
                port_v6, more,
            };
            prop_assert_eq!(Motd::parse(&motd.to_pong_data().unwrap()), Ok(motd));
        }

        #[test]
        fn any_bytes_parse_or_are_refused(data in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = Motd::parse(&data);
            let _ = Motd::parse(&[b"MCPE;", &data[..]].concat());
        }
    }
}
