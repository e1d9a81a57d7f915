//! PyPI `lxmf` as a running node: messages between people.

use proto_rns::DestinationHash;
use serde_json::json;
use std::time::Duration;

use super::{Config, Scratch, fields::Fields, installed, program::Program};
use crate::peers::patience::{PATIENCE, now, pause};

/// A running LXMF node on the reference, with one address. Dropped, it is killed.
#[derive(Debug)]
pub struct Lxmf {
    program: Program,
    _folder: Scratch,
}

/// How an LXMF message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LxmfMethod {
    /// In one packet.
    Opportunistic,
    /// Over a link.
    Direct,
}

/// An LXMF message that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LxmfMessage {
    /// Who sent it.
    pub source: DestinationHash,
    /// Its title.
    pub title: String,
    /// What it says.
    pub content: String,
    /// Whether the signature is that of the source.
    pub is_signed: bool,
}

impl Lxmf {
    /// Starts a node.
    ///
    /// # Panics
    /// The package cannot be had, or the node does not start.
    pub fn start(config: &Config) -> Self {
        let folder = Scratch::new();
        config.write(folder.path());
        let program = Program::start("lxmf", &mut installed::script("rns_lxmf.py"), folder.path());
        Self { program, _folder: folder }
    }

    /// Returns its address.
    ///
    /// # Panics
    /// It does not answer.
    pub fn address(&mut self) -> DestinationHash {
        let answer = self.program.call("address", json!({}));
        answer.as_str().and_then(|digits| digits.parse().ok()).expect("an address")
    }

    /// Has it announce its address.
    ///
    /// A client of a shared instance announces its destinations to that alone when it starts. Another announce within
    /// the same second would not be newer, and nobody would hear it: this waits before.
    ///
    /// # Panics
    /// It does not answer.
    pub fn announce(&mut self) {
        pause(Duration::from_millis(1_100));
        self.program.call("announce", json!({}));
    }

    /// Waits until it has a path to `address`.
    ///
    /// # Panics
    /// It finds none in time.
    pub fn path_to(&mut self, address: DestinationHash) {
        let deadline = now() + PATIENCE;
        while self.program.call("knows", json!({"address": address.to_string()})) != json!(true) {
            assert!(now() < deadline, "no path to {address}");
            pause(Duration::from_millis(50));
        }
    }

    /// Sends a note and a letter to `other`, once the two know of each other, and checks that they arrive.
    ///
    /// # Panics
    /// They do not.
    pub fn write_to(&mut self, other: &mut Self) {
        let (from, to) = (self.address(), other.address());
        self.announce();
        other.announce();
        self.path_to(to);
        other.path_to(from);
        for (title, method) in [("note", LxmfMethod::Opportunistic), ("letter", LxmfMethod::Direct)] {
            self.send(to, title, "Good morning.", method);
            let message = other.message();
            assert_eq!((message.source, message.title.as_str()), (from, title));
            assert_eq!(message.content, "Good morning.");
            assert!(message.is_signed);
            assert_eq!(self.delivered(), title);
        }
    }

    /// Has it send a message.
    ///
    /// # Panics
    /// It does not know the address.
    pub fn send(&mut self, address: DestinationHash, title: &str, content: &str, method: LxmfMethod) {
        let method = match method {
            LxmfMethod::Opportunistic => "opportunistic",
            LxmfMethod::Direct => "direct",
        };
        let address = address.to_string();
        let message = json!({"address": address, "title": title, "content": content, "method": method});
        self.program.call("send", message);
    }

    /// Waits until a message that it sent is delivered, and returns its title.
    ///
    /// # Panics
    /// None is.
    pub fn delivered(&mut self) -> String {
        let told = self.program.event("delivered");
        Fields(&told).text("title").to_owned()
    }

    /// Waits for a message.
    ///
    /// # Panics
    /// None comes.
    pub fn message(&mut self) -> LxmfMessage {
        let told = self.program.event("message");
        let told = Fields(&told);
        LxmfMessage {
            source: told.hash("source"),
            title: told.text("title").to_owned(),
            content: told.text("content").to_owned(),
            is_signed: told.flag("signed"),
        }
    }
}
