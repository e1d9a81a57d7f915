//! One of ours and one of theirs, connected in every way there is.

use proto_raknet::{Config, ConnectOptions, Guid, Motd, wire::ProtocolVersion};

use super::{
    implementation::Implementation,
    lines::Role,
    peer::Peer,
    session::{Drive, Session},
};

/// How Iolite and a peer are paired.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// The peer.
    pub implementation: Implementation,
    /// The roles that the peer can play.
    pub roles: &'static [Role],
    /// The protocol version to speak.
    pub protocol: u8,
    /// Whether its client can prove its address with a cookie.
    pub cookies: bool,
}

impl Pairing {
    /// Runs `scenario` on a fresh session for each role of the peer and each drive of ours.
    ///
    /// # Panics
    /// The peer cannot be had, no session comes about, or the scenario fails.
    pub fn in_every_way(&self, scenario: impl FnMut(&mut dyn Session, &mut Peer)) {
        self.as_roles(self.roles, scenario);
    }

    /// Runs `scenario` on a fresh session for each drive of ours, with the peer in the given roles.
    ///
    /// # Panics
    /// The peer cannot be had, no session comes about, or the scenario fails.
    pub fn as_roles(&self, roles: &[Role], mut scenario: impl FnMut(&mut dyn Session, &mut Peer)) {
        if self.implementation.is_skipped() {
            return;
        }
        for drive in Drive::ALL {
            for role in roles {
                println!("{} as {role:?}, Iolite on {drive:?}", self.implementation.name());
                match role {
                    Role::Server => self.meet_server(drive, &mut scenario),
                    Role::Client => self.meet_client(drive, &mut scenario),
                }
            }
        }
    }

    /// Has the peer ping our server on each drive, and checks that it gets the text of the server.
    ///
    /// # Panics
    /// The peer cannot be had, or it gets no answer or another one.
    pub fn ping_us(&self) {
        if self.implementation.is_skipped() {
            return;
        }
        for drive in Drive::ALL {
            let config = self.server_config();
            let text = config.incoming.pong_data.clone();
            let listener = drive.listen(config);
            assert_eq!(Peer::ping(self.implementation, self.protocol, listener.address()), text);
        }
    }

    fn meet_server(&self, drive: Drive, scenario: &mut impl FnMut(&mut dyn Session, &mut Peer)) {
        let (mut theirs, address) = Peer::serve(self.implementation, self.protocol);
        let options =
            ConnectOptions { protocol_version: ProtocolVersion(self.protocol), ..ConnectOptions::default() };
        let mut ours = drive.connect(address, Config::client(), options);
        theirs.connected();
        scenario(&mut *ours, &mut theirs);
    }

    fn meet_client(&self, drive: Drive, scenario: &mut impl FnMut(&mut dyn Session, &mut Peer)) {
        let mut listener = drive.listen(self.server_config());
        let mut theirs = Peer::visit(self.implementation, self.protocol, listener.address());
        let mut ours = listener.accept();
        theirs.connected();
        scenario(&mut *ours, &mut theirs);
    }

    fn server_config(&self) -> Config {
        let mut config = Config::default();
        config.incoming.cookies = self.cookies;
        // Some clients ping first, and go on only when the answer is that of a Bedrock server.
        config.incoming.pong_data = bedrock_motd().to_pong_data().expect("a short text").into();
        config
    }
}

/// The text of a Bedrock server with every field that some client may ask for.
fn bedrock_motd() -> Motd {
    Motd {
        guid: Some(Guid(1)),
        level: Some("level".into()),
        mode: Some("Survival".into()),
        mode_number: Some(1),
        port_v4: Some(19_132),
        port_v6: Some(19_133),
        ..Motd::new("Iolite", 748, "1.21.40")
    }
}
