//! Making local sockets (`AF_UNIX`).

use socket2::{Domain, SockAddr, Socket, Type};
use std::{
    fs, io,
    io::ErrorKind,
    os::unix::fs::FileTypeExt,
    path::{Path, PathBuf},
};

use super::ListenerSource;

/// Connects to the socket at `path`; a leading NUL means Linux's abstract name space.
///
/// # Errors
/// Nobody listens there, or not to us.
pub fn connect_unix(path: &str) -> io::Result<Socket> {
    try_connect(path).map_err(|error| {
        // A listener that is missing and one that is too busy do not answer either.
        let nobody = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::WouldBlock);
        if nobody { ErrorKind::ConnectionRefused.into() } else { error }
    })
}

/// Listens on a socket at `path`; a leading NUL means Linux's abstract name space. A socket file that nobody listens on
/// any more is replaced.
///
/// # Errors
/// Somebody else listens there, or the path is not to be had.
pub fn listen_unix(path: &str) -> io::Result<ListenerSource> {
    let address = SockAddr::unix(path)?;
    let socket = new_socket()?;
    if let Err(error) = socket.bind(&address) {
        if error.kind() != ErrorKind::AddrInUse || !is_left_behind(path) {
            return Err(error);
        }
        fs::remove_file(path)?;
        socket.bind(&address)?;
    }
    let file = (!path.starts_with('\0')).then(|| SocketFile(Path::new(path).to_owned()));
    socket.listen(super::BACKLOG)?;
    Ok(ListenerSource { socket, file })
}

/// The file of a listener, which goes with it.
#[derive(Debug)]
pub struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody else may have removed it already.
        let _ = fs::remove_file(&self.0);
    }
}

/// Says whether the file at `path` is a socket without a listener.
fn is_left_behind(path: &str) -> bool {
    // A file of another kind refuses connections just the same.
    fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket())
        && try_connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
}

fn try_connect(path: &str) -> io::Result<Socket> {
    let socket = new_socket()?;
    super::connect(&socket, &SockAddr::unix(path)?)?;
    Ok(socket)
}

fn new_socket() -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> String {
        let file = format!("iolite-{}-{name}", std::process::id());
        std::env::temp_dir().join(file).to_str().unwrap().to_owned()
    }

    #[test]
    fn a_file_that_was_left_behind_is_replaced_and_one_in_use_is_not() {
        let path = path("left-behind");
        let ListenerSource { socket: first, file } = listen_unix(&path).unwrap();
        assert_eq!(listen_unix(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
        drop(first);
        let second = listen_unix(&path).unwrap();
        assert!(connect_unix(&path).is_ok());
        drop((file, second));
        assert!(!Path::new(&path).exists());
    }

    #[test]
    fn another_kind_of_file_is_left_alone() {
        let path = path("a-file");
        fs::write(&path, "precious").unwrap();
        assert!(listen_unix(&path).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        fs::remove_file(path).unwrap();
    }
}
