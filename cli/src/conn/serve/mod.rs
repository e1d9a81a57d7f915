//! `iolite conn serve`: echo peers for all six schemes.

mod answer;
mod certificate;
pub(crate) mod echo;
mod show;

use clap::Args;
use proto_conn::tls::ClientAuth;
use proto_core::Interface;
use std::{
    fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
};

use super::{trust, values};
use crate::{
    failure::Failure,
    interrupt::Interrupt,
    output::{
        self,
        style::{self, paint},
    },
};
use echo::{Echo, Place, Plan};

pub(crate) use certificate::Certificate;

/// Runs echo peers until Ctrl-C. Without ports it listens for http and ws on 8080, for https and wss on 8443, and for udp
/// on 9000; all on the loopback interface unless --bind says otherwise.
///
/// Requests with a body are answered with it. Others are answered with their own head as text, but for these targets:
/// /bytes/COUNT, /status/CODE, /redirect/COUNT and /silence, which is never answered. WebSocket messages and datagrams
/// go back as they came. To a group goes `echo: ` and the datagram.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// Listen for http and ws on this port; 0 takes any free one.
    #[arg(long, value_name = "PORT")]
    http: Option<u16>,

    /// Listen for https and wss on this port; 0 takes any free one.
    #[arg(long, value_name = "PORT")]
    https: Option<u16>,

    /// Listen for datagrams on this port; 0 takes any free one.
    #[arg(long, value_name = "PORT")]
    udp: Option<u16>,

    /// Join this multicast group.
    #[arg(long, value_name = "GROUP:PORT")]
    multicast: Option<SocketAddr>,

    /// The interface to join it on, by name or index.
    #[arg(long, value_name = "NAME", value_parser = values::interface, requires = "multicast")]
    iface: Option<Interface>,

    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,

    /// A name that the certificate is for, beside localhost and its addresses. May be repeated.
    #[arg(long, value_name = "NAME", conflicts_with = "cert")]
    name: Vec<String>,

    /// Write the certificate to this file, in PEM, for --cacert of the clients.
    #[arg(long, value_name = "FILE", conflicts_with = "cert")]
    write_cert: Option<PathBuf>,

    /// Print the certificate in PEM.
    #[arg(long, conflicts_with = "cert")]
    print_cert: bool,

    /// Present this certificate, in PEM, in place of one that is made on the spot.
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,

    /// The private key of --cert, in PEM, if it is not in the same file.
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,

    /// Let clients in over TLS only with a certificate that these issued.
    #[arg(long, value_name = "FILE")]
    client_ca: Option<PathBuf>,

    /// Speak this subprotocol of WebSocket. May be repeated.
    #[arg(long, value_name = "NAME")]
    subprotocol: Vec<String>,

    /// Show requests and messages as they come.
    #[arg(short, long)]
    verbose: bool,
}

/// Listens until the user ends it.
///
/// # Errors
/// An address cannot be listened on, a group not be joined, or a file not be read or written.
pub(crate) async fn run(options: Serve, interrupt: Interrupt) -> Result<(), Failure> {
    let echo = Echo::start(options.plan()?, options.watcher())?;
    for place in echo.places() {
        output::line(format_args!("listening on {}", paint(style::STRONG, names(place))))?;
    }
    interrupt.wait().await;
    echo.end();
    Ok(())
}

impl Serve {
    fn plan(&self) -> Result<Plan, Failure> {
        let at = |port: u16| SocketAddr::new(self.bind, port);
        let is_chosen = self.http.or(self.https).or(self.udp).is_some() || self.multicast.is_some();
        let [http, https, udp] = if is_chosen {
            [self.http, self.https, self.udp]
        } else {
            [Some(8_080), Some(8_443), Some(9_000)]
        };
        let mut plan = Plan {
            http: http.map(at),
            udp: udp.map(at),
            group: self.multicast.map(|group| (group, self.iface.clone().unwrap_or(Interface::Any))),
            subprotocols: self.subprotocol.clone(),
            ..Plan::default()
        };
        if let Some(port) = https {
            plan.https = Some((at(port), self.identity()?, self.client_auth()?));
        }
        Ok(plan)
    }

    fn identity(&self) -> Result<proto_conn::tls::Identity, Failure> {
        if let Some(cert) = &self.cert {
            return trust::identity(cert, self.key.as_deref());
        }
        let made = Certificate::make(&self.name)?;
        if let Some(path) = &self.write_cert {
            fs::write(path, &made.pem)
                .map_err(|error| Failure::file(format_args!("cannot write {}: {error}", path.display())))?;
        }
        if self.print_cert {
            output::line(made.pem.trim_end())?;
        }
        Ok(made.identity)
    }

    fn client_auth(&self) -> Result<ClientAuth, Failure> {
        match &self.client_ca {
            Some(path) => trust::roots(path).map(ClientAuth::Required),
            None => Ok(ClientAuth::None),
        }
    }

    fn watcher(&self) -> echo::Watcher {
        if self.verbose { Arc::new(show::event) } else { Arc::new(|_| {}) }
    }
}

/// The URLs of a place.
fn names(place: &Place) -> String {
    let Place { schemes, address } = place;
    let urls: Vec<String> = schemes.iter().map(|scheme| format!("{scheme}://{address}")).collect();
    urls.join(" and ")
}

const EXAMPLES: &str = "\
Examples:
  iolite conn serve -v
  iolite conn serve --https 8443 --write-cert echo.pem --name robot.local --bind 0.0.0.0
  iolite conn serve --http 0 --udp 0 --multicast 239.1.2.3:5000 --iface eth0
  iolite conn serve --https 8443 --cert server.pem --client-ca clients.pem";
