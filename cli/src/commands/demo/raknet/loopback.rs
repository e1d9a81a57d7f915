//! A server and its clients on the loopback interface.

use bench_peer::Payload;
use bytes::Bytes;
use proto_raknet::{Config, ConnectOptions, IncomingConfig, Received};
use runtime_tokio::raknet::{ClientOptions, ListenOptions, RaknetListener, RaknetStream};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use crate::{
    failure::Failure,
    raknet::{echo::EchoServer, fault},
};

/// Any free port of the loopback interface.
pub(super) const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// Starts an echo server with the default settings.
pub(super) fn echo_server() -> Result<EchoServer, Failure> {
    EchoServer::start_quietly(ANY_PORT, ListenOptions::default())
}

/// Starts an echo server that is choosy about whom it lets in.
pub(super) fn choosy_server(incoming: IncomingConfig) -> Result<EchoServer, Failure> {
    let endpoint = Config { incoming, ..Config::default() };
    EchoServer::start_quietly(ANY_PORT, ListenOptions { endpoint, ..ListenOptions::default() })
}

/// Starts a listener whose sessions the section takes in itself.
pub(super) fn listener(endpoint: Config) -> Result<RaknetListener, Failure> {
    RaknetListener::bind(ANY_PORT, endpoint).map_err(|error| fault::bind(ANY_PORT, &error))
}

/// Takes in the next session.
pub(super) async fn accept(listener: &RaknetListener) -> Result<RaknetStream, Failure> {
    listener.accept().await.map_err(Failure::network)
}

/// Connects with the default settings.
pub(super) async fn connect(server: SocketAddr) -> Result<RaknetStream, Failure> {
    connect_with(server, ClientOptions::default()).await
}

/// Connects with settings of its own.
pub(super) async fn connect_with(
    server: SocketAddr,
    options: ClientOptions,
) -> Result<RaknetStream, Failure> {
    RaknetStream::connect_with(server, options).await.map_err(|error| fault::connect(server, &error))
}

/// Returns settings that differ in how the session is opened.
pub(super) fn opening(connect: ConnectOptions) -> ClientOptions {
    ClientOptions { connect, ..ClientOptions::default() }
}

/// Receives the next message.
pub(super) async fn receive(stream: &RaknetStream) -> Result<Received, Failure> {
    stream.recv().await.map_err(|reason| fault::closed(stream.peer_addr(), reason))
}

/// Ends a session in good order.
pub(super) async fn say_goodbye(stream: &RaknetStream) -> Result<(), Failure> {
    stream.close().await.map_err(|reason| fault::closed(stream.peer_addr(), reason))
}

/// Makes message `number` of a session; no two are equal.
pub(super) fn message(payload: &Payload, session: u32, number: u32) -> Bytes {
    let mut message = Vec::with_capacity(payload.size());
    payload.append(session, number, &mut message);
    message.into()
}
