//! PyPI `rns` as a running node.

use proto_rns::{
    DestinationHash, IdentityHash, LinkHash, PacketHash, ParseHashError, RequestId, ResourceHash,
};
use serde_json::{Value, json};
use std::{collections::VecDeque, path::Path, str::FromStr, time::Duration};

use super::{
    BufferStreams, Config, Content, DestinationSpec, Event, InterfaceStatus, ReticulumPeer, Scratch,
    fields::Fields, installed, program::Program,
};

/// A running node of the reference. Dropped, it is killed; a failing test shows what it said.
#[derive(Debug)]
pub struct Reference {
    program: Program,
    /// What it told that nobody has asked for yet.
    backlog: VecDeque<Event>,
    folder: Scratch,
}

impl Reference {
    /// Starts a node in a folder of its own.
    ///
    /// # Panics
    /// The reference cannot be had or does not start.
    pub fn start(config: &Config) -> Self {
        Self::start_in(Scratch::new(), config)
    }

    /// Starts a node with what an earlier one left in `folder`.
    ///
    /// # Panics
    /// The reference cannot be had or does not start.
    pub fn start_in(folder: Scratch, config: &Config) -> Self {
        config.write(folder.path());
        let program = Program::start("rns", &mut installed::script("rns_peer.py"), folder.path());
        Self { program, backlog: VecDeque::new(), folder }
    }

    /// Returns the folder with its configuration and its storage.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Has it end in good order, so that it stores what it knows, and returns its folder.
    ///
    /// # Panics
    /// It does not.
    pub fn stop(mut self) -> Scratch {
        self.program.call("persist_and_exit", json!({}));
        self.folder
    }

    fn hash<H: FromStr<Err = ParseHashError>>(&mut self, name: &str, command: Value) -> H {
        let answer = self.program.call(name, command);
        let digits = answer.as_str().unwrap_or_default();
        digits.parse().unwrap_or_else(|error| panic!("{name} returned {answer}: {error}"))
    }
}

impl ReticulumPeer for Reference {
    fn create_identity(&mut self) -> IdentityHash {
        self.hash("create_identity", json!({}))
    }

    fn load_identity(&mut self, private_key: &[u8; 64]) -> IdentityHash {
        self.hash("load_identity", json!({"private_key": hex::encode(private_key)}))
    }

    fn create_destination(&mut self, spec: &DestinationSpec) -> DestinationHash {
        self.hash("create_destination", spec.to_json())
    }

    fn announce(&mut self, destination: DestinationHash, app_data: Option<&[u8]>) {
        let app_data = app_data.map(hex::encode);
        self.program.call("announce", json!({"destination": destination.to_string(), "app_data": app_data}));
    }

    fn request_path(&mut self, destination: DestinationHash) {
        self.program.call("request_path", json!({"destination": destination.to_string()}));
    }

    fn hops_to(&mut self, destination: DestinationHash) -> Option<u8> {
        let answer = self.program.call("hops_to", json!({"destination": destination.to_string()}));
        answer.as_u64().and_then(|hops| hops.try_into().ok())
    }

    fn send_packet(&mut self, destination: DestinationHash, payload: &[u8]) -> PacketHash {
        let payload = hex::encode(payload);
        self.hash("send_packet", json!({"destination": destination.to_string(), "payload": payload}))
    }

    fn open_link(&mut self, destination: DestinationHash) -> LinkHash {
        self.hash("open_link", json!({"destination": destination.to_string()}))
    }

    fn identify(&mut self, link: LinkHash, identity: IdentityHash) {
        let identity = identity.to_string();
        self.program.call("identify", json!({"link": link.to_string(), "identity": identity}));
    }

    fn close_link(&mut self, link: LinkHash) {
        self.program.call("close_link", json!({"link": link.to_string()}));
    }

    fn send_on_link(&mut self, link: LinkHash, payload: &[u8]) -> PacketHash {
        self.hash("send_on_link", json!({"link": link.to_string(), "payload": hex::encode(payload)}))
    }

    fn request(&mut self, link: LinkHash, path: &str, body: Content) -> RequestId {
        self.hash("request", json!({"link": link.to_string(), "path": path, "content": body.to_json()}))
    }

    fn send_resource(&mut self, link: LinkHash, content: Content, note: Option<&[u8]>) -> ResourceHash {
        let note = note.map(hex::encode);
        let wanted = json!({"link": link.to_string(), "content": content.to_json(), "note": note});
        self.hash("send_resource", wanted)
    }

    fn cancel_resource(&mut self, resource: ResourceHash) {
        self.program.call("cancel_resource", json!({"resource": resource.to_string()}));
    }

    fn open_channel(&mut self, link: LinkHash) {
        self.program.call("open_channel", json!({"link": link.to_string()}));
    }

    fn send_message(&mut self, link: LinkHash, payload: &[u8]) {
        let payload = hex::encode(payload);
        self.program.call("send_message", json!({"link": link.to_string(), "payload": payload}));
    }

    fn open_buffer(&mut self, link: LinkHash, streams: BufferStreams) {
        let BufferStreams { receive, send } = streams;
        self.program.call("open_buffer", json!({"link": link.to_string(), "receive": receive, "send": send}));
    }

    fn write_buffer(&mut self, link: LinkHash, content: Content) {
        let content = content.to_json();
        self.program.call("write_buffer", json!({"link": link.to_string(), "content": content}));
    }

    fn close_buffer(&mut self, link: LinkHash) {
        self.program.call("close_buffer", json!({"link": link.to_string()}));
    }

    fn interfaces(&mut self) -> Vec<InterfaceStatus> {
        let answer = self.program.call("interfaces", json!({}));
        answer.as_array().expect("a list").iter().map(interface).collect()
    }

    fn next_event(&mut self, patience: Duration) -> Option<Event> {
        let told = self.program.read(patience)?;
        Some(Event::parse(&told).unwrap_or_else(|| panic!("what is {told}?")))
    }

    fn backlog(&mut self) -> &mut VecDeque<Event> {
        &mut self.backlog
    }
}

fn interface(told: &Value) -> InterfaceStatus {
    let told = Fields(told);
    InterfaceStatus {
        name: told.text("name").to_owned(),
        is_up: told.flag("up"),
        clients: told.optional_number("clients"),
        received: told.number("received"),
        sent: told.number("sent"),
    }
}
