//! Calls between this crate and Python's `multiprocessing.connection`, which the reference uses on both ends.
//!
//! `RNS_HOST_PYTHONS` names the interpreters, separated by colons, so that the digests of old and new ones are both
//! seen; without it there is `python3`. Hosts without Python skip these tests.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

use proto_rns::crypto::SecureEntropy;
use rns_host::rpc::{RpcClient, RpcClientEvent, RpcError, RpcKey, RpcRequest, RpcServer, RpcServerEvent};
use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStdout, Command, Stdio},
    time::Duration,
};

const SERVER: &str = "
import sys
from multiprocessing.connection import Listener, AuthenticationError
with Listener(('127.0.0.1', 0), 'AF_INET', authkey=bytes.fromhex(sys.argv[1])) as listener:
    print(listener.address[1], flush=True)
    try:
        connection = listener.accept()
        print(connection.recv_bytes().hex(), flush=True)
        connection.send_bytes(bytes.fromhex(sys.argv[2]))
        connection.close()
    except AuthenticationError:
        print('refused', flush=True)
";

const CLIENT: &str = "
import sys
from multiprocessing.connection import Client, AuthenticationError
try:
    connection = Client(('127.0.0.1', int(sys.argv[3])), 'AF_INET', authkey=bytes.fromhex(sys.argv[1]))
    connection.send_bytes(bytes.fromhex(sys.argv[2]))
    print(connection.recv_bytes().hex(), flush=True)
except AuthenticationError:
    print('refused', flush=True)
";

const KEY: &str = "0505050505050505";
const OTHER_KEY: &str = "06";
/// `{'get': 'link_count'}`.
const LINK_COUNT: &str = "81a3676574aa6c696e6b5f636f756e74";

#[test]
fn a_python_program_asks_this_server() {
    for python in pythons() {
        let (event, told) = serve(&python, KEY);
        assert_eq!(event, RpcServerEvent::Request(RpcRequest::LinkCount), "{python}");
        assert_eq!(told, "07", "{python}");
    }
}

#[test]
fn a_python_program_with_another_key_is_refused() {
    for python in pythons() {
        let (event, told) = serve(&python, OTHER_KEY);
        assert_eq!(event, RpcServerEvent::Failed(RpcError::WrongKey), "{python}");
        assert_eq!(told, "refused", "{python}");
    }
}

#[test]
fn this_client_asks_a_python_program() {
    for python in pythons() {
        let (event, told) = call(&python, KEY);
        assert_eq!(event, RpcClientEvent::Reply(vec![0x07]), "{python}");
        assert_eq!(told, LINK_COUNT, "{python}");
    }
}

#[test]
fn this_client_is_told_that_a_python_program_has_another_key() {
    for python in pythons() {
        let (event, told) = call(&python, OTHER_KEY);
        assert_eq!(event, RpcClientEvent::Failed(RpcError::KeyRefused), "{python}");
        assert_eq!(told, "refused", "{python}");
    }
}

/// Lets a Python client with `key` call a server of this crate. Returns what the server saw and the client printed.
fn serve(python: &str, key: &str) -> (RpcServerEvent, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let mut program = Program::start(python, CLIENT, &[key, LINK_COUNT, &port]);
    let mut stream = patient(listener.accept().unwrap().0);
    let mut server = RpcServer::new(&KEY.parse().unwrap(), &mut SecureEntropy::new([1; 32]));
    let mut event = None;
    loop {
        if let Some(bytes) = server.poll_output() {
            stream.write_all(&bytes).unwrap();
        }
        if server.is_over() {
            break;
        }
        let mut bytes = [0; 64];
        match stream.read(&mut bytes).unwrap() {
            0 => server.handle_eof(),
            len => server.handle_bytes(&bytes[..len]),
        }
        event = server.poll_event().or(event);
        server.reply(&[0x07]);
    }
    (event.unwrap(), program.line())
}

/// Calls a Python server with `key`. Returns how the call ended and what the server printed.
fn call(python: &str, key: &str) -> (RpcClientEvent, String) {
    let mut program = Program::start(python, SERVER, &[key, "07"]);
    let port: u16 = program.line().parse().unwrap();
    let mut stream = patient(TcpStream::connect(("127.0.0.1", port)).unwrap());
    let key: RpcKey = KEY.parse().unwrap();
    let mut client = RpcClient::new(&key, &RpcRequest::LinkCount, &mut SecureEntropy::new([2; 32]));
    while !client.is_over() {
        if let Some(bytes) = client.poll_output() {
            stream.write_all(&bytes).unwrap();
        }
        let mut bytes = [0; 64];
        match stream.read(&mut bytes).unwrap() {
            0 => client.handle_eof(),
            len => client.handle_bytes(&bytes[..len]),
        }
    }
    (client.poll_event().unwrap(), program.line())
}

/// A Python program that is stopped when the test is over.
struct Program {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Program {
    fn start(python: &str, source: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(python)
            .arg("-c")
            .arg(source)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { child, output }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pythons() -> Vec<String> {
    if let Ok(named) = std::env::var("RNS_HOST_PYTHONS") {
        return named.split(':').map(Into::into).collect();
    }
    let works = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if works { vec!["python3".into()] } else { Vec::new() }
}

fn patient(stream: TcpStream) -> TcpStream {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}
