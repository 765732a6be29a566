//! One JSON object per entry.

use std::borrow::Cow;

use traceloom_core::text::{json::Writer, push_hex};

use super::{Messages, put_level};
use crate::{Arg, Args, Clock, Entry, Site};

/// Writes entries as JSON lines.
///
/// Every object has `ts_unix_ns`, `level`, `file`, `line`, `message`, `args` and `offset`. Text that is not UTF-8 is
/// shown with U+FFFD; the message's bytes are then in `message_hex`. An entry whose arguments cannot be decoded has
/// `args` null and its bytes in `data_hex`; an entry of an unknown site has no level, file and line.
#[derive(Debug)]
pub struct Json {
    clock: Clock,
    /// Renders the messages; see [`Messages::shared`] if several threads render one log.
    pub messages: Messages,
    text: Vec<u8>,
    json: Writer,
}

impl Json {
    /// Objects of one file.
    pub fn new(clock: Clock) -> Self {
        Self { clock, messages: Messages::default(), text: Vec::new(), json: Writer::default() }
    }

    /// Appends the object of an entry, with a newline; `offset` is that of the entry.
    pub fn put(&mut self, entry: &Entry<'_>, offset: u64, out: &mut Vec<u8>) {
        // The writer appends to the caller's bytes, so nothing is copied.
        std::mem::swap(&mut self.json.out, out);
        self.put_object(entry, offset);
        std::mem::swap(&mut self.json.out, out);
    }

    fn put_object(&mut self, entry: &Entry<'_>, offset: u64) {
        self.json.begin_object().key("ts_unix_ns");
        match entry.timestamp {
            Some(ticks) => self.json.int(self.clock.moment(ticks).unix_ns()),
            None => self.json.null(),
        };
        self.put_site(entry, entry.site());
        self.text.clear();
        self.messages.put(entry, &mut self.text);
        let message = String::from_utf8_lossy(&self.text);
        self.json.key("message").string(&message);
        if let Cow::Owned(_) = message {
            self.json.key("message_hex");
            put_bytes(&self.text, &mut self.json);
        }
        self.json.key("args");
        match entry.args() {
            Some(args) => put_args(args, &mut self.json),
            None => {
                self.json.null().key("data_hex");
                put_bytes(entry.data, &mut self.json);
            }
        }
        self.json.key("offset").unsigned(offset).end_object().end_line();
    }

    fn put_site(&mut self, entry: &Entry<'_>, site: Option<Site<'_>>) {
        let Some(site) = site else {
            self.json.key("level").null().key("file").null().key("line").null();
            return;
        };
        self.text.clear();
        put_level(entry, Some(site), &mut self.text);
        self.json.key("level").string(&String::from_utf8_lossy(&self.text));
        self.json.key("file").string(&String::from_utf8_lossy(site.file));
        self.json.key("line").unsigned(site.line.into());
    }
}

fn put_bytes(bytes: &[u8], json: &mut Writer) {
    json.raw(b"\"");
    push_hex(&mut json.out, bytes);
    json.out.push(b'"');
}

fn put_args(args: Args<'_>, json: &mut Writer) {
    json.begin_array();
    for arg in args {
        match arg {
            Arg::Char(value) => json.string(&String::from_utf8_lossy(&[value])),
            Arg::Double(value) if value.is_nan() => json.string("nan"),
            Arg::Double(value) => json.float(value),
            Arg::Int32(value) => json.int(value.into()),
            Arg::Int64(value) => json.int(value),
            Arg::Pointer(value) => json.string(&format!("{value:#x}")),
            Arg::String(text) => json.string(&String::from_utf8_lossy(text)),
            Arg::Uint32(value) => json.unsigned(value.into()),
            Arg::Uint64(value) => json.unsigned(value),
        };
    }
    json.end_array();
}
