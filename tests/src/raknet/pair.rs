//! A client and a server with a session between them.

use proto_raknet::{Config, ConnectOptions, Message, PeerId};
use std::time::Duration;

use super::{Net, Party, add_endpoint, secs};

/// Two parties, of which the client has connected to the server.
#[derive(Debug)]
pub struct Pair {
    /// The one that connected.
    pub client: Party,
    /// The one that was connected to.
    pub server: Party,
}

impl Pair {
    /// Adds the two nodes without connecting them.
    pub fn strangers(net: &mut Net, server: Config, client: Config) -> Self {
        let server = Party::new(add_endpoint(net, server));
        let client = Party::new(add_endpoint(net, client));
        Self { client, server }
    }

    /// Adds two nodes with the default configuration and connects them.
    pub fn connected(net: &mut Net) -> Self {
        Self::connected_with(net, Config::default(), Config::client())
    }

    /// Adds two nodes and connects them.
    pub fn connected_with(net: &mut Net, server: Config, client: Config) -> Self {
        let mut pair = Self::strangers(net, server, client);
        pair.establish(net, ConnectOptions { timeout: secs(60), ..ConnectOptions::default() });
        pair
    }

    /// Connects the two.
    ///
    /// # Panics
    /// When that fails.
    pub fn establish(&mut self, net: &mut Net, options: ConnectOptions) {
        let within = options.timeout + secs(1);
        self.client.connect(net, self.server.node, options);
        let failed = self.client.failures().len();
        let done = self
            .run_until(net, within, |pair| pair.is_established() || pair.client.failures().len() > failed);
        assert!(
            done && self.is_established(),
            "not connected at {:?}: client {:?}, server {:?}",
            net.now(),
            self.client.events,
            self.server.events
        );
    }

    /// Says whether both sides know of their session.
    pub fn is_established(&self) -> bool {
        !self.client.sessions.is_empty() && !self.server.sessions.is_empty()
    }

    /// Sends messages from the client.
    pub fn client_sends(&mut self, net: &mut Net, messages: impl IntoIterator<Item = Message>) {
        let peer = self.to_server();
        self.client.send(net, peer, messages);
    }

    /// Sends messages from the server.
    pub fn server_sends(&mut self, net: &mut Net, messages: impl IntoIterator<Item = Message>) {
        let peer = self.to_client();
        self.server.send(net, peer, messages);
    }

    /// Lets time pass while both applications react.
    pub fn run_for(&mut self, net: &mut Net, duration: Duration) {
        self.run_until(net, duration, |_| false);
    }

    /// Lets time pass until a condition holds, `within` at most, and says whether it came to hold.
    pub fn run_until(&mut self, net: &mut Net, within: Duration, condition: impl Fn(&Self) -> bool) -> bool {
        let done = net.run_until(
            |net| {
                self.serve(net);
                condition(self)
            },
            within,
        );
        self.serve(net);
        done || condition(self)
    }

    /// Returns the client's name for the session.
    pub fn to_server(&self) -> PeerId {
        self.client.session()
    }

    /// Returns the server's name for the session.
    pub fn to_client(&self) -> PeerId {
        self.server.session()
    }

    fn serve(&mut self, net: &mut Net) {
        self.client.serve(net);
        self.server.serve(net);
    }
}
