//! Prints the fields of a record, as text or as JSON.

use std::fmt::Write as _;

use traceloom_core::{Describe, Fields, Text};

use crate::output::Styles;

/// Turns records into lines.
pub(crate) trait Lines {
    /// The line for one record.
    fn line(&mut self, offset: u64, len: u64, record: &dyn Describe) -> &str;
}

/// `offset  kind  name=value …`
#[derive(Default)]
pub(crate) struct TextLines {
    line: String,
    /// Lists that are open.
    depth: usize,
}

impl Lines for TextLines {
    fn line(&mut self, offset: u64, _len: u64, record: &dyn Describe) -> &str {
        let (dim, name) = (Styles::DIM, Styles::NAME);
        self.line.clear();
        _ = write!(self.line, "{dim}{offset:>10}{dim:#}  {name}{:<10}{name:#}", record.kind());
        record.describe(self);
        &self.line
    }
}

impl TextLines {
    fn put(&mut self, name: &str, value: impl std::fmt::Display) {
        let dim = Styles::DIM;
        _ = match self.depth {
            0 => write!(self.line, " {dim}{name}={dim:#}{value}"),
            _ => write!(self.line, " {value}"),
        };
    }
}

impl Fields for TextLines {
    fn unsigned(&mut self, name: &'static str, value: u64) {
        self.put(name, value);
    }

    fn signed(&mut self, name: &'static str, value: i64) {
        self.put(name, value);
    }

    fn hex(&mut self, name: &'static str, value: u64) {
        self.put(name, format_args!("{value:#x}"));
    }

    fn float(&mut self, name: &'static str, value: f64) {
        self.put(name, value);
    }

    fn flag(&mut self, name: &'static str, value: bool) {
        self.put(name, value);
    }

    fn text(&mut self, name: &'static str, value: &[u8]) {
        self.put(name, format_args!("\"{}\"", Text(value)));
    }

    fn word(&mut self, name: &'static str, value: &str) {
        self.put(name, value);
    }

    fn bytes(&mut self, name: &'static str, value: &[u8]) {
        self.put(name, Hex(value));
    }

    fn list(&mut self, name: &'static str) {
        self.put(name, '[');
        self.depth += 1;
    }

    fn end(&mut self) {
        self.line.push_str(" ]");
        self.depth = self.depth.saturating_sub(1);
    }
}

/// One JSON object a record; text that is not UTF-8 goes out as `NAME_hex`.
#[derive(Default)]
pub(crate) struct JsonLines {
    line: String,
    /// Lists that are open.
    depth: usize,
    first: bool,
}

impl Lines for JsonLines {
    fn line(&mut self, offset: u64, len: u64, record: &dyn Describe) -> &str {
        self.line.clear();
        _ = write!(self.line, "{{\"offset\":{offset},\"len\":{len},\"kind\":\"{}\"", record.kind());
        record.describe(self);
        self.line.push('}');
        &self.line
    }
}

impl JsonLines {
    fn put(&mut self, name: &str, value: impl std::fmt::Display) {
        _ = match (self.depth > 0, std::mem::take(&mut self.first)) {
            (true, true) => write!(self.line, "{value}"),
            (true, false) => write!(self.line, ",{value}"),
            (false, _) => write!(self.line, ",\"{name}\":{value}"),
        };
    }
}

impl Fields for JsonLines {
    fn unsigned(&mut self, name: &'static str, value: u64) {
        self.put(name, value);
    }

    fn signed(&mut self, name: &'static str, value: i64) {
        self.put(name, value);
    }

    fn hex(&mut self, name: &'static str, value: u64) {
        self.put(name, format_args!("\"{value:#x}\""));
    }

    fn float(&mut self, name: &'static str, value: f64) {
        // JSON has no word for these three.
        if value.is_finite() {
            self.put(name, format_args!("{value:?}"));
        } else {
            self.put(name, format_args!("\"{value}\""));
        }
    }

    fn flag(&mut self, name: &'static str, value: bool) {
        self.put(name, value);
    }

    fn text(&mut self, name: &'static str, value: &[u8]) {
        match std::str::from_utf8(value) {
            Ok(text) => self.word(name, text),
            Err(_) => self.put(&format!("{name}_hex"), format_args!("\"{}\"", Hex(value))),
        }
    }

    fn word(&mut self, name: &'static str, value: &str) {
        self.put(name, serde_json::Value::from(value));
    }

    fn bytes(&mut self, name: &'static str, value: &[u8]) {
        self.put(&format!("{name}_hex"), format_args!("\"{}\"", Hex(value)));
    }

    fn list(&mut self, name: &'static str) {
        self.put(name, '[');
        self.depth += 1;
        self.first = true;
    }

    fn end(&mut self) {
        self.line.push(']');
        self.depth = self.depth.saturating_sub(1);
        // An empty list in a list is an element all the same.
        self.first = false;
    }
}

struct Hex<'a>(&'a [u8]);

impl std::fmt::Display for Hex<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
