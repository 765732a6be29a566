//! Writes one event after the other.

use std::io::Write;

use traceloom_core::{
    Result,
    text::{
        json::Writer,
        number::{push_micros, push_u64},
        push_hex,
    },
};

use traceloom_passes::{Arg, Args, Datum, NameId, NamePool, Owner, Repeats};

/// Bytes collected before they are written.
const BUFFER_BYTES: usize = 256 << 10;
/// Integers up to this one are exact in programs that read every number as a double.
const EXACT: u64 = 1 << 53;

/// The process and the thread that an event belongs to.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Lane {
    pub(super) pid: u32,
    pub(super) tid: u32,
}

/// The text of an event before its time, which most events repeat.
struct Head {
    text: [u8; Self::MAX],
    len: usize,
    /// The phase and the lane that the text is about.
    of: Option<(u8, Lane)>,
}

impl Head {
    /// The longest text: two numbers of ten digits, and what is around them.
    const MAX: usize = 64;
    const NONE: Self = Self { text: [0; Self::MAX], len: 0, of: None };
}

/// Writes the array of events.
pub(super) struct Events<'o> {
    out: &'o mut dyn Write,
    /// The event under construction, after those that wait to be written.
    pub(super) json: Writer,
    is_first: bool,
    head: Head,
    /// Keys of the arguments of this event.
    keys: Repeats,
    array: Option<NameId>,
}

impl<'o> Events<'o> {
    pub(super) fn new(out: &'o mut dyn Write) -> Self {
        let mut json = Writer::default();
        json.out.extend_from_slice(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
        Self { out, json, is_first: true, head: Head::NONE, keys: Repeats::default(), array: None }
    }

    /// Starts an event of a phase.
    #[inline]
    pub(super) fn begin(&mut self, phase: u8, lane: Lane, ts_ns: u64) {
        self.begin_timeless(phase, lane);
        self.json.out.extend_from_slice(b",\"ts\":");
        push_micros(&mut self.json.out, ts_ns as i64);
    }

    /// Starts an event without a time.
    #[inline]
    pub(super) fn begin_timeless(&mut self, phase: u8, lane: Lane) {
        if self.head.of != Some((phase, lane)) {
            self.lay_out_head(phase, lane);
        }
        // The head starts the object, and what follows it needs a comma.
        let out = &mut self.json.restart().raw(b"").out;
        let end = out.len() + self.head.len;
        // Copying a constant number of bytes is much faster than copying the exact number.
        out.extend_from_slice(&self.head.text);
        out.truncate(end);
    }

    #[cold]
    fn lay_out_head(&mut self, phase: u8, lane: Lane) {
        let is_first = std::mem::replace(&mut self.is_first, false);
        let mut text = Vec::with_capacity(Head::MAX);
        if !is_first {
            text.extend_from_slice(b",\n");
        }
        text.extend_from_slice(b"{\"ph\":\"");
        text.push(phase);
        text.extend_from_slice(b"\",\"pid\":");
        push_u64(&mut text, lane.pid.into());
        text.extend_from_slice(b",\"tid\":");
        push_u64(&mut text, lane.tid.into());
        self.head.len = text.len();
        text.resize(Head::MAX, 0);
        self.head.text.copy_from_slice(&text);
        // The next event starts with a comma.
        self.head.of = (!is_first).then_some((phase, lane));
    }

    /// Sets the duration of the event.
    #[inline]
    pub(super) fn duration(&mut self, dur_ns: u64) {
        self.json.out.extend_from_slice(b",\"dur\":");
        push_micros(&mut self.json.out, dur_ns as i64);
    }

    /// Ends the event.
    #[inline]
    pub(super) fn end(&mut self) -> Result<()> {
        self.json.end_object();
        if self.json.out.len() < BUFFER_BYTES { Ok(()) } else { self.flush() }
    }

    #[cold]
    fn flush(&mut self) -> Result<()> {
        self.out.write_all(&self.json.out)?;
        self.json.out.clear();
        Ok(())
    }

    /// Names a process or a thread.
    pub(super) fn metadata(&mut self, what: &str, lane: Lane, name: &str) -> Result<()> {
        self.begin_timeless(b'M', lane);
        self.json.key("name").string(what).key("args").begin_object().key("name").string(name).end_object();
        self.end()
    }

    /// Writes the arguments of a row, inside `args`.
    pub(super) fn args(&mut self, owner: Owner, args: &mut Args, names: &mut NamePool) -> Result<()> {
        if args.is_empty() {
            return Ok(());
        }
        self.keys.clear();
        args.visit(owner, |arg| self.arg(&arg, names))?;
        self.close_array();
        Ok(())
    }

    fn arg(&mut self, arg: &Arg<'_>, names: &mut NamePool) -> Result<()> {
        if arg.idx.is_none() || self.array != Some(arg.key) {
            self.close_array();
            let json = &mut self.json;
            self.keys.put(arg.key, names, |key| {
                json.key(key);
            })?;
            if arg.idx.is_some() {
                self.array = Some(arg.key);
                self.json.begin_array();
            }
        }
        put_value(&mut self.json, arg.value);
        Ok(())
    }

    fn close_array(&mut self) {
        if self.array.take().is_some() {
            self.json.end_array();
        }
    }

    /// Ends the array and the object.
    pub(super) fn finish(mut self, unix_origin_ns: Option<i64>) -> Result<()> {
        self.json.out.extend_from_slice(b"\n]");
        if let Some(unix_ns) = unix_origin_ns {
            self.json.out.extend_from_slice(b",\"otherData\":{\"unix_origin_ns\":\"");
            traceloom_core::text::number::push_i64(&mut self.json.out, unix_ns);
            self.json.out.extend_from_slice(b"\"}");
        }
        self.json.out.extend_from_slice(b"}\n");
        self.flush()
    }
}

fn put_value(json: &mut Writer, value: Datum<'_>) {
    match value {
        Datum::Bytes(bytes) => {
            let mut hex = Vec::new();
            push_hex(&mut hex, bytes);
            json.string(&String::from_utf8_lossy(&hex))
        }
        Datum::Float(number) => json.float(number),
        Datum::Int(number) if number.unsigned_abs() <= EXACT => json.int(number),
        Datum::Int(number) => json.string(&number.to_string()),
        Datum::Null => json.null(),
        Datum::Text(text) => json.string(text),
        Datum::Unsigned(number) if number <= EXACT => json.unsigned(number),
        Datum::Unsigned(number) => json.string(&number.to_string()),
    };
}
