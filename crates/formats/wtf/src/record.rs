//! Header and records: everything in a file, borrowed and lossless.

use traceloom_core::{Describe, Fields};

use crate::{
    Args, Array, EventType, FileInfo, StringTable, Value,
    raw::{ChunkType, EventFlags, FORMAT_VERSION, NO_TIME, PART_ENTRY, PartType, WTF_VERSION},
};

/// The container of the chunks.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Container {
    /// The chunked file format in binary.
    Binary,
    /// One JSON document.
    Json,
    /// A JSON document for the header and one per chunk.
    JsonPartial,
    /// The packed, big-endian format that chunks replaced.
    Legacy,
    /// The JSON event list that chunks replaced.
    Script,
    /// Calls of instrumented functions, a separate format.
    Calls,
}

impl Container {
    /// The name for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Binary => "binary",
            Self::Json => "json",
            Self::JsonPartial => "json-partial",
            Self::Legacy => "legacy",
            Self::Script => "script",
            Self::Calls => "calls",
        }
    }
}

/// The file header.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The container of the chunks.
    pub container: Container,
    /// The writer's build date in milliseconds; its lower 32 bits in binary files.
    pub wtf_version: u64,
    /// Version of the format: 10 with chunks, 3 packed, 2 for event lists, 1 for calls.
    pub format_version: u32,
    /// The contents of the first file header; it is stored in a chunk, as a separate record.
    pub info: FileInfo,
    /// Bytes before the first record of a packed file, as stored.
    pub head: Vec<u8>,
    /// Size of the binary header in the file.
    pub stored_bytes: usize,
}

impl Header {
    /// The header of a binary file as the last release writes it.
    pub fn new(info: FileInfo) -> Self {
        Self {
            container: Container::Binary,
            wtf_version: WTF_VERSION & 0xffff_ffff,
            format_version: FORMAT_VERSION,
            info,
            head: Vec::new(),
            stored_bytes: crate::raw::FILE_HEADER_BYTES,
        }
    }
}

/// The head of a chunk.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Chunk<'a> {
    /// Any number; nothing refers to it.
    pub id: u32,
    /// The contents of the chunk.
    pub kind: ChunkType,
    /// Size including head, part table and padding, as stored.
    pub length: u32,
    /// Time of the first event, or [`NO_TIME`].
    pub start: u32,
    /// Time of the last event, or [`NO_TIME`].
    pub end: u32,
    /// Number of parts as stored.
    pub part_count: u32,
    /// The part table as stored; empty in a chunk of an unknown type.
    pub parts: &'a [u8],
    /// Whether its bytes have already been returned, as [`Record::Raw`]; the records decoded from them follow.
    pub carried: bool,
}

/// An entry of the part table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Part {
    /// The contents of the part.
    pub kind: PartType,
    /// Offset of the part, counted from the end of the part table.
    pub offset: u32,
    /// Size without padding.
    pub length: u32,
}

impl<'a> Chunk<'a> {
    /// The part table.
    pub fn part_table(&self) -> impl Iterator<Item = Part> + use<'a> {
        part_table(self.parts)
    }
}

pub(crate) fn part_table(table: &[u8]) -> impl Iterator<Item = Part> + use<'_> {
    table.chunks_exact(PART_ENTRY).map(|entry| {
        let mut words = entry.chunks_exact(4).map(|word| word.first_chunk().copied().map_or(0, u32::from_le_bytes));
        let mut word = || words.next().unwrap_or(0);
        Part { kind: PartType(word()), offset: word(), length: word() }
    })
}

/// An event.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// The type of the event, with the wire id in its definition.
    pub kind: &'a EventType,
    /// Wire id as stored.
    pub wire_id: u32,
    /// Microseconds as stored: they wrap after 71 minutes.
    pub time: u32,
    /// Microseconds from the first header's timebase, with wraps undone.
    pub time_us: i64,
    /// The zone of the event: its index in [`crate::Reader::zones`].
    pub zone: u32,
    /// Its arguments.
    pub args: Args<'a>,
}

impl<'a> Event<'a> {
    /// Its name for people: the name in the argument of a generic scope or time stamp, otherwise the type's name.
    pub fn name(&self) -> std::borrow::Cow<'a, str> {
        use crate::Role;
        let fallback = match self.kind.role {
            Role::ScopeEnter => "unnamed.scope",
            Role::TimeStamp => "unnamed.instance",
            _ => return std::borrow::Cow::Borrowed(&self.kind.name),
        };
        let given = self.args.get("name").and_then(|name| name.as_text()).filter(|name| !name.bytes.is_empty());
        given.map_or(std::borrow::Cow::Borrowed(fallback), |name| name.to_str())
    }
}

/// Bytes that are embedded in the trace.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Resource<'a> {
    /// Its number among the resources of its chunk, from 0.
    pub ordinal: u32,
    /// Bytes or text.
    pub kind: PartType,
    /// Its contents.
    pub bytes: &'a [u8],
}

/// One piece of a file. A file is `(Raw* Chunk (FileHeader | Strings | Event | Torn | Resource | JsonEvents | Unread |
/// Padding)* | Residue)*`; a packed file has only events. The records of a chunk are in byte order.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[repr(u64)]
pub enum Record<'a> {
    /// Text or bytes of a container that is not a plain sequence of chunks; the decoded chunk follows.
    Raw(&'a [u8]),
    /// A chunk starts.
    Chunk(Chunk<'a>),
    /// JSON about the whole file.
    FileHeader(&'a [u8]),
    /// The strings that the events of the chunk refer to.
    Strings(&'a StringTable),
    /// An event.
    Event(Event<'a>),
    /// The start of an event that is cut off by the end of its buffer.
    Torn(&'a [u8]),
    /// A resource.
    Resource(Resource<'a>),
    /// Events as JSON in a binary chunk.
    JsonEvents(&'a [u8]),
    /// A part, or a piece of one, that is not read: of an unknown type, or replaced by a later one.
    Unread(&'a [u8]),
    /// Bytes between parts.
    Padding(&'a [u8]),
    /// Bytes that belong to no record.
    Residue(&'a [u8]),
}

impl Describe for Header {
    fn kind(&self) -> &'static str {
        "header"
    }

    fn describe(&self, fields: &mut dyn Fields) {
        fields.word("container", self.container.as_str());
        fields.unsigned("wtf_version", self.wtf_version);
        fields.unsigned("format_version", self.format_version.into());
        fields.float("timebase_ms", self.info.timebase_ms);
        fields.hex("flags", self.info.flags.into());
        for (name, pairs) in [("context", &self.info.context), ("metadata", &self.info.metadata)] {
            fields.list(name);
            for (key, value) in pairs {
                fields.text("pair", format!("{key}={value}").as_bytes());
            }
            fields.end();
        }
    }
}

impl Describe for Record<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Raw(_) => "raw",
            Self::Chunk(_) => "chunk",
            Self::FileHeader(_) => "file-header",
            Self::Strings(_) => "strings",
            Self::Event(event) if event.kind.is_scope() => "scope",
            Self::Event(_) => "event",
            Self::Torn(_) => "torn",
            Self::Resource(_) => "resource",
            Self::JsonEvents(_) => "json-events",
            Self::Unread(_) => "unread",
            Self::Padding(_) => "padding",
            Self::Residue(_) => "residue",
        }
    }

    fn describe(&self, fields: &mut dyn Fields) {
        match self {
            Self::Raw(text) | Self::FileHeader(text) | Self::JsonEvents(text) => fields.text("text", text),
            Self::Chunk(chunk) => chunk.describe(fields),
            Self::Strings(strings) => {
                fields.list("strings");
                strings.iter().for_each(|string| fields.text("string", string));
                fields.end();
            }
            Self::Event(event) => event.describe(fields),
            Self::Resource(resource) => {
                fields.unsigned("ordinal", resource.ordinal.into());
                fields.word("type", &resource.kind.to_string());
                match resource.kind {
                    PartType::STRING_RESOURCE => fields.text("contents", resource.bytes),
                    _ => fields.bytes("contents", resource.bytes),
                }
            }
            Self::Torn(bytes) | Self::Unread(bytes) | Self::Padding(bytes) | Self::Residue(bytes) => {
                fields.bytes("bytes", bytes);
            }
        }
    }
}

impl Chunk<'_> {
    fn describe(&self, fields: &mut dyn Fields) {
        fields.unsigned("id", self.id.into());
        fields.word("type", &self.kind.to_string());
        fields.unsigned("length", self.length.into());
        for (name, time) in [("start", self.start), ("end", self.end)] {
            if time != NO_TIME {
                fields.unsigned(name, time.into());
            }
        }
        fields.unsigned("part_count", self.part_count.into());
        fields.list("parts");
        for part in self.part_table() {
            fields.word("part", &format!("{} at {}, {} bytes", part.kind, part.offset, part.length));
        }
        fields.end();
        if self.carried {
            fields.flag("carried", true);
        }
    }
}

impl Event<'_> {
    fn describe(&self, fields: &mut dyn Fields) {
        fields.text("name", self.name().as_bytes());
        fields.unsigned("wire_id", self.wire_id.into());
        fields.unsigned("time", self.time.into());
        if self.time_us != i64::from(self.time) {
            fields.signed("time_us", self.time_us);
        }
        fields.unsigned("zone", self.zone.into());
        if self.kind.flags != EventFlags(0) {
            fields.word("flags", &self.kind.flags.to_string());
        }
        if !self.args.is_empty() {
            fields.list("args");
            for (argument, value) in self.args.iter() {
                fields.text(ARGUMENT, format!("{} {}", argument.kind, argument.name).as_bytes());
                describe_value(value, fields);
            }
            fields.end();
        }
    }
}

/// Arguments are listed as pairs: field names must be known at compile time.
const ARGUMENT: &str = "argument";

fn describe_value(value: Value<'_>, fields: &mut dyn Fields) {
    const NAME: &str = "value";
    match value {
        Value::Bool(flag) => fields.flag(NAME, flag),
        Value::Int(number) => fields.signed(NAME, number.into()),
        Value::Uint(number) | Value::Flow(number) | Value::Time(number) => fields.unsigned(NAME, number.into()),
        Value::Float(number) => fields.float(NAME, number.into()),
        Value::Char(unit) => fields.unsigned(NAME, unit.into()),
        Value::Wchar(unit) => fields.unsigned(NAME, unit.into()),
        Value::Text(Some(text)) | Value::Any(Some(text)) => fields.text(NAME, text.to_str().as_bytes()),
        Value::Text(None) | Value::Any(None) | Value::Array(None) => fields.word(NAME, "null"),
        Value::Array(Some(array)) => describe_array(&array, fields),
    }
}

fn describe_array(array: &Array<'_>, fields: &mut dyn Fields) {
    fields.list("value");
    array.iter().for_each(|element| describe_value(element, fields));
    fields.end();
}
