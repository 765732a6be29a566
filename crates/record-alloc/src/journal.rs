//! Stacks as addresses, written to disk before the first event that needs them, so that names can be looked up at any
//! later time.

use std::{
    fs::File,
    io::{self, BufReader, Read, Seek, SeekFrom, Write},
    ops::Range,
};

use traceloom_core::Result;

use crate::{file::Appended, maps::Module, tail::MAPPED_BYTES};

const MODULE: u8 = 1;
const STACK: u8 = 2;
const MARKER: u8 = 3;
/// Max length of an entry; longer ones are damaged.
const MAX_ENTRY_BYTES: u32 = 1 << 20;

/// One entry: a kind, a length, and that many bytes.
pub(crate) enum Entry<'a> {
    /// From here on, these addresses belong to this file.
    Module { range: Range<u64>, bias: u64, path: &'a [u8] },
    /// Return addresses, innermost first; stacks are numbered from 0.
    Stack(Vec<u64>),
    /// The name of a marker; markers are numbered from 0.
    Marker(&'a [u8]),
}

/// Appends entries.
pub(crate) struct Journal {
    file: Appended,
    buffer: Vec<u8>,
}

impl Journal {
    pub(crate) fn new(file: Appended) -> Self {
        Self { file, buffer: Vec::new() }
    }

    pub(crate) fn module(&mut self, module: &Module) -> io::Result<()> {
        let numbers = [module.range.start, module.range.end, module.bias];
        self.put(MODULE, &numbers, &module.path)
    }

    pub(crate) fn stack(&mut self, frames: &[u64]) -> io::Result<()> {
        self.put(STACK, frames, b"")
    }

    pub(crate) fn marker(&mut self, name: &[u8]) -> io::Result<()> {
        self.put(MARKER, &[], name)
    }

    /// One write per entry, because data in the kernel survives the process.
    fn put(&mut self, kind: u8, numbers: &[u64], text: &[u8]) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.push(kind);
        self.buffer.extend_from_slice(&((numbers.len() * 8 + text.len()) as u32).to_le_bytes());
        numbers.iter().for_each(|number| self.buffer.extend_from_slice(&number.to_le_bytes()));
        self.buffer.extend_from_slice(text);
        self.file.write_all(&self.buffer)
    }
}

/// Visits every entry; a truncated entry ends the journal.
pub(crate) fn read(journal: &mut File, mut visit: impl FnMut(Entry<'_>) -> Result<()>) -> Result<()> {
    journal.seek(SeekFrom::Start(MAPPED_BYTES as u64))?;
    let mut file = BufReader::new(journal);
    let mut body = Vec::new();
    loop {
        let mut head = [0; 5];
        if file.read_exact(&mut head).is_err() {
            return Ok(());
        }
        let [kind, length @ ..] = head;
        let length = u32::from_le_bytes(length);
        body.resize(length.min(MAX_ENTRY_BYTES) as usize, 0);
        if length > MAX_ENTRY_BYTES || file.read_exact(&mut body).is_err() {
            return Ok(());
        }
        match (kind, body.as_slice()) {
            (MODULE, body) => {
                let Some((numbers, path)) = body.split_at_checked(24) else { return Ok(()) };
                let [start, end, bias] = [0, 8, 16].map(|at| number(&numbers[at..]));
                visit(Entry::Module { range: start..end, bias, path })?;
            }
            (STACK, body) => visit(Entry::Stack(body.chunks_exact(8).map(number).collect()))?,
            (MARKER, name) => visit(Entry::Marker(name))?,
            _ => return Ok(()),
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}
