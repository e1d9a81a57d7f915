//! hyper 1, one connection, driven by tokio on the caller's thread.

use bench_peer::Fault;
use bench_peer::conn::{Arena, Command, Course, Identity};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

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

async fn run(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    command: &Command,
    arena: &Arena,
) -> Result<(), Fault> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let mut course = Course::begin(command, arena);
    let message = Bytes::from_owner(course.message());
    while course.goes_on() {
        sender.ready().await?;
        let request =
            Request::post("/echo").header(header::HOST, Identity::HOST).body(Full::new(message.clone()))?;
        let response = sender.send_request(request).await?;
        course.accept(&response.into_body().collect().await?.to_bytes())?;
    }
    Ok(course.report().print()?)
}
