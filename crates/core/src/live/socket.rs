//! TCP and Unix connections behind one type.

#[cfg(unix)]
use std::{
    fs,
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
};
use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    time::{Duration, Instant},
};

use super::Address;

/// A connection.
#[derive(Debug)]
pub enum Socket {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over a Unix socket.
    #[cfg(unix)]
    Unix(UnixStream),
}

/// Runs the same code for either kind.
macro_rules! either {
    ($self:expr, $socket:ident => $work:expr) => {
        match $self {
            Self::Tcp($socket) => $work,
            #[cfg(unix)]
            Self::Unix($socket) => $work,
        }
    };
}

impl Socket {
    /// Connects to a program.
    pub fn connect(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => Ok(Self::Tcp(TcpStream::connect(address)?)),
            #[cfg(unix)]
            Address::Unix(path) => Ok(Self::Unix(UnixStream::connect(path)?)),
            #[cfg(not(unix))]
            Address::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Sets how long a read may wait.
    pub fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        either!(self, socket => socket.set_read_timeout(Some(timeout.max(Duration::from_millis(1)))))
    }

    /// Sets how long a write may wait.
    pub fn set_write_timeout(&self, timeout: Duration) -> io::Result<()> {
        either!(self, socket => socket.set_write_timeout(Some(timeout)))
    }

    /// Another handle to the same connection.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(socket) => Self::Tcp(socket.try_clone()?),
            #[cfg(unix)]
            Self::Unix(socket) => Self::Unix(socket.try_clone()?),
        })
    }

    /// Ends the connection; threads that wait for it wake up.
    pub fn shut_down(&self) {
        // An error means that the connection has already ended.
        let _ = either!(self, socket => socket.shutdown(Shutdown::Both));
    }

    /// Reads from the same connection, but all reads together end at `until`, however slowly bytes arrive.
    pub fn within(&mut self, until: Instant) -> Within<'_> {
        Within { socket: self, until }
    }

    fn prepare(self) -> io::Result<Self> {
        either!(&self, socket => socket.set_nonblocking(false)?);
        if let Self::Tcp(socket) = &self {
            socket.set_nodelay(true)?;
        }
        Ok(self)
    }
}

impl Read for Socket {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        either!(self, socket => socket.read(into))
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        either!(self, socket => socket.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        either!(self, socket => socket.flush())
    }
}

/// A connection with a deadline for all reads.
#[derive(Debug)]
pub struct Within<'s> {
    socket: &'s mut Socket,
    until: Instant,
}

impl Read for Within<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.socket.set_read_timeout(left)?;
        self.socket.read(into)
    }
}

/// Listens for viewers, without blocking.
#[derive(Debug)]
pub enum Listener {
    /// On a port.
    Tcp(TcpListener),
    /// On a Unix socket.
    #[cfg(unix)]
    Unix(UnixListener),
}

impl Listener {
    /// Listens on `address`. A Unix socket that nobody listens on anymore is replaced; only this user can open the new
    /// one.
    pub fn bind(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp(address) => Self::on(TcpListener::bind(address)?),
            #[cfg(unix)]
            Address::Unix(path) => {
                remove_dead(path)?;
                let listener = UnixListener::bind(path)?;
                fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
                listener.set_nonblocking(true)?;
                Ok(Self::Unix(listener))
            }
            #[cfg(not(unix))]
            Address::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Uses an existing listener.
    pub fn on(listener: TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        Ok(Self::Tcp(listener))
    }

    /// The next connection, if a viewer is waiting.
    pub fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Tcp(listener) => Socket::Tcp(listener.accept()?.0).prepare(),
            #[cfg(unix)]
            Self::Unix(listener) => Socket::Unix(listener.accept()?.0).prepare(),
        }
    }
}

/// Removes a socket that no program listens on anymore.
#[cfg(unix)]
fn remove_dead(path: &Path) -> io::Result<()> {
    let is_socket =
        fs::symlink_metadata(path).is_ok_and(|found| std::os::unix::fs::FileTypeExt::is_socket(&found.file_type()));
    let is_dead = || UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused);
    if is_socket && is_dead() { fs::remove_file(path) } else { Ok(()) }
}
