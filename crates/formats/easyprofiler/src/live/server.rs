//! The captured side.

use std::{
    io::{Read, Write},
    time::{Duration, Instant},
};

use traceloom_core::{ByteOrder, Error, Result};

use super::{
    client::{Descriptors, is_pause},
    decode::{Decoder, Part},
    message::{Accepted, FrameTime, Message},
};
use crate::{
    Descriptor, Header, Record,
    raw::{EASY_PROFILER_SIGNATURE, Layout, Status, Version},
};

const BUFFER: usize = 4 << 10;
/// How long a client may take to send a message, which has only a few bytes.
const HALF_A_MESSAGE: Duration = Duration::from_secs(2);

/// A program that can be captured.
pub trait Program {
    /// Whether to continue serving; called whenever the client is silent.
    fn is_running(&self) -> bool;
    /// The current settings of the program.
    fn accepted(&self) -> Accepted;
    /// Starts a capture, or continues the running one.
    fn start(&mut self) -> Result<()>;
    /// Ends the capture; returns the size of its `.prof` file, and the file; `None` if there is nothing.
    fn stop(&mut self) -> Result<Option<(u64, Box<dyn Read + '_>)>>;
    /// The descriptors known so far.
    fn descriptors(&mut self) -> Result<Descriptors>;
    /// Frame time since the last call.
    fn frame_time(&mut self) -> FrameTime;
    /// Enables or disables a descriptor.
    fn set_status(&mut self, descriptor: u32, status: Status);
    /// Enables or disables the recording of context switches.
    fn set_event_tracing(&mut self, is_on: bool);
    /// Sets the priority at which context switches are recorded.
    fn set_low_priority(&mut self, is_on: bool);
}

/// Serves one client until it leaves or the program ends. Reads of `stream` must time out now and then.
///
/// Unlike EasyProfiler's server, it accepts requests split in any way.
pub fn serve<S: Read + Write>(stream: &mut S, program: &mut dyn Program) -> Result<()> {
    send(stream, &Message::Accepted(program.accepted()))?;
    let mut decoder = Decoder::default();
    let mut buffer = [0; BUFFER];
    // When the client started the current message: other clients wait until it leaves.
    let mut since = None;
    while program.is_running() {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(len) => decoder.feed(buffer.get(..len).unwrap_or_default()),
            Err(error) if is_pause(&error) => {}
            Err(error) => return Err(error.into()),
        }
        while let Some(part) = decoder.next_part()? {
            match part {
                Part::Message(request) => answer(stream, program, request)?,
                Part::Payload(_) => return Err(Error::unrecognized("a client sent a payload")),
            }
            since = None;
        }
        if decoder.is_inside() && since.get_or_insert_with(Instant::now).elapsed() > HALF_A_MESSAGE {
            return Err(Error::unrecognized("a client sent half a message"));
        }
    }
    Ok(())
}

fn answer(stream: &mut impl Write, program: &mut dyn Program, request: Message) -> Result<()> {
    match request {
        Message::StartCapture => {
            program.start()?;
            send(stream, &Message::CaptureStarted)
        }
        Message::StopCapture => {
            if let Some((bytes, file)) = program.stop()?
                && let Ok(bytes) = u32::try_from(bytes)
            {
                send(stream, &Message::Blocks { bytes })?;
                let sent = std::io::copy(&mut file.take(bytes.into()), stream)?;
                if sent < bytes.into() {
                    return Err(Error::internal(format!("a capture of {bytes} bytes ended after {sent}")));
                }
            }
            send(stream, &Message::BlocksEnd)
        }
        Message::DescriptorsWanted => {
            let Descriptors(payload) = program.descriptors()?;
            if let Ok(bytes) = u32::try_from(payload.len()) {
                send(stream, &Message::Descriptors { bytes })?;
                stream.write_all(&payload)?;
            }
            send(stream, &Message::DescriptorsEnd)
        }
        Message::FrameTimeWanted => send(stream, &Message::FrameTime(program.frame_time())),
        Message::SetStatus { descriptor, status } => {
            program.set_status(descriptor, status);
            Ok(())
        }
        Message::SetEventTracing(is_on) => {
            program.set_event_tracing(is_on);
            Ok(())
        }
        Message::SetLowPriority(is_on) => {
            program.set_low_priority(is_on);
            Ok(())
        }
        Message::Ping => Ok(()),
        reply => Err(Error::unrecognized(format!("a client sent a reply: {}", reply.kind()))),
    }
}

fn send(stream: &mut impl Write, message: &Message) -> Result<()> {
    stream.write_all(&message.encode())?;
    Ok(stream.flush()?)
}

impl Descriptors {
    /// Describes the blocks of a program in version 2.1.0.
    pub fn new<'a>(descriptors: impl IntoIterator<Item = Descriptor<'a>>) -> Result<Self> {
        let header = Header::new(Layout::real(Version::V2_1_0, ByteOrder::Little), Version::V2_1_0);
        let mut writer = crate::create(Vec::new(), &header)?;
        for descriptor in descriptors {
            writer.write(&Record::Descriptor(descriptor))?;
        }
        let tally = *writer.tally();
        let file = writer.finish()?;
        let mut payload = Vec::with_capacity(file.len());
        payload.extend(EASY_PROFILER_SIGNATURE.to_le_bytes());
        payload.extend(Version::V2_1_0.0.to_le_bytes());
        payload.extend(tally.descriptors.to_le_bytes());
        payload.extend(tally.descriptor_bytes.to_le_bytes());
        payload.extend_from_slice(file.get(header.stored_bytes..).unwrap_or_default());
        Ok(Self(payload))
    }
}
