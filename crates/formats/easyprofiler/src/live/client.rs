//! The capturing side.

use std::{
    io::{self, Read, Write},
    time::{Duration, Instant},
};

use traceloom_core::{ByteOrder, Error, Options, Result, Source};

use super::{
    decode::{Decoder, Part},
    message::{Accepted, FrameTime, Message},
};
use crate::{
    Header, Reader,
    raw::{Layout, Version},
};

/// Descriptors of a large game take a few hundred kilobytes.
const MAX_DESCRIPTORS: u32 = 64 << 20;
const BUFFER: usize = 64 << 10;
/// A frame time arrives immediately or never.
const FRAME_TIME: Duration = Duration::from_secs(2);

/// A connection to a program that contains EasyProfiler.
///
/// EasyProfiler processes one message per read and drops the rest, so each request is sent alone and waits for its
/// reply; leave a few milliseconds after requests without a reply.
#[derive(Debug)]
pub struct Client<S> {
    stream: S,
    patience: Duration,
    decoder: Decoder,
    buffer: Vec<u8>,
}

/// The blocks of a capture, as far as they arrived.
#[derive(Debug)]
pub struct Blocks {
    /// Number of bytes that the program announced; `None` if it sent no blocks.
    pub announced: Option<u32>,
    /// Number of bytes received and written.
    pub received: u64,
    /// Why the rest did not arrive.
    pub failure: Option<Error>,
}

impl<S: Read + Write> Client<S> {
    /// Communicates over `stream`, whose reads must time out now and then; gives up if nothing arrives for `patience`.
    pub fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, decoder: Decoder::default(), buffer: vec![0; BUFFER] }
    }

    /// Waits for the greeting. A program that is serving another client sends none until that one leaves.
    pub fn accepted(&mut self) -> Result<Accepted> {
        self.wait(|message| match message {
            Message::Accepted(accepted) => Some(accepted),
            _ => None,
        })
    }

    /// Sends a request.
    pub fn send(&mut self, request: Message) -> Result<()> {
        self.stream.write_all(&request.encode())?;
        Ok(self.stream.flush()?)
    }

    /// Starts a capture.
    pub fn start(&mut self) -> Result<()> {
        self.send(Message::StartCapture)?;
        self.wait(|message| (message == Message::CaptureStarted).then_some(()))
    }

    /// Requests the frame time; programs with EasyProfiler 1.0 never answer.
    pub fn frame_time(&mut self) -> Result<FrameTime> {
        self.send(Message::FrameTimeWanted)?;
        let patience = self.patience;
        self.patience = patience.min(FRAME_TIME);
        let time = self.wait(|message| match message {
            Message::FrameTime(time) => Some(time),
            _ => None,
        });
        self.patience = patience;
        time
    }

    /// Requests the descriptors. Never do this between a stop and its blocks: EasyProfiler would drop the blocks.
    pub fn descriptors(&mut self) -> Result<Descriptors> {
        self.send(Message::DescriptorsWanted)?;
        let mut payload = Vec::new();
        loop {
            match self.part(None)? {
                Part::Message(Message::Descriptors { bytes }) if bytes > MAX_DESCRIPTORS => {
                    return Err(Error::limit("bytes of descriptors", bytes.into(), MAX_DESCRIPTORS.into()));
                }
                Part::Message(Message::DescriptorsEnd) => return Ok(Descriptors(payload)),
                Part::Message(_) => {}
                Part::Payload(bytes) => payload.extend_from_slice(bytes),
            }
        }
    }

    /// Ends the capture and writes its blocks, a `.prof` file, to `out`. Everything that arrived before a failure is
    /// written, too.
    pub fn stop(&mut self, out: &mut dyn Write) -> Result<Blocks> {
        self.send(Message::StopCapture)?;
        let mut blocks = Blocks { announced: None, received: 0, failure: None };
        loop {
            match self.part(None) {
                Ok(Part::Message(Message::Blocks { bytes })) => blocks.announced = Some(bytes),
                Ok(Part::Message(Message::BlocksEnd)) => return Ok(blocks),
                Ok(Part::Message(_)) => {}
                Ok(Part::Payload(bytes)) => {
                    out.write_all(bytes)?;
                    blocks.received += bytes.len() as u64;
                }
                Err(error) => {
                    blocks.failure = Some(error);
                    return Ok(blocks);
                }
            }
        }
    }

    /// Waits for the message that `pick` accepts; late replies to earlier requests are skipped.
    fn wait<T>(&mut self, mut pick: impl FnMut(Message) -> Option<T>) -> Result<T> {
        // One deadline for the whole wait, so that a peer that sends other messages, or single bytes, cannot prolong
        // it.
        let until = Instant::now() + self.patience;
        loop {
            if let Part::Message(message) = self.part(Some(until))?
                && let Some(picked) = pick(message)
            {
                return Ok(picked);
            }
        }
    }

    /// The next part, if it arrives before `until`, or as long as bytes arrive.
    fn part(&mut self, until: Option<Instant>) -> Result<Part<'_>> {
        if until.is_some_and(|until| Instant::now() > until) {
            return Err(self.is_late("the program did not answer within"));
        }
        while !self.decoder.has_part()? {
            self.read(until.unwrap_or_else(|| Instant::now() + self.patience))?;
        }
        let part = self.decoder.next_part()?;
        part.ok_or_else(|| Error::internal("a part of a message was there and is gone"))
    }

    /// Feeds the next bytes to the decoder.
    fn read(&mut self, until: Instant) -> Result<()> {
        loop {
            match self.stream.read(&mut self.buffer) {
                Ok(0) => {
                    let message = "the program closed the connection";
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message).into());
                }
                Ok(len) if Instant::now() <= until => {
                    self.decoder.feed(self.buffer.get(..len).unwrap_or_default());
                    return Ok(());
                }
                Err(error) if is_pause(&error) && Instant::now() < until => {}
                Err(error) if is_pause(&error) => return Err(self.is_late("the program sent nothing for")),
                Ok(_) => return Err(self.is_late("the program did not answer within")),
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn is_late(&self, what: &str) -> Error {
        io::Error::new(io::ErrorKind::TimedOut, format!("{what} {} s", self.patience.as_secs_f64())).into()
    }
}

/// Whether a read ended without bytes and may be retried.
pub(super) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// The payload that describes the blocks of a program.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Descriptors(pub Vec<u8>);

impl Descriptors {
    /// Size of the data before the first descriptor: signature, version, count, sum of sizes.
    pub(super) const HEAD: usize = 20;

    /// Reads the descriptors, as records of a file that has nothing else.
    pub fn open(&self, options: &Options) -> Result<Reader> {
        let word =
            |at: usize| self.0.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u32::from_le_bytes(*word));
        let version = Version(word(4).unwrap_or(Version::V2_1_0.0));
        let mut header = Header::new(Layout::real(version, ByteOrder::Little), version);
        header.descriptors_count = word(8).unwrap_or(0);
        header.descriptors_memory_size = self.0.len().saturating_sub(Self::HEAD) as u64;
        let mut image = crate::create(Vec::new(), &header)?.finish()?;
        image.extend_from_slice(self.0.get(Self::HEAD..).unwrap_or_default());
        crate::open(Source::bytes(image), options)
    }
}
