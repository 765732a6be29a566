//! The messages as bytes.

use std::io::Read;

use crate::{Error, Result};

/// The first bytes that both sides send; the last byte is the version.
pub const MAGIC: [u8; 8] = *b"TLLIVE\0\x01";
/// Maximum size of a token.
pub const MAX_TOKEN_BYTES: usize = 255;
/// Maximum number of bytes of the trace in one frame.
pub const MAX_FRAME_BYTES: usize = 256 << 10;
/// Maximum size of the text in an answer.
pub(super) const MAX_TEXT_BYTES: usize = 1024;

pub(super) const DATA: u8 = 1;
pub(super) const STATUS: u8 = 2;
pub(super) const END: u8 = 3;

/// The first message of a viewer.
pub fn greeting(token: &str) -> Result<Vec<u8>> {
    let length = u8::try_from(token.len()).ok().filter(|length| *length > 0);
    let length = length.ok_or_else(|| Error::usage("a token must have 1 to 255 bytes"))?;
    Ok([&MAGIC, &[length][..], token.as_bytes()].concat())
}

/// Reads the token from a viewer's greeting.
pub fn read_greeting(from: &mut impl Read) -> Result<Vec<u8>> {
    let mut magic = [0; MAGIC.len()];
    from.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Err(Error::unrecognized("the peer does not speak the live protocol of Traceloom"));
    }
    let mut length = [0];
    from.read_exact(&mut length)?;
    let mut token = vec![0; length[0].into()];
    from.read_exact(&mut token)?;
    Ok(token)
}

/// Compares two tokens in a time that depends only on their lengths.
pub fn is_same_token(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (one, other)| all | (one ^ other));
    one.len() == other.len() && !one.is_empty() && differences == 0
}

/// The answer to a viewer that is accepted.
pub fn accept(program: &str) -> Vec<u8> {
    answer(0, program)
}

/// The answer to a viewer that is refused.
pub fn refuse(reason: &str) -> Vec<u8> {
    answer(1, reason)
}

fn answer(code: u8, text: &str) -> Vec<u8> {
    let mut length = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    let text = text.get(..length).unwrap_or_default();
    [&MAGIC, &[code][..], &(length as u16).to_le_bytes(), text.as_bytes()].concat()
}

/// The head that precedes bytes of the trace; there are at most [`MAX_FRAME_BYTES`] of them.
pub fn data_head(length: usize) -> [u8; 5] {
    head(DATA, length as u32)
}

/// Reports how many records were dropped so far.
pub fn status(dropped: u64) -> Vec<u8> {
    [&head(STATUS, 8)[..], &dropped.to_le_bytes()].concat()
}

/// The end of the trace.
pub fn end() -> [u8; 5] {
    head(END, 0)
}

fn head(kind: u8, length: u32) -> [u8; 5] {
    let [a, b, c, d] = length.to_le_bytes();
    [kind, a, b, c, d]
}
