//! The watching side of a connection.

use std::{
    io::{self, Read, Write},
    time::{Duration, Instant},
};

use super::{Address, Decoder, Frame, Socket, greeting};
use crate::{Error, Result};

/// How long a program may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
const BUFFER: usize = 256 << 10;

/// A connection to a program that allows itself to be watched.
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    decoder: Decoder,
    /// Bytes of the last read, and how many of them were consumed.
    buffer: Vec<u8>,
    taken: usize,
    /// Bytes that were confirmed to the program as safe.
    confirmed: u64,
    /// Whether the program no longer receives anything; data that it sent before may still arrive.
    is_deaf: bool,
}

impl Connection {
    /// Connects and sends the greeting; returns an error if the program refuses.
    pub fn open(address: &Address, token: &str) -> Result<Self> {
        let cannot = |error: io::Error| {
            let message = format!("cannot connect to {address}: {error}; is the program running and listening there?");
            Error::from(io::Error::new(error.kind(), message))
        };
        let mut socket = Socket::connect(address).map_err(cannot)?;
        socket.set_write_timeout(ANSWER)?;
        socket.write_all(&greeting(token)?)?;
        let (mut decoder, until) = (Decoder::default(), Instant::now() + ANSWER);
        let mut buffer = vec![0; 4096];
        loop {
            let read = socket.within(until).read(&mut buffer).map_err(|error| match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    let message = format!("the program at {address} did not answer within {} s", ANSWER.as_secs());
                    io::Error::new(io::ErrorKind::TimedOut, message)
                }
                _ => error,
            })?;
            if read == 0 {
                return Err(cannot(io::ErrorKind::UnexpectedEof.into()));
            }
            let mut bytes = buffer.get(..read).unwrap_or_default();
            if decoder.next(&mut bytes)?.is_some() {
                let taken = read - bytes.len();
                buffer.truncate(read);
                return Ok(Self { socket, decoder, buffer, taken, confirmed: 0, is_deaf: false });
            }
        }
    }

    /// The next frame of the bytes read so far; `None` if more are needed.
    pub fn frame(&mut self) -> Result<Option<Frame<'_>>> {
        let mut bytes = self.buffer.get(self.taken..).unwrap_or_default();
        let frame = self.decoder.next(&mut bytes)?;
        self.taken = self.buffer.len() - bytes.len();
        Ok(frame)
    }

    /// Confirms that the first `safe` bytes of the trace are safe, and reads more; `false` if nothing arrived within
    /// `patience`.
    pub fn read(&mut self, safe: u64, patience: Duration) -> Result<bool> {
        if safe != self.confirmed && !self.is_deaf {
            self.confirmed = safe;
            self.is_deaf = self.socket.write_all(&safe.to_le_bytes()).is_err();
        }
        self.buffer.resize(BUFFER, 0);
        self.taken = 0;
        let read = self.socket.set_read_timeout(patience).and_then(|()| self.socket.read(&mut self.buffer));
        self.buffer.truncate(*read.as_ref().unwrap_or(&0));
        use io::ErrorKind::{ConnectionAborted, ConnectionReset, TimedOut, UnexpectedEof, WouldBlock};
        match read.map_err(|error| (error.kind(), error)) {
            Ok(1..) => Ok(true),
            Err((WouldBlock | TimedOut, _)) => Ok(false),
            // A process that ends before it has read every confirmation resets the connection.
            Ok(0) | Err((ConnectionReset | ConnectionAborted, _)) => {
                Err(io::Error::new(UnexpectedEof, "the program closed the connection").into())
            }
            Err((_, error)) => Err(error.into()),
        }
    }
}
