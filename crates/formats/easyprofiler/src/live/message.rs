//! Messages as values and as bytes.

use traceloom_core::named_number;

use crate::raw::Status;

/// The first bytes of every message.
pub const MAGIC: u32 = 0x0133_a18d;
/// Size of a message's magic and type.
pub(super) const HEAD: usize = 5;
/// Maximum size of a message, without a payload.
const MAX_BYTES: usize = HEAD + 8;

named_number! {
    /// The type of a message.
    pub Kind(u8) {
        /// The client starts a capture.
        START_CAPTURE = 1 "start capture",
        /// The program has started it.
        CAPTURE_STARTED = 2 "capture started",
        /// The client ends the capture and waits for its blocks.
        STOP_CAPTURE = 3 "stop capture",
        /// A size, and that many bytes of a `.prof` file.
        BLOCKS = 4 "blocks",
        /// Comes after the blocks.
        BLOCKS_END = 5 "end of blocks",
        /// The program greets its client.
        ACCEPTED = 6 "connection accepted",
        /// The client requests the descriptors.
        DESCRIPTORS_WANTED = 7 "descriptors wanted",
        /// A size, and that many bytes of descriptors.
        DESCRIPTORS = 8 "descriptors",
        /// Comes after the descriptors.
        DESCRIPTORS_END = 9 "end of descriptors",
        /// The client enables or disables a descriptor.
        SET_STATUS = 10 "set status",
        /// The client enables or disables event tracing.
        SET_EVENT_TRACING = 11 "set event tracing",
        /// The client sets the priority of event tracing.
        SET_LOW_PRIORITY = 12 "set low priority",
        /// No reply.
        PING = 13 "ping",
        /// The client requests the frame time.
        FRAME_TIME_WANTED = 14 "frame time wanted",
        /// The frame time of the main thread.
        FRAME_TIME = 15 "frame time",
    }
}

/// The state of the program when a client connects.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Accepted {
    /// Whether profiling is on: started by the program itself, or left on by an earlier client.
    pub is_profiling: bool,
    /// Whether context switches are recorded.
    pub traces_events: bool,
    /// Whether context switches are recorded with low priority; used only on Windows.
    pub has_low_priority: bool,
}

/// Durations of the main thread's outermost blocks since the last request.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct FrameTime {
    /// The maximum, in microseconds.
    pub max_us: u32,
    /// The mean, in microseconds.
    pub average_us: u32,
}

/// One message; a payload follows [`Message::Blocks`] and [`Message::Descriptors`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Message {
    /// See [`Kind::START_CAPTURE`].
    StartCapture,
    /// See [`Kind::CAPTURE_STARTED`].
    CaptureStarted,
    /// See [`Kind::STOP_CAPTURE`].
    StopCapture,
    /// See [`Kind::BLOCKS`].
    Blocks {
        /// Size of the payload.
        bytes: u32,
    },
    /// See [`Kind::BLOCKS_END`].
    BlocksEnd,
    /// See [`Kind::ACCEPTED`].
    Accepted(Accepted),
    /// See [`Kind::DESCRIPTORS_WANTED`].
    DescriptorsWanted,
    /// See [`Kind::DESCRIPTORS`].
    Descriptors {
        /// Size of the payload.
        bytes: u32,
    },
    /// See [`Kind::DESCRIPTORS_END`].
    DescriptorsEnd,
    /// See [`Kind::SET_STATUS`].
    SetStatus {
        /// The descriptor's index in the list.
        descriptor: u32,
        /// The new status.
        status: Status,
    },
    /// See [`Kind::SET_EVENT_TRACING`].
    SetEventTracing(bool),
    /// See [`Kind::SET_LOW_PRIORITY`].
    SetLowPriority(bool),
    /// See [`Kind::PING`].
    Ping,
    /// See [`Kind::FRAME_TIME_WANTED`].
    FrameTimeWanted,
    /// See [`Kind::FRAME_TIME`].
    FrameTime(FrameTime),
}

impl Message {
    /// The type of the message.
    pub const fn kind(&self) -> Kind {
        match self {
            Self::StartCapture => Kind::START_CAPTURE,
            Self::CaptureStarted => Kind::CAPTURE_STARTED,
            Self::StopCapture => Kind::STOP_CAPTURE,
            Self::Blocks { .. } => Kind::BLOCKS,
            Self::BlocksEnd => Kind::BLOCKS_END,
            Self::Accepted(_) => Kind::ACCEPTED,
            Self::DescriptorsWanted => Kind::DESCRIPTORS_WANTED,
            Self::Descriptors { .. } => Kind::DESCRIPTORS,
            Self::DescriptorsEnd => Kind::DESCRIPTORS_END,
            Self::SetStatus { .. } => Kind::SET_STATUS,
            Self::SetEventTracing(_) => Kind::SET_EVENT_TRACING,
            Self::SetLowPriority(_) => Kind::SET_LOW_PRIORITY,
            Self::Ping => Kind::PING,
            Self::FrameTimeWanted => Kind::FRAME_TIME_WANTED,
            Self::FrameTime(_) => Kind::FRAME_TIME,
        }
    }

    /// The bytes of the message, without a payload.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(MAX_BYTES);
        bytes.extend(MAGIC.to_le_bytes());
        bytes.push(self.kind().0);
        match *self {
            Self::Blocks { bytes: size } | Self::Descriptors { bytes: size } => bytes.extend(size.to_le_bytes()),
            Self::Accepted(state) => {
                bytes.extend([state.is_profiling, state.traces_events, state.has_low_priority].map(u8::from));
            }
            Self::SetStatus { descriptor, status } => {
                bytes.extend(descriptor.to_le_bytes());
                bytes.push(status.0);
            }
            Self::SetEventTracing(is_on) | Self::SetLowPriority(is_on) => bytes.push(is_on.into()),
            Self::FrameTime(time) => {
                bytes.extend(time.max_us.to_le_bytes());
                bytes.extend(time.average_us.to_le_bytes());
            }
            _ => {}
        }
        bytes
    }

    /// Size of the payload that follows.
    pub const fn payload_bytes(&self) -> u32 {
        match *self {
            Self::Blocks { bytes } | Self::Descriptors { bytes } => bytes,
            _ => 0,
        }
    }
}

impl Kind {
    /// Number of bytes after the type, without a payload; `None` for an unknown type.
    pub(super) const fn extra_bytes(self) -> Option<usize> {
        Some(match self {
            Self::BLOCKS | Self::DESCRIPTORS => 4,
            Self::ACCEPTED => 3,
            Self::SET_STATUS => 5,
            Self::SET_EVENT_TRACING | Self::SET_LOW_PRIORITY => 1,
            Self::FRAME_TIME => 8,
            Self(1..=15) => 0,
            _ => return None,
        })
    }

    /// Builds a message from the bytes after its type; missing bytes are zero.
    pub(super) fn message(self, extra: &[u8]) -> Option<Message> {
        let byte = |at: usize| extra.get(at).copied().unwrap_or(0);
        let number = |at: usize| u32::from_le_bytes([byte(at), byte(at + 1), byte(at + 2), byte(at + 3)]);
        let is_on = |at: usize| byte(at) != 0;
        Some(match self {
            Self::START_CAPTURE => Message::StartCapture,
            Self::CAPTURE_STARTED => Message::CaptureStarted,
            Self::STOP_CAPTURE => Message::StopCapture,
            Self::BLOCKS => Message::Blocks { bytes: number(0) },
            Self::BLOCKS_END => Message::BlocksEnd,
            Self::ACCEPTED => Message::Accepted(Accepted {
                is_profiling: is_on(0),
                traces_events: is_on(1),
                has_low_priority: is_on(2),
            }),
            Self::DESCRIPTORS_WANTED => Message::DescriptorsWanted,
            Self::DESCRIPTORS => Message::Descriptors { bytes: number(0) },
            Self::DESCRIPTORS_END => Message::DescriptorsEnd,
            Self::SET_STATUS => Message::SetStatus { descriptor: number(0), status: Status(byte(4)) },
            Self::SET_EVENT_TRACING => Message::SetEventTracing(is_on(0)),
            Self::SET_LOW_PRIORITY => Message::SetLowPriority(is_on(0)),
            Self::PING => Message::Ping,
            Self::FRAME_TIME_WANTED => Message::FrameTimeWanted,
            Self::FRAME_TIME => Message::FrameTime(FrameTime { max_us: number(0), average_us: number(4) }),
            _ => return None,
        })
    }
}
