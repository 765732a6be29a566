//! One JSON object an entry.

use std::io::Write;

use super::{Messages, put_hex, put_level};
use crate::{Arg, Clock, Entry, printf};

/// Writes entries as JSON lines.
///
/// Every object has `ts_unix_ns`, `level`, `file`, `line`, `message`, `args` and `offset`. Text that is not UTF-8
/// is shown with U+FFFD; the message's bytes then stand in `message_hex`. An entry whose arguments
/// cannot be read has `args` null and its bytes in `data_hex`; one of an unknown site has no level, file and line.
#[derive(Debug)]
pub struct Json {
    clock: Clock,
    messages: Messages,
    text: Vec<u8>,
}

impl Json {
    /// Objects of one file.
    pub fn new(clock: Clock) -> Self {
        Self { clock, messages: Messages::default(), text: Vec::new() }
    }

    /// Appends the object of an entry, with a newline; `offset` is where the entry lies.
    pub fn put(&mut self, entry: &Entry<'_>, offset: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"ts_unix_ns\":");
        match entry.timestamp {
            Some(ticks) => put_signed(self.clock.moment(ticks).unix_ns(), out),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"level\":");
        match entry.site() {
            Some(site) => self.put_text(out, |_, text| put_level(entry, Some(site), text)),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"file\":");
        match entry.site() {
            Some(site) => put_string(site.file, out),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"line\":");
        match entry.site() {
            Some(site) => printf::put_decimal(site.line.into(), false, out),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"message\":");
        self.put_text(out, |messages, text| messages.put(entry, text));
        if std::str::from_utf8(&self.text).is_err() {
            out.extend_from_slice(b",\"message_hex\":\"");
            put_hex(&self.text, out);
            out.push(b'"');
        }
        out.extend_from_slice(b",\"args\":");
        put_args(entry, out);
        out.extend_from_slice(b",\"offset\":");
        printf::put_decimal(offset, false, out);
        out.extend_from_slice(b"}\n");
    }

    fn put_text(&mut self, out: &mut Vec<u8>, render: impl FnOnce(&mut Messages, &mut Vec<u8>)) {
        self.text.clear();
        render(&mut self.messages, &mut self.text);
        put_string(&self.text, out);
    }
}

fn put_args(entry: &Entry<'_>, out: &mut Vec<u8>) {
    let Some(args) = entry.args() else {
        out.extend_from_slice(b"null,\"data_hex\":\"");
        put_hex(entry.data, out);
        return out.push(b'"');
    };
    out.push(b'[');
    for (index, arg) in args.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        put_arg(arg, out);
    }
    out.push(b']');
}

fn put_arg(arg: Arg<'_>, out: &mut Vec<u8>) {
    match arg {
        Arg::Char(value) => put_string(&[value], out),
        // JSON has no word for these.
        Arg::Double(value) if value.is_nan() => put_string(b"nan", out),
        Arg::Double(value) if value.is_infinite() => put_string(if value > 0.0 { b"inf" } else { b"-inf" }, out),
        // Writing to memory cannot fail; the shortest digits that give the number back.
        Arg::Double(value) => _ = write!(out, "{value:?}"),
        Arg::Int32(value) => put_signed(value.into(), out),
        Arg::Int64(value) => put_signed(value, out),
        Arg::Pointer(value) => _ = write!(out, "\"{value:#x}\""),
        Arg::String(text) => put_string(text, out),
        Arg::Uint32(value) => printf::put_decimal(value.into(), false, out),
        Arg::Uint64(value) => printf::put_decimal(value, false, out),
    }
}

fn put_signed(value: i64, out: &mut Vec<u8>) {
    printf::put_decimal(value.unsigned_abs(), value < 0, out);
}

fn put_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    for chunk in text.utf8_chunks() {
        let mut left = chunk.valid().as_bytes();
        // Also DEL, which some terminals act on; and the controls that have two bytes, C2 80 to C2 9F.
        while let Some(at) = left.iter().position(|byte| matches!(byte, 0..0x20 | b'"' | b'\\' | 0x7f | 0xc2)) {
            let (clean, rest) = left.split_at_checked(at).unwrap_or((left, &[]));
            out.extend_from_slice(clean);
            left = match rest {
                [0xc2, control @ 0x80..0xa0, rest @ ..] => {
                    put_escaped(*control, out);
                    rest
                }
                [0xc2, rest @ ..] => {
                    out.push(0xc2);
                    rest
                }
                [byte, rest @ ..] => {
                    put_escaped(*byte, out);
                    rest
                }
                [] => rest,
            };
        }
        out.extend_from_slice(left);
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    out.push(b'"');
}

fn put_escaped(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        byte => _ = write!(out, "\\u{byte:04x}"),
    }
}
