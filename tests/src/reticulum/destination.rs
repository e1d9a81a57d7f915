//! What a test says about a destination.

use proto_rns::IdentityHash;
use serde_json::{Value, json};

use super::Content;

/// The key that the members of a GROUP destination share.
pub type GroupKey = [u8; 64];

/// A destination that [proves on wish](Proofs::OnWish) proves the packets that begin so.
pub const WISH: &[u8] = b"prove";

/// A destination as a test wants it. SINGLE and GROUP destinations need an identity: one's own for
/// [`Direction::In`], one known from an announce for [`Direction::Out`].
#[derive(Clone, Debug)]
pub struct DestinationSpec {
    /// Its name: the application and the aspects, with dots between.
    pub name: String,
    /// Which end of it the peer has.
    pub direction: Direction,
    /// What it is.
    pub kind: DestinationKind,
    /// Whose it is.
    pub identity: Option<IdentityHash>,
    /// What its announces say unless they are told otherwise.
    pub app_data: Option<Vec<u8>>,
    /// Which packets it proves.
    pub proofs: Proofs,
    /// Whether its announces carry ratchets.
    pub ratchets: Ratchets,
    /// Whether one can open links to it.
    pub accepts_links: bool,
    /// The largest resource it takes on such a link, or `None` for no limit. The other end of a link takes all.
    pub largest_resource: Option<usize>,
    /// The requests it answers.
    pub handlers: Vec<RequestHandler>,
}

/// Which end of a destination a peer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It receives there.
    In,
    /// It sends there.
    Out,
}

/// What a destination is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DestinationKind {
    /// That of one identity.
    Single,
    /// That of all who have the key.
    Group(GroupKey),
    /// Everyone's, without encryption.
    Plain,
}

/// Which packets a destination proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proofs {
    /// None.
    Never,
    /// Those that begin with [`WISH`]: the application decides.
    OnWish,
    /// All.
    Always,
}

/// Whether a destination's announces carry ratchets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ratchets {
    /// They do not.
    Off,
    /// They do.
    Enabled,
    /// They do, and packets without are not taken.
    Enforced,
}

/// A request that a destination answers.
#[derive(Clone, Debug)]
pub struct RequestHandler {
    /// Its path.
    pub path: String,
    /// The answer.
    pub answer: Answer,
    /// Who gets it.
    pub allowed: Allowance,
}

/// How a request is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With what came.
    Echo,
    /// With contents.
    Content(Content),
    /// With contents in a file, and the metadata `{"name": b"answer"}`.
    File(Content),
}

/// Who gets an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allowance {
    /// Nobody.
    Nobody,
    /// Everyone.
    Everyone,
    /// Those who have identified themselves as one of these.
    Listed(Vec<IdentityHash>),
}

impl DestinationSpec {
    /// A destination at which `identity` receives. It takes links and proves all packets.
    pub fn own(name: &str, identity: IdentityHash) -> Self {
        Self {
            name: name.to_owned(),
            direction: Direction::In,
            kind: DestinationKind::Single,
            identity: Some(identity),
            app_data: None,
            proofs: Proofs::Always,
            ratchets: Ratchets::Off,
            accepts_links: true,
            largest_resource: None,
            handlers: Vec::new(),
        }
    }

    /// The destination of somebody else.
    pub fn other(name: &str, identity: IdentityHash) -> Self {
        Self { direction: Direction::Out, accepts_links: false, ..Self::own(name, identity) }
    }

    /// One end of the destination of all who have `key`. Its hash depends on `identity`, which all must have.
    pub fn group(name: &str, identity: IdentityHash, key: GroupKey, direction: Direction) -> Self {
        Self { direction, kind: DestinationKind::Group(key), ..Self::without_proofs(name, identity) }
    }

    /// One end of everyone's destination.
    pub fn plain(name: &str, direction: Direction) -> Self {
        let nobody = IdentityHash::new([0; 16]);
        Self { direction, kind: DestinationKind::Plain, identity: None, ..Self::without_proofs(name, nobody) }
    }

    /// Adds a request that everyone gets an answer to.
    #[must_use]
    pub fn answering(self, path: &str, answer: Answer) -> Self {
        self.answering_some(path, answer, Allowance::Everyone)
    }

    /// Adds a request that some get an answer to.
    #[must_use]
    pub fn answering_some(mut self, path: &str, answer: Answer, allowed: Allowance) -> Self {
        self.handlers.push(RequestHandler { path: path.to_owned(), answer, allowed });
        self
    }

    fn without_proofs(name: &str, identity: IdentityHash) -> Self {
        Self { proofs: Proofs::Never, accepts_links: false, ..Self::own(name, identity) }
    }

    pub(super) fn to_json(&self) -> Value {
        let (kind, group_key) = match self.kind {
            DestinationKind::Single => ("single", None),
            DestinationKind::Group(key) => ("group", Some(hex::encode(key))),
            DestinationKind::Plain => ("plain", None),
        };
        json!({
            "name": self.name,
            "direction": match self.direction {
                Direction::In => "in",
                Direction::Out => "out",
            },
            "kind": kind,
            "group_key": group_key,
            "identity": self.identity.map(|identity| identity.to_string()),
            "app_data": self.app_data.as_ref().map(hex::encode),
            "proofs": match self.proofs {
                Proofs::Never => "never",
                Proofs::OnWish => "on_wish",
                Proofs::Always => "always",
            },
            "ratchets": match self.ratchets {
                Ratchets::Off => "off",
                Ratchets::Enabled => "enabled",
                Ratchets::Enforced => "enforced",
            },
            "accepts_links": self.accepts_links,
            "largest_resource": self.largest_resource,
            "handlers": self.handlers.iter().map(RequestHandler::to_json).collect::<Vec<_>>(),
        })
    }
}

impl RequestHandler {
    fn to_json(&self) -> Value {
        let (answer, content) = match self.answer {
            Answer::Echo => ("echo", None),
            Answer::Content(content) => ("content", Some(content.to_json())),
            Answer::File(content) => ("file", Some(content.to_json())),
        };
        let (allow, listed) = match &self.allowed {
            Allowance::Nobody => ("nobody", Vec::new()),
            Allowance::Everyone => ("everyone", Vec::new()),
            Allowance::Listed(identities) => ("listed", identities.iter().map(ToString::to_string).collect()),
        };
        json!({"path": self.path, "answer": answer, "content": content, "allow": allow, "listed": listed})
    }
}
