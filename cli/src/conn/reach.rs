//! How a server is reached: what clients of HTTP and WebSocket have in common.

use clap::Args;
use proto_conn::{
    Url,
    client::{Options, Proxy, Reconnect, Timeouts},
    http::auth,
};
use std::time::Duration;

use super::{
    trust::Trust,
    values::{self, Field},
};
use crate::{args::values::time, failure::Failure};

/// How a server is reached, and what it is told about the client.
#[derive(Clone, Debug, Args)]
pub(super) struct Reach {
    /// Add a header field. May be repeated.
    #[arg(short = 'H', long, value_name = "NAME: VALUE", value_parser = values::field)]
    header: Vec<Field>,

    /// Give a name and a password (Basic), in place of those in the URL.
    #[arg(short, long, value_name = "NAME[:PASSWORD]")]
    user: Option<String>,

    /// Ask the way through an HTTP proxy, which resolves the names too.
    #[arg(short = 'x', long, value_name = "URL", value_parser = proxy_url)]
    proxy: Option<Url>,

    /// Hosts that are reached without the proxy: names, names with a leading dot for all below, addresses, or *.
    #[arg(long, value_name = "HOSTS", value_delimiter = ',', requires = "proxy")]
    noproxy: Vec<String>,

    /// How long each of resolving, connecting, the proxy, TLS and the WebSocket handshake may take.
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "5s")]
    connect_timeout: Duration,

    /// Try so often again, with growing pauses, when there is no connection.
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    retry: u32,

    #[command(flatten)]
    trust: Trust,
}

impl Reach {
    /// Returns the options of a connection.
    ///
    /// # Errors
    /// A file of TLS cannot be read, or the credentials cannot be sent.
    pub(super) fn options(&self) -> Result<Options, Failure> {
        let mut options = Options {
            timeouts: Timeouts {
                resolve: self.connect_timeout,
                connect: self.connect_timeout,
                proxy: self.connect_timeout,
                tls: self.connect_timeout,
                upgrade: self.connect_timeout,
                ..Timeouts::default()
            },
            proxy: self.proxy.clone().map(|url| Proxy { url, except: self.noproxy.clone() }),
            tls: Some(self.trust.client()?),
            reconnect: (self.retry > 0)
                .then(|| Reconnect { max_attempts: Some(self.retry), ..Reconnect::default() }),
            ..Options::default()
        };
        for Field { name, value } in &self.header {
            options.headers.append(name, value).map_err(Failure::usage)?;
        }
        if let Some(user) = &self.user {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            let value = auth::basic(name, password).ok_or_else(|| {
                Failure::usage("the name and password of --user must not have control characters")
            })?;
            options.headers.append("Authorization", value).map_err(Failure::usage)?;
        }
        let agent = concat!("iolite/", env!("CARGO_PKG_VERSION"));
        for (name, value) in [("User-Agent", agent), ("Accept", "*/*")] {
            if options.headers.get(name).is_none() {
                options.headers.append(name, value).map_err(Failure::usage)?;
            }
        }
        Ok(options)
    }
}

/// Reads a proxy's place; without a scheme it is one of HTTP.
fn proxy_url(text: &str) -> Result<Url, String> {
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url = Url::parse(&whole).map_err(|error| error.to_string())?;
    if url.scheme == proto_conn::Scheme::Http {
        Ok(url)
    } else {
        Err("a proxy is reached by an http URL".into())
    }
}
