//! fastwebsockets, driven by tokio on the caller's thread.

use std::future::Future;

use bench_peer::Fault;
use bench_peer::conn::{Arena, Command, Course, Identity};
use bytes::Bytes;
use fastwebsockets::{FragmentCollector, Frame, OpCode, Payload, handshake};
use http_body_util::Empty;
use hyper::header::{CONNECTION, HOST, UPGRADE};
use hyper::rt::Executor;
use hyper::{Request, header};
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

async fn run<S>(stream: S, command: &Command, arena: &Arena) -> Result<(), Fault>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let request = Request::get("/echo")
        .header(HOST, Identity::HOST)
        .header(UPGRADE, "websocket")
        .header(CONNECTION, "Upgrade")
        .header(header::SEC_WEBSOCKET_KEY, handshake::generate_key())
        .header(header::SEC_WEBSOCKET_VERSION, "13")
        .body(Empty::<Bytes>::new())?;
    let (socket, _) = handshake::client(&Spawner, request, stream).await?;
    let mut socket = FragmentCollector::new(socket);
    let mut course = Course::begin(command, arena);
    let message = course.message();
    while course.goes_on() {
        socket.write_frame(Frame::binary(Payload::Borrowed(&message))).await?;
        let echo = socket.read_frame().await?;
        if echo.opcode != OpCode::Binary {
            return Err("no binary message came back".into());
        }
        course.accept(&echo.payload)?;
    }
    Ok(course.report().print()?)
}

struct Spawner;

impl<F> Executor<F> for Spawner
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, task: F) {
        tokio::spawn(task);
    }
}
