//! Call stacks of allocations.

use std::collections::HashMap;

use traceloom_core::Limits;
use traceloom_memlyze::{Frame, Metadata};
use traceloom_model::{
    Halt, Tables,
    trackers::{FrameKey, Stacks, Symbol},
};

use super::names::{ById, Names};

/// The row of each stack in `stacks`.
///
/// The stacks of the metadata come first, by ascending id. A stack that is not in the metadata, as in all traces of the
/// upstream tracer, becomes a single frame such as `stack 17` when the first allocation refers to it.
#[derive(Debug)]
pub(super) struct Places {
    stacks: Stacks,
    /// `None` for a stack without frames.
    known: ById<Option<i64>>,
    missing: HashMap<u64, i64>,
    limits: Limits,
}

impl Places {
    /// Pushes the stacks of the metadata.
    pub(super) fn push(
        metadata: &Metadata,
        names: &Names,
        limits: &Limits,
        tables: &mut Tables<'_>,
    ) -> Result<Self, Halt> {
        let mut stacks = Stacks::default();
        let mut known = ById::new();
        let mut frames = Vec::new();
        for (id, members) in metadata.stacks() {
            frames.clear();
            frames.extend(members);
            known.push(id, push_stack(&frames, names, &mut stacks, tables)?);
        }
        Ok(Self { stacks, known, missing: HashMap::new(), limits: limits.clone() })
    }

    /// Makes sure that a stack has a row.
    #[inline]
    pub(super) fn note(&mut self, id: u64, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if self.known.get(id).is_some() || self.missing.contains_key(&id) {
            Ok(())
        } else {
            self.push_missing(id, tables)
        }
    }

    /// The row of a stack that was noted.
    #[inline]
    pub(super) fn row(&self, id: u64) -> Option<i64> {
        match self.known.get(id) {
            Some(row) => row,
            None => self.missing.get(&id).copied(),
        }
    }

    #[cold]
    fn push_missing(&mut self, id: u64, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let count = self.missing.len() as u64 + 1;
        self.limits.check_entries("stacks that are not in the metadata", count)?;
        let function = tables.strings.intern(&format!("stack {id}"));
        let frame_id = self.stacks.frame(FrameKey { function, file: None, line: None }, tables)?;
        let row = self.stacks.stack(None, frame_id, tables)?;
        self.missing.insert(id, row);
        Ok(())
    }
}

/// The file has the innermost frame first; a row refers to the row of its caller.
fn push_stack(
    frames: &[Frame],
    names: &Names,
    stacks: &mut Stacks,
    tables: &mut Tables<'_>,
) -> Result<Option<i64>, Halt> {
    let mut below = None;
    for frame in frames.iter().rev() {
        let function: Symbol = names.function(frame.function, &mut tables.strings);
        let file = names.file(frame.file, &mut tables.strings);
        let line = frame.line.and_then(|line| u32::try_from(line).ok());
        let frame_id = stacks.frame(FrameKey { function, file, line }, tables)?;
        below = Some(stacks.stack(below, frame_id, tables)?);
    }
    Ok(below)
}
