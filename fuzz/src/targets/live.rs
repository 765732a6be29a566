//! EasyProfiler's live protocol: any bytes from a peer, split in any way, to either side.

use std::{
    io::{self, Read, Write},
    time::Duration,
};

use traceloom_core::{Mode, Records, Result};
use traceloom_easyprofiler::{
    live::{Accepted, Client, Decoder, Descriptors, FrameTime, Message, Part, Program, serve},
    raw::Status,
};

use crate::{Choices, WIDE_WINDOW, options};

/// Treats `bytes` as data from a peer.
pub fn live(bytes: &[u8]) {
    let piece = 1 + Choices::of(bytes).below(64);
    assert_eq!(
        decode(bytes, piece),
        decode(bytes, bytes.len().max(1)),
        "pieces of {piece} bytes differ from the whole"
    );

    let mut client = Client::new(Peer { bytes, piece, sent: 0 }, Duration::from_secs(60));
    let _ = client.accepted();
    if let Ok(descriptors) = client.descriptors() {
        assert!(descriptors.0.len() <= bytes.len(), "descriptors that nobody sent");
        if let Ok(mut reader) = descriptors.open(&options(Mode::Lenient, WIDE_WINDOW)) {
            while let Ok(Some(_)) = reader.next() {}
        }
    }
    let mut file = Vec::new();
    if let Ok(blocks) = client.stop(&mut file) {
        assert_eq!(blocks.received, file.len() as u64);
        assert!(file.len() <= bytes.len(), "blocks that nobody sent");
    }

    let mut peer = Peer { bytes, piece, sent: 0 };
    let _ = serve(&mut peer, &mut Still);
    // The longest reply is the one to a greeting or a request: 13 bytes for five.
    assert!(peer.sent <= 64 + bytes.len() * 3, "{} bytes were sent for {}", peer.sent, bytes.len());
}

/// The messages as bytes, with their payloads, and how the connection ended.
fn decode(bytes: &[u8], piece: usize) -> (Vec<u8>, String) {
    let (mut decoder, mut again) = (Decoder::default(), Vec::new());
    for piece in bytes.chunks(piece) {
        decoder.feed(piece);
        loop {
            match decoder.next_part() {
                Ok(Some(Part::Message(message))) => again.extend(message.encode()),
                Ok(Some(Part::Payload(payload))) => again.extend_from_slice(payload),
                Ok(None) => break,
                Err(error) => return (again, error.to_string()),
            }
        }
    }
    (again, format!("at {}, {} left", decoder.offset(), decoder.payload_left()))
}

struct Peer<'a> {
    bytes: &'a [u8],
    piece: usize,
    sent: usize,
}

impl Read for Peer<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = self.piece.min(into.len());
        self.bytes.read(&mut into[..len])
    }
}

impl Write for Peer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sent += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A program that records nothing.
struct Still;

impl Program for Still {
    fn is_running(&self) -> bool {
        true
    }

    fn accepted(&self) -> Accepted {
        Accepted::default()
    }

    fn start(&mut self) -> Result<()> {
        Ok(())
    }

    fn stop(&mut self) -> Result<Option<(u64, Box<dyn Read + '_>)>> {
        Ok(None)
    }

    fn descriptors(&mut self) -> Result<Descriptors> {
        Ok(Descriptors::default())
    }

    fn frame_time(&mut self) -> FrameTime {
        FrameTime::default()
    }

    fn set_status(&mut self, descriptor: u32, status: Status) {
        let request = Message::SetStatus { descriptor, status };
        assert_eq!(request.encode().len(), 10);
    }

    fn set_event_tracing(&mut self, _: bool) {}

    fn set_low_priority(&mut self, _: bool) {}
}
