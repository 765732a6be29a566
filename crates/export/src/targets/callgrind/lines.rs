//! The lines of the format.

use std::io::Write;

use hashbrown::HashSet;
use traceloom_core::{Loss, Result, text::number::push_u64};

use traceloom_passes::{NameId, NamePool};

/// The tools' name for an unknown file.
const UNKNOWN_FILE: &str = "???";

/// Writes lines. A name follows its number only the first time, so no name can be mistaken for a number.
pub(super) struct Lines<'a> {
    functions: &'a [(NameId, Option<NameId>)],
    names: &'a mut NamePool,
    loss: &'a mut Loss,
    named_functions: Vec<bool>,
    named_files: HashSet<u64>,
    bytes: Vec<u8>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(functions: &'a [(NameId, Option<NameId>)], names: &'a mut NamePool, loss: &'a mut Loss) -> Self {
        let named_functions = vec![false; functions.len()];
        Self { functions, names, loss, named_functions, named_files: HashSet::new(), bytes: Vec::new() }
    }

    /// Sets the function that the next lines are about.
    pub(super) fn function(&mut self, function: u32) -> Result<()> {
        self.bytes.push(b'\n');
        self.file(b"fl=", function)?;
        self.name(b"fn=", function)
    }

    /// Sets the function that the next call is about.
    pub(super) fn called(&mut self, function: u32) -> Result<()> {
        self.file(b"cfi=", function)?;
        self.name(b"cfn=", function)
    }

    /// Writes the number of calls and the line of the callee; the cost has to follow.
    pub(super) fn calls(&mut self, count: u64, line: u32) {
        self.bytes.extend_from_slice(b"calls=");
        push_u64(&mut self.bytes, count);
        self.bytes.push(b' ');
        push_u64(&mut self.bytes, line.into());
        self.bytes.push(b'\n');
    }

    /// Writes the cost of a line.
    pub(super) fn cost(&mut self, line: u32, ns: u64) {
        push_u64(&mut self.bytes, line.into());
        self.bytes.push(b' ');
        push_u64(&mut self.bytes, ns);
        self.bytes.push(b'\n');
    }

    /// Writes the sum of all costs.
    pub(super) fn totals(&mut self, ns: u64) {
        self.bytes.extend_from_slice(b"\ntotals: ");
        push_u64(&mut self.bytes, ns);
        self.bytes.push(b'\n');
    }

    /// Writes the buffered lines to `out`.
    pub(super) fn take(&mut self, out: &mut dyn Write) -> Result<()> {
        out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    fn file(&mut self, key: &[u8], function: u32) -> Result<()> {
        let (_, file) = self.functions[function as usize];
        // Numbers count from 1.
        let number = file.map_or(1, |file| file.index() as u64 + 2);
        self.key(key, number);
        if self.named_files.insert(number) {
            self.bytes.push(b' ');
            let name = match file {
                Some(file) => self.names.get(file)?,
                None => UNKNOWN_FILE,
            };
            push_name(&mut self.bytes, name, self.loss);
        }
        self.bytes.push(b'\n');
        Ok(())
    }

    fn name(&mut self, key: &[u8], function: u32) -> Result<()> {
        self.key(key, u64::from(function) + 1);
        if !std::mem::replace(&mut self.named_functions[function as usize], true) {
            self.bytes.push(b' ');
            let (name, _) = self.functions[function as usize];
            push_name(&mut self.bytes, self.names.get(name)?, self.loss);
        }
        self.bytes.push(b'\n');
        Ok(())
    }

    fn key(&mut self, key: &[u8], number: u64) {
        self.bytes.extend_from_slice(key);
        self.bytes.push(b'(');
        push_u64(&mut self.bytes, number);
        self.bytes.push(b')');
    }
}

/// Appends a name without characters that would end the line.
pub(super) fn push_name(out: &mut Vec<u8>, name: &str, loss: &mut Loss) {
    let trimmed = name.trim_matches(|letter: char| letter.is_whitespace() || letter.is_control());
    if trimmed.is_empty() {
        out.extend_from_slice(b"(no name)");
        return;
    }
    if trimmed.len() == name.len() && !name.contains(char::is_control) {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    loss.lose("line breaks and control characters in names", || name.escape_debug().to_string());
    let mut buffer = [0; 4];
    for letter in trimmed.chars().map(|letter| if letter.is_control() { ' ' } else { letter }) {
        out.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes());
    }
}
