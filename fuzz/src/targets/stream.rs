//! Traceloom's live protocol: any bytes from a peer, split in any way, to either side.

use traceloom_core::live::{Decoder, Frame, MAGIC, MAX_TOKEN_BYTES, accept, greeting, is_same_token, read_greeting};

use crate::Choices;

/// Treats `bytes` as data from a peer.
pub fn stream(bytes: &[u8]) {
    let piece = 1 + Choices::of(bytes).below(64);
    // Few inputs start with an answer by chance.
    for sent in [bytes.to_vec(), [&MAGIC, bytes].concat(), [&accept("x"), bytes].concat()] {
        let whole = decode(&sent, sent.len().max(1));
        assert_eq!(decode(&sent, piece), whole, "pieces of {piece} bytes differ from the whole");
        assert!(whole.0.len() <= sent.len(), "data that nobody sent");
        greet(&sent);
    }
}

fn greet(bytes: &[u8]) {
    let Ok(token) = read_greeting(&mut &*bytes) else { return };
    assert!(token.len() <= MAX_TOKEN_BYTES);
    assert_eq!(is_same_token(&token, b"secret"), token == b"secret");
    if let Ok(text) = std::str::from_utf8(&token)
        && !text.is_empty()
    {
        assert!(greeting(text).is_ok_and(|again| bytes.starts_with(&again)));
    }
}

/// The data, the other frames, and how the connection ended.
fn decode(bytes: &[u8], piece: usize) -> (Vec<u8>, Vec<String>) {
    let (mut decoder, mut data, mut frames) = (Decoder::default(), Vec::new(), Vec::new());
    for mut piece in bytes.chunks(piece) {
        loop {
            match decoder.next(&mut piece) {
                Ok(Some(Frame::Data(more))) => data.extend_from_slice(more),
                Ok(Some(frame)) => frames.push(format!("{frame:?} after {}", data.len())),
                Ok(None) => break,
                Err(error) => {
                    frames.push(error.to_string());
                    return (data, frames);
                }
            }
        }
        assert!(piece.is_empty(), "bytes that were not taken");
    }
    frames.push(format!("inside: {}", decoder.is_inside()));
    (data, frames)
}
