//! Bytes of a connection to messages and payloads, however the network cut them.

use traceloom_core::{Error, Position, Result};

use super::message::{HEAD, Kind, MAGIC, Message};

/// A message on a connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part<'a> {
    /// A message.
    Message(Message),
    /// Some bytes of the payload that the last message announced; never empty.
    Payload(&'a [u8]),
}

/// Finds the messages of one direction. It keeps only bytes that were fed and not yet taken, and believes no size.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    fed: Vec<u8>,
    /// Bytes of `fed` that were taken.
    taken: usize,
    /// Bytes of the connection before `fed`.
    offset: u64,
    payload_left: u32,
}

impl Decoder {
    /// Adds bytes from the connection. Take all parts before feeding more.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.fed.drain(..self.taken);
        self.offset += self.taken as u64;
        self.taken = 0;
        self.fed.extend_from_slice(bytes);
    }

    /// Bytes of the payload that have not come yet.
    pub fn payload_left(&self) -> u32 {
        self.payload_left
    }

    /// Bytes of the connection that were taken.
    pub fn offset(&self) -> u64 {
        self.offset + self.taken as u64
    }

    /// Whether the connection is inside a message or a payload.
    pub fn is_inside(&self) -> bool {
        self.payload_left > 0 || self.taken < self.fed.len()
    }

    /// The next part; `None` until more bytes are fed.
    pub fn next_part(&mut self) -> Result<Option<Part<'_>>> {
        let start = self.taken;
        if self.payload_left > 0 {
            let len = self.ahead().len().min(usize::try_from(self.payload_left).unwrap_or(usize::MAX));
            self.taken += len;
            self.payload_left -= u32::try_from(len).unwrap_or(self.payload_left);
            return Ok(self.fed.get(start..start + len).filter(|bytes| !bytes.is_empty()).map(Part::Payload));
        }
        let Some((message, len)) = self.message()? else { return Ok(None) };
        self.taken += len;
        self.payload_left = message.payload_bytes();
        Ok(Some(Part::Message(message)))
    }

    /// Whether there is a next part.
    pub(super) fn has_part(&self) -> Result<bool> {
        if self.payload_left > 0 { Ok(!self.ahead().is_empty()) } else { Ok(self.message()?.is_some()) }
    }

    fn ahead(&self) -> &[u8] {
        self.fed.get(self.taken..).unwrap_or_default()
    }

    /// The message ahead and its length, if all of it is there.
    fn message(&self) -> Result<Option<(Message, usize)>> {
        let ahead = self.ahead();
        let magic = MAGIC.to_le_bytes();
        let known = ahead.len().min(magic.len());
        if ahead.get(..known) != magic.get(..known) {
            let message = "the peer does not speak EasyProfiler's protocol: the magic of a message is missing";
            return Err(Error::unrecognized(message).at(Position::at(self.offset()).field("magic")));
        }
        let Some(kind) = ahead.get(magic.len()).map(|kind| Kind(*kind)) else { return Ok(None) };
        let Some(extra_bytes) = kind.extra_bytes() else {
            let message = format!("the peer sent a message of unknown type {kind}");
            return Err(Error::unrecognized(message).at(Position::at(self.offset()).field("type")));
        };
        let extra = ahead.get(HEAD..HEAD + extra_bytes);
        Ok(extra.and_then(|extra| kind.message(extra)).map(|message| (message, HEAD + extra_bytes)))
    }
}
