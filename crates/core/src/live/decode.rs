//! Decodes frames from a program's bytes, however the network splits them.

use std::io;

use super::message::{DATA, END, MAGIC, MAX_FRAME_BYTES, MAX_TEXT_BYTES, STATUS};
use crate::{ByteOrder, Cursor, Error, Result};

/// A message on a connection.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Frame<'a> {
    /// The program accepts the viewer; this is the name of the program.
    Accepted(String),
    /// Some bytes of the trace; never empty.
    Data(&'a [u8]),
    /// Number of records dropped so far because the viewer was too slow.
    Status(u64),
    /// The program has closed the trace.
    End,
}

impl Frame<'_> {
    /// The bytes of the trace in this frame; empty for other frames.
    pub fn data(&self) -> &[u8] {
        if let Self::Data(data) = self { data } else { &[] }
    }
}

/// Splits bytes into frames. It holds at most a kilobyte or two and trusts no size.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    is_accepted: bool,
    /// The start of a message that is not complete.
    kept: Vec<u8>,
    /// Bytes of the trace still missing from the last announced frame.
    data_left: usize,
}

/// Magic, code and length.
const ANSWER_HEAD: usize = MAGIC.len() + 3;
const FRAME_HEAD: usize = 5;

impl Decoder {
    /// Takes the next frame from the front of `bytes`; `None` if it is not complete.
    pub fn next<'b>(&mut self, bytes: &mut &'b [u8]) -> Result<Option<Frame<'b>>> {
        loop {
            if self.data_left > 0 {
                let (data, rest) = bytes.split_at(self.data_left.min(bytes.len()));
                *bytes = rest;
                self.data_left -= data.len();
                return Ok(Some(Frame::Data(data)).filter(|_| !data.is_empty()));
            }
            let needed = self.needed()?;
            let (more, rest) = bytes.split_at((needed - self.kept.len()).min(bytes.len()));
            self.kept.extend_from_slice(more);
            *bytes = rest;
            // The length may be known only now, and an error must show at its first byte, however the bytes are split.
            let known = self.needed()?;
            if self.kept.len() < needed {
                return Ok(None);
            }
            if known > needed {
                continue;
            }
            let message = std::mem::take(&mut self.kept);
            let frame = if self.is_accepted { self.frame(&message)? } else { Some(self.answer(&message)?) };
            if frame.is_some() {
                return Ok(frame);
            }
        }
    }

    /// Whether the connection ended inside a message.
    pub fn is_inside(&self) -> bool {
        self.data_left > 0 || !self.kept.is_empty()
    }

    /// Size of the message being kept, as far as it is known.
    fn needed(&self) -> Result<usize> {
        if !self.is_accepted {
            let known = self.kept.len().min(MAGIC.len());
            if self.kept.get(..known) != MAGIC.get(..known) {
                return Err(Error::unrecognized("the peer does not speak the live protocol of Traceloom"));
            }
            let text = self.number(MAGIC.len() + 1, 2);
            return within(text, MAX_TEXT_BYTES).map(|text| ANSWER_HEAD + text);
        }
        let length = self.number(1, 4);
        let payload = match self.kept.first() {
            None => 0,
            // Passed on as it arrives.
            Some(&DATA) => within(length, MAX_FRAME_BYTES).map(|_| 0)?,
            Some(&STATUS) => within(length, 8)?,
            Some(&END) => within(length, 0)?,
            Some(kind) => {
                return Err(Error::unrecognized(format!("the program sent a frame of unknown kind {kind}")));
            }
        };
        Ok(FRAME_HEAD + payload)
    }

    /// A number from the kept bytes; 0 until it is complete.
    fn number(&self, at: usize, bytes: usize) -> usize {
        let found = self.kept.get(at..at + bytes).unwrap_or_default();
        found.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    }

    fn answer(&mut self, message: &[u8]) -> Result<Frame<'static>> {
        let text = String::from_utf8_lossy(message.get(ANSWER_HEAD..).unwrap_or_default()).into_owned();
        if message.get(MAGIC.len()) != Some(&0) {
            let refused = format!("the program refused the connection: {text}");
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, refused).into());
        }
        self.is_accepted = true;
        Ok(Frame::Accepted(text))
    }

    /// Interprets a message; `None` for the head of data.
    fn frame(&mut self, message: &[u8]) -> Result<Option<Frame<'static>>> {
        let mut cursor = Cursor::new(message, 0, ByteOrder::Little);
        let (kind, length) = (cursor.u8("kind")?, cursor.u32("length")?);
        Ok(match kind {
            DATA => {
                self.data_left = length as usize;
                None
            }
            STATUS => Some(Frame::Status(cursor.u64("dropped")?)),
            _ => Some(Frame::End),
        })
    }
}

fn within(length: usize, limit: usize) -> Result<usize> {
    if length > limit { Err(Error::limit("bytes of a live frame", length as u64, limit as u64)) } else { Ok(length) }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{accept, data_head, end, refuse, status},
        *,
    };

    /// All frames, with adjacent data joined, and how decoding ended.
    fn decode(bytes: &[u8], piece: usize) -> (Vec<String>, Vec<u8>) {
        let (mut frames, mut data) = (Vec::new(), Vec::new());
        let mut take = |mut piece: &[u8], decoder: &mut Decoder| -> Result<()> {
            while let Some(frame) = decoder.next(&mut piece)? {
                let Frame::Data(more) = frame else {
                    frames.push(format!("{frame:?} after {}", data.len()));
                    continue;
                };
                data.extend_from_slice(more);
            }
            Ok(())
        };
        let mut decoder = Decoder::default();
        let ended = bytes.chunks(piece).try_for_each(|piece| take(piece, &mut decoder));
        frames.push(ended.map_or_else(|error| error.to_string(), |()| format!("inside: {}", decoder.is_inside())));
        (frames, data)
    }

    #[test]
    fn frames_are_the_same_in_pieces_of_any_size() {
        let data = vec![7; 1000];
        let mut bytes = [accept("game"), status(0)].concat();
        bytes.extend([&data_head(1000)[..], &data, &data_head(0), &status(3), &end()].concat());
        let whole = decode(&bytes, bytes.len());
        assert_eq!(whole.1, data);
        assert_eq!(
            whole.0,
            [
                r#"Accepted("game") after 0"#,
                "Status(0) after 0",
                "Status(3) after 1000",
                "End after 1000",
                "inside: false"
            ]
        );
        for piece in 1..40 {
            assert_eq!(decode(&bytes, piece), whole);
        }
    }

    #[test]
    fn liars_are_refused_with_a_sentence() {
        let frame = |kind, length: u32| [accept("x"), vec![kind], length.to_le_bytes().to_vec()].concat();
        let too_long = [&MAGIC[..], &[0, 255, 255]].concat();
        for (bytes, expected) in [
            (refuse("the token is wrong"), "refused the connection: the token is wrong"),
            (b"HTTP/1.1 400 Bad Request".to_vec(), "does not speak"),
            (b"TL".to_vec(), "inside: true"),
            (too_long, "bytes of a live frame"),
            (frame(DATA, u32::MAX), "bytes of a live frame"),
            (frame(STATUS, 9), "bytes of a live frame"),
            (frame(9, 0), "unknown kind 9"),
        ] {
            let (frames, _) = decode(&bytes, 3);
            assert!(frames.last().is_some_and(|last| last.contains(expected)), "{frames:?}, not {expected}");
        }
    }
}
