//! Builds metadata in which every name and stack is stored once.

use std::collections::HashMap;

use traceloom_core::{Error, Limits, Result};

use super::Names;
use crate::{Frame, Metadata};

/// Collects names and stacks; equal ones get one id, and ids count up from zero.
#[derive(Debug, Default)]
pub struct MetadataBuilder {
    tables: Metadata,
    files: HashMap<Box<[u8]>, u64>,
    functions: HashMap<Box<[u8]>, u64>,
    /// By the rows of their frames.
    stacks: HashMap<Box<[u32]>, u64>,
    limits: Limits,
}

impl MetadataBuilder {
    /// An empty one.
    pub fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), ..Self::default() }
    }

    /// The id of a file.
    pub fn file(&mut self, path: &[u8]) -> Result<u64> {
        id_of(path, &mut self.files, &mut self.tables.files, &self.limits)
    }

    /// The id of a function or marker name.
    pub fn function(&mut self, name: &[u8]) -> Result<u64> {
        id_of(name, &mut self.functions, &mut self.tables.functions, &self.limits)
    }

    /// The id of a stack, the innermost call first.
    pub fn stack(&mut self, frames: &[Frame]) -> Result<u64> {
        let next = self.stacks.len() as u64;
        for frame in frames {
            self.tables.stacks.push_frame(*frame, &self.limits)?;
        }
        let rows = self.tables.stacks.pending();
        if let Some(id) = self.stacks.get(rows) {
            self.tables.stacks.drop_frames();
            return Ok(*id);
        }
        self.stacks.insert(rows.into(), next);
        self.tables.stacks.push(next, &self.limits)?;
        Ok(next)
    }

    /// Adds a stack under the next id even if an equal one has an id, for events that are already numbered.
    ///
    /// Must not be mixed with [`MetadataBuilder::stack`].
    pub fn add_stack(&mut self, frames: &[Frame]) -> Result<()> {
        for frame in frames {
            self.tables.stacks.push_frame(*frame, &self.limits)?;
        }
        let next = self.tables.stacks.ids.len() as u64;
        self.tables.stacks.push(next, &self.limits)
    }

    /// Number of stacks, which is the first free id.
    pub(crate) fn next_stack(&self) -> u64 {
        self.stacks.len() as u64
    }

    /// Number of functions, which is the first free id.
    pub(crate) fn next_function(&self) -> u64 {
        self.functions.len() as u64
    }

    /// The complete tables.
    pub fn finish(mut self) -> Result<Metadata> {
        self.tables.finish()?;
        Ok(self.tables)
    }
}

fn id_of(name: &[u8], known: &mut HashMap<Box<[u8]>, u64>, names: &mut Names, limits: &Limits) -> Result<u64> {
    if let Some(id) = known.get(name) {
        return Ok(*id);
    }
    let next = known.len() as u64;
    names.push(next, name, limits)?;
    known.insert(name.into(), next);
    Ok(next)
}

/// A thread is stored in 16 bits.
const MAX_THREADS: u64 = 1 << 16;

/// Numbers threads from 0: the format has 16 bits for a thread, while thread ids of systems have more.
#[derive(Debug, Default)]
pub struct Threads {
    numbers: HashMap<u64, u16>,
    /// The last thread that was looked up, which is nearly always the next one.
    last: Option<(u64, u16)>,
}

impl Threads {
    /// The number of a thread: 0 for the first, 1 for the second.
    pub fn number(&mut self, thread: u64) -> Result<u16> {
        if let Some((_, number)) = self.last.filter(|(last, _)| *last == thread) {
            return Ok(number);
        }
        let count = self.numbers.len() as u64;
        let number = match self.numbers.get(&thread) {
            Some(known) => *known,
            None => u16::try_from(count).map_err(|_| Error::limit("threads", count + 1, MAX_THREADS))?,
        };
        self.numbers.insert(thread, number);
        self.last = Some((thread, number));
        Ok(number)
    }
}
