//! A TCP connection to a program.

use std::{
    fmt,
    io::{self, Write},
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    time::Duration,
};

use traceloom::easyprofiler::live::{Accepted, Blocks, Client, Descriptors, FrameTime, MAGIC, Message, PORT};
use traceloom_core::{Error, ErrorKind, Result};

use crate::output::note;

const CONNECT: Duration = Duration::from_secs(5);
/// EasyProfiler sends a greeting at once; the recorder's stream waits for the viewer to speak first.
const GREETING: Duration = Duration::from_millis(300);
/// How long a read may block before the client checks the time.
const READ: Duration = Duration::from_millis(50);
/// EasyProfiler serializes a capture before it sends the first byte, which takes half a second or more.
const PATIENCE: Duration = Duration::from_secs(30);
/// EasyProfiler reads requests that have no reply with a delay, and drops requests that arrive together with them.
const PAUSE: Duration = Duration::from_millis(30);

/// The address that the program listens on.
pub(super) struct Address {
    text: String,
    resolved: Vec<SocketAddr>,
}

impl Address {
    /// Parses `HOST`, `HOST:PORT` or `[HOST]:PORT`.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let has_port = text.parse::<SocketAddr>().is_ok() || (!text.ends_with(']') && text.matches(':').count() == 1);
        let text = match text {
            _ if has_port => text.to_owned(),
            _ if text.contains(':') && !text.starts_with('[') => format!("[{text}]:{PORT}"),
            _ => format!("{text}:{PORT}"),
        };
        let resolved = text.to_socket_addrs();
        let resolved = resolved.map_err(|error| Error::usage(format!("cannot resolve {text}: {error}")))?;
        Ok(Self { resolved: resolved.collect(), text })
    }

    pub(super) fn port(&self) -> u16 {
        self.resolved.first().map_or(PORT, SocketAddr::port)
    }

    /// Warns unless the program runs on this machine.
    pub(super) fn warn(&self) {
        if !self.is_local() {
            note(
                "EasyProfiler's protocol has no authentication and no encryption; use it only in networks that you trust",
            );
        }
    }

    fn is_local(&self) -> bool {
        self.resolved.iter().all(|address| address.ip().is_loopback())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A client that was accepted.
pub(super) struct Connection {
    client: Client<TcpStream>,
    accepted: Accepted,
}

impl Connection {
    pub(super) fn open(address: &Address) -> Result<Self> {
        let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for resolved in &address.resolved {
            match TcpStream::connect_timeout(resolved, CONNECT) {
                Ok(stream) => return Self::over(stream, address),
                Err(error) => failure = error,
            }
        }
        let message = format!("cannot connect to EasyProfiler at {address}: {failure}");
        Err(io::Error::new(failure.kind(), message).into())
    }

    /// A connection to a program that sends EasyProfiler's greeting at once; `None` if there is no peer or a different
    /// one.
    pub(super) fn if_greeted(address: &Address) -> Result<Option<Self>> {
        let connected = address.resolved.iter().find_map(|resolved| TcpStream::connect_timeout(resolved, CONNECT).ok());
        let Some(stream) = connected else { return Ok(None) };
        stream.set_read_timeout(Some(GREETING))?;
        let mut first = [0; 4];
        let is_greeted = stream.peek(&mut first).is_ok_and(|read| read == first.len() && first == MAGIC.to_le_bytes());
        if is_greeted { Self::over(stream, address).map(Some) } else { Ok(None) }
    }

    fn over(stream: TcpStream, address: &Address) -> Result<Self> {
        stream.set_read_timeout(Some(READ))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let mut client = Client::new(stream, PATIENCE);
        let accepted = client.accepted().map_err(|error| match error.kind() {
            ErrorKind::Io(io) if io.kind() == io::ErrorKind::TimedOut => {
                let message =
                    format!("{address} does not respond; it serves one client at a time: is another one connected?");
                io::Error::new(io::ErrorKind::TimedOut, message).into()
            }
            _ => error,
        })?;
        Ok(Self { client, accepted })
    }

    /// Whether a capture is already running, started by the program or an earlier client.
    pub(super) fn is_profiling(&self) -> bool {
        self.accepted.is_profiling
    }

    pub(super) fn start(&mut self) -> Result<()> {
        self.client.start()
    }

    pub(super) fn stop(&mut self, out: &mut dyn Write) -> Result<Blocks> {
        self.client.stop(out)
    }

    pub(super) fn frame_time(&mut self) -> Result<FrameTime> {
        self.client.frame_time()
    }

    pub(super) fn descriptors(&mut self) -> Result<Descriptors> {
        self.client.descriptors()
    }

    /// Sends a request that has no reply.
    pub(super) fn set(&mut self, request: Message) -> Result<()> {
        self.client.send(request)?;
        std::thread::sleep(PAUSE);
        Ok(())
    }
}

/// Whether the program is connected but does not answer.
pub(super) fn is_silence(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Io(io) if io.kind() == io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_need_no_port() {
        let parsed = |text: &str| Address::parse(text).map(|address| address.to_string()).unwrap_or_default();
        assert_eq!(parsed("127.0.0.1"), "127.0.0.1:28077");
        assert_eq!(parsed("localhost:1234"), "localhost:1234");
        assert_eq!(parsed("::1"), "[::1]:28077");
        assert_eq!(parsed("[::1]"), "[::1]:28077");
        assert_eq!(parsed("[::1]:99"), "[::1]:99");
        assert!(Address::parse("::1").is_ok_and(|address| address.is_local()));
        assert!(Address::parse("192.0.2.1").is_ok_and(|address| !address.is_local()));
        assert!(Address::parse("localhost:high").is_err());
    }
}
