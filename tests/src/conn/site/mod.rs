//! Servers of others, each with a configuration of its own in a scratch folder, on free ports of the loopback interface.

mod apache;
mod haproxy;
mod lighttpd;
mod nginx;
mod scripts;
mod tinyproxy;

use std::{fs, path::PathBuf, process::Command};

use super::{Certificates, Echo, certificates::Files, installed, ports};
use crate::peers::{Scratch, process::Process};

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// nginx: files, and a proxy for `/behind`.
    Nginx,
    /// Apache: files.
    Apache,
    /// lighttpd: files.
    Lighttpd,
    /// haproxy, in front of what is behind it.
    Haproxy,
    /// tinyproxy: a forward proxy, for `user` with the password `secret`.
    Tinyproxy,
    /// Node.js: its `http` and `https`, and `ws` on both.
    Node,
    /// PyPI `websockets`.
    Websockets,
    /// PyPI `aiohttp`.
    Aiohttp,
    /// PyPI `uvicorn`.
    Uvicorn,
}

/// A running server. Dropped, it is killed; a failing test shows what it said.
#[derive(Debug)]
pub struct Site {
    // Dropped before the folder that it uses.
    _process: Process,
    _folder: Scratch,
    ports: Ports,
}

/// What a server needs to be told.
struct Place {
    ports: Ports,
    /// The port of the server behind it, if there is one.
    behind: Option<u16>,
    folder: PathBuf,
    /// The folder with [`Site::HELLO`] and [`Site::LARGE`].
    documents: PathBuf,
    files: Files,
}

/// Where it listens; the kinds without TLS leave the last two unused.
#[derive(Clone, Copy, Debug)]
struct Ports {
    plain: u16,
    tls: u16,
    /// For clients with certificates only.
    mutual: u16,
}

impl Kind {
    /// Returns the name that `IOLITE_SKIP_PEERS` knows it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nginx => "nginx",
            Self::Apache => "apache2",
            Self::Lighttpd => "lighttpd",
            Self::Haproxy => "haproxy",
            Self::Tinyproxy => "tinyproxy",
            Self::Node => "node",
            Self::Websockets => "websockets",
            Self::Aiohttp => "aiohttp",
            Self::Uvicorn => "uvicorn",
        }
    }

    /// Says, and prints, whether its tests are to be left out.
    pub fn is_skipped(self) -> bool {
        installed::is_skipped(self.name())
    }

    /// Writes its configuration, and returns the command that runs it.
    fn command(self, place: &Place) -> Command {
        match self {
            Self::Nginx => nginx::command(place),
            Self::Apache => apache::command(place),
            Self::Lighttpd => lighttpd::command(place),
            Self::Haproxy => haproxy::command(place),
            Self::Tinyproxy => tinyproxy::command(place),
            Self::Node => scripts::node(place),
            Self::Websockets | Self::Aiohttp | Self::Uvicorn => scripts::python(self.name(), place),
        }
    }
}

impl Site {
    /// A file with [`HELLO_TEXT`](Self::HELLO_TEXT).
    pub const HELLO: &str = "/hello.txt";
    /// What is in it.
    pub const HELLO_TEXT: &str = "hello from the site\n";
    /// A file with [`LARGE_LEN`](Self::LARGE_LEN) bytes that can be compressed.
    pub const LARGE: &str = "/large.txt";
    /// How long that is.
    pub const LARGE_LEN: usize = 3_000_000;

    /// Starts one with nothing behind it.
    ///
    /// # Panics
    /// It cannot be had or does not start.
    pub fn start(kind: Kind, certificates: &Certificates) -> Self {
        Self::place(kind, certificates, None)
    }

    /// Starts one before our server.
    ///
    /// # Panics
    /// It cannot be had or does not start.
    pub fn before(kind: Kind, certificates: &Certificates, behind: &Echo) -> Self {
        Self::place(kind, certificates, Some(behind.port()))
    }

    /// Returns the URL of a target on the port of a scheme.
    pub fn url(&self, scheme: &str, target: &str) -> String {
        let port = if matches!(scheme, "https" | "wss") { self.ports.tls } else { self.ports.plain };
        format!("{scheme}://localhost:{port}{target}")
    }

    /// Returns the URL of a target for clients with certificates only.
    pub fn mutual_url(&self, target: &str) -> String {
        format!("https://localhost:{}{target}", self.ports.mutual)
    }

    fn place(kind: Kind, certificates: &Certificates, behind: Option<u16>) -> Self {
        let folder = Scratch::new();
        let documents = folder.path().join("documents");
        fs::create_dir(&documents).expect("a fresh folder");
        let put = |target: &str, text: String| {
            fs::write(documents.join(target.trim_start_matches('/')), text).expect("a fresh folder");
        };
        put(Self::HELLO, Self::HELLO_TEXT.to_owned());
        put(Self::LARGE, ('a'..='z').cycle().take(Self::LARGE_LEN).collect());
        let ports = Ports { plain: ports::free(), tls: ports::free(), mutual: ports::free() };
        let files = certificates.write(folder.path());
        let place = Place { ports, behind, folder: folder.path().to_path_buf(), documents, files };
        let process = Process::start(kind.name(), &mut kind.command(&place));
        ports::until_served(ports.plain);
        Self { _process: process, _folder: folder, ports }
    }
}

impl Place {
    /// Writes a configuration, and returns where it is.
    fn configure(&self, text: &str) -> PathBuf {
        let path = self.folder.join("server.conf");
        fs::write(&path, text).expect("a fresh folder");
        path
    }
}
