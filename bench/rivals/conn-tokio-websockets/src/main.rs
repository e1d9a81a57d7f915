//! tokio-websockets, driven by tokio on the caller's thread.

use bench_peer::Fault;
use bench_peer::conn::{Arena, Command, Course, Identity};
use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use http::Uri;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_websockets::{ClientBuilder, Message};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Fault> {
    let command = Command::from_args()?;
    let arena = Arena::open(&command)?;
    let socket = TcpStream::connect(arena.address()).await?;
    socket.set_nodelay(true)?;
    if command.scheme.is_secure() {
        let connector = TlsConnector::from(Identity::of(&command)?.client()?);
        run(connector.connect(Identity::server_name()?, socket).await?, &command, &arena).await
    } else {
        run(socket, &command, &arena).await
    }
}

async fn run<S>(stream: S, command: &Command, arena: &Arena) -> Result<(), Fault>
where
    S: AsyncRead + AsyncWrite + Send + Sync + Unpin + 'static,
{
    let uri: Uri = format!("{}://{}/echo", command.scheme, Identity::HOST).parse()?;
    let (mut socket, _) = ClientBuilder::from_uri(uri).connect_on(stream).await?;
    let mut course = Course::begin(command, arena);
    let message = Bytes::from_owner(course.message());
    while course.goes_on() {
        socket.send(Message::binary(message.clone())).await?;
        let echo = socket.next().await.ok_or("the peer closed")??;
        course.accept(echo.as_payload())?;
    }
    Ok(course.report().print()?)
}
