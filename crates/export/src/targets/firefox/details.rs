//! The tooltip of a marker, as one line of text.

use std::fmt::Write;

use traceloom_core::{Result, text::push_hex};

use traceloom_passes::{Arg, Args, Datum, NamePool, Owner};

/// A text under construction.
#[derive(Debug, Default)]
pub(super) struct Details {
    text: String,
    taken: String,
}

impl Details {
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Adds a value.
    pub(super) fn add(&mut self, key: &str, idx: Option<u32>, value: &str) {
        if !self.text.is_empty() {
            self.text.push_str(", ");
        }
        self.text.push_str(key);
        if let Some(idx) = idx {
            // Writing into memory cannot fail.
            let _ = write!(self.text, "[{idx}]");
        }
        self.text.push('=');
        self.text.push_str(value);
    }

    /// Adds the source location.
    pub(super) fn source(&mut self, file: &str, line: Option<u32>) {
        match line {
            Some(line) => self.add("source", None, &format!("{file}:{line}")),
            None => self.add("source", None, file),
        }
    }

    /// Adds the arguments of a row.
    pub(super) fn args(&mut self, owner: Owner, args: &mut Args, names: &mut NamePool) -> Result<()> {
        args.visit(owner, |arg: Arg<'_>| {
            let key = names.get(arg.key)?;
            match arg.value {
                Datum::Text(text) => self.add(key, arg.idx, text),
                Datum::Int(number) => self.add(key, arg.idx, &number.to_string()),
                Datum::Unsigned(number) => self.add(key, arg.idx, &number.to_string()),
                Datum::Float(number) => self.add(key, arg.idx, &number.to_string()),
                Datum::Null => self.add(key, arg.idx, "null"),
                Datum::Bytes(bytes) => {
                    let mut hex = Vec::new();
                    push_hex(&mut hex, bytes);
                    self.add(key, arg.idx, &String::from_utf8_lossy(&hex));
                }
            }
            Ok(())
        })
    }

    /// The text; the next one starts empty.
    pub(super) fn take(&mut self) -> &str {
        std::mem::swap(&mut self.text, &mut self.taken);
        self.text.clear();
        &self.taken
    }
}
