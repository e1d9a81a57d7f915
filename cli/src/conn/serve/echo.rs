//! The echo peers, each server in a thread of its own.

use proto_conn::{
    Code, Error, Scheme,
    server::{Config, Event},
    tls::{ClientAuth, Identity, TlsServer, TlsServerConfig},
    ws::Deflate,
};
use proto_core::{DatagramOptions, Interface, LinkId};
use runtime_blocking::conn::{Server, system_clock};
use std::{
    collections::BTreeMap,
    fmt,
    net::SocketAddr,
    sync::Arc,
    thread::{self, JoinHandle},
};

use super::answer::{Answerer, GROUP_SCHEMES};
use crate::{conn::supervised::Stop, failure::Failure};

/// Is told what the peers ask and say.
pub(crate) type Watcher = Arc<dyn Fn(&Event) + Send + Sync>;

/// Where to listen, and as whom.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// For `http` and `ws`.
    pub(crate) http: Option<SocketAddr>,
    /// For `https` and `wss`.
    pub(crate) https: Option<(SocketAddr, Identity, ClientAuth)>,
    /// For `udp`.
    pub(crate) udp: Option<SocketAddr>,
    /// For `udp_multicast`.
    pub(crate) group: Option<(SocketAddr, Interface)>,
    /// The subprotocols of WebSocket to speak.
    pub(crate) subprotocols: Vec<String>,
}

/// Where somebody listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The schemes that are spoken there.
    pub(crate) schemes: &'static [Scheme],
    /// The address.
    pub(crate) address: SocketAddr,
}

/// Echo peers at work. Dropped, they end.
#[derive(Debug, Default)]
pub(crate) struct Echo {
    places: Vec<Place>,
    threads: Vec<(Stop, JoinHandle<()>)>,
}

impl Echo {
    /// Starts them, and waits until they listen.
    ///
    /// # Errors
    /// An address cannot be listened on, a group not be joined, or the identity not be used.
    pub(crate) fn start(plan: Plan, watcher: Watcher) -> Result<Self, Failure> {
        let Plan { http, https, udp, group, subprotocols } = plan;
        let mut echo = Self::default();
        let mut plain = Station::new(config(&subprotocols), &watcher)?;
        if let Some(address) = http {
            plain.open(STREAMS, address, |server| server.listen(address))?;
        }
        if let Some(address) = udp {
            plain
                .open(DATAGRAMS, address, |server| server.listen_udp(address, DatagramOptions::default()))?;
        }
        if let Some((group, interface)) = group {
            let join = |server: &mut Machine| server.join(group, interface, None, DatagramOptions::default());
            plain.open(GROUP_SCHEMES, group, join)?;
        }
        echo.run(plain)?;
        if let Some((address, identity, client_auth)) = https {
            let tls = TlsServerConfig { client_auth, ..TlsServerConfig::new(identity) };
            let tls = TlsServer::new(tls, &system_clock()).map_err(|error| {
                Failure::file(format_args!("the certificate cannot be used: {}", error.detail))
            })?;
            let mut secure = Station::new(Config { tls: Some(tls), ..config(&subprotocols) }, &watcher)?;
            secure.open(TLS_STREAMS, address, |server| server.listen(address))?;
            echo.run(secure)?;
        }
        Ok(echo)
    }

    /// Returns where they listen.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Ends them.
    pub(crate) fn end(self) {
        drop(self);
    }

    /// Gives a station that listens somewhere a thread.
    fn run(&mut self, mut station: Station) -> Result<(), Failure> {
        if station.places.is_empty() {
            return Ok(());
        }
        let waker = station.server.waker().map_err(Failure::network)?;
        let stop = Stop::new(waker);
        self.places.extend(station.places.values().cloned());
        let heeded = stop.clone();
        self.threads.push((stop, thread::spawn(move || station.serve(&heeded))));
        Ok(())
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        for (stop, _) in &self.threads {
            stop.ask();
        }
        for (_, thread) in self.threads.drain(..) {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

type Machine = proto_conn::server::Server;

/// A server and those who watch it.
struct Station {
    server: Server,
    places: BTreeMap<LinkId, Place>,
    answerer: Answerer,
    watcher: Watcher,
}

impl Station {
    fn new(config: Config, watcher: &Watcher) -> Result<Self, Failure> {
        let server = Server::new(config).map_err(Failure::usage)?;
        Ok(Self {
            server,
            places: BTreeMap::new(),
            answerer: Answerer::default(),
            watcher: Arc::clone(watcher),
        })
    }

    /// Opens a listener and waits for it.
    fn open(
        &mut self,
        schemes: &'static [Scheme],
        wanted: SocketAddr,
        listen: impl FnOnce(&mut Machine) -> LinkId,
    ) -> Result<(), Failure> {
        let asked = self.server.with(|server, _| listen(server));
        loop {
            match self.server.event(None).map_err(Failure::network)? {
                Some(Event::Listening { listener, local }) if listener == asked => {
                    let address = local.filter(|_| schemes != GROUP_SCHEMES).unwrap_or(wanted);
                    if schemes == GROUP_SCHEMES {
                        self.answerer.group = Some((listener, wanted));
                    }
                    self.places.insert(listener, Place { schemes, address });
                    return Ok(());
                }
                Some(Event::Down { listener, error }) if listener == asked => {
                    return Err(cannot_listen(wanted, &error));
                }
                Some(event) => self.handle(&event),
                None => {}
            }
        }
    }

    /// Answers until the end is asked for.
    fn serve(mut self, stop: &Stop) {
        while !stop.is_wanted() {
            match self.server.event(None) {
                Ok(Some(event)) => self.handle(&event),
                Ok(None) => {}
                Err(error) => return crate::output::note(format_args!("an echo peer ended: {error}")),
            }
        }
    }

    fn handle(&mut self, event: &Event) {
        (self.watcher)(event);
        let Self { server, answerer, .. } = self;
        server.with(|server, now| answerer.answer(server, now, event));
    }
}

impl fmt::Debug for Station {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Station").field("places", &self.places).finish_non_exhaustive()
    }
}

fn config(subprotocols: &[String]) -> Config {
    let mut config = Config::default();
    config.http.limits.body = super::answer::LONGEST;
    config.ws.deflate = Some(Deflate::default());
    config.ws.subprotocols = subprotocols.to_vec();
    config
}

fn cannot_listen(address: SocketAddr, error: &Error) -> Failure {
    let because = crate::conn::fault::reason(error);
    if address.ip().is_multicast() {
        return Failure::network(format_args!("cannot join {address}: {because}"))
            .advise("name an interface of this host with --iface");
    }
    let failure = Failure::network(format_args!("cannot listen on {address}: {because}"));
    if matches!(error.code, Code::Io | Code::ConnectRefused | Code::Unreachable) {
        failure.advise(
            "another program may listen there, or this host not have the address; try another port or --bind",
        )
    } else {
        failure
    }
}

const STREAMS: &[Scheme] = &[Scheme::Http, Scheme::Ws];
const TLS_STREAMS: &[Scheme] = &[Scheme::Https, Scheme::Wss];
const DATAGRAMS: &[Scheme] = &[Scheme::Udp];
