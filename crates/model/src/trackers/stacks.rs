//! Frames and stacks, each stored once.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::Symbol;
use crate::{Halt, Tables, frames::Frame, stacks::Stack};

/// A code location.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct FrameKey {
    /// The function.
    pub function: Symbol,
    /// File of the function.
    pub file: Option<Symbol>,
    /// The executing line.
    pub line: Option<u32>,
}

/// The frames and stacks seen so far, with the ids of their rows.
///
/// A stack is its innermost frame on top of another stack, so outer frames that stacks share are stored once. A row is
/// pushed when its frame or stack is first seen, so parents come before their children.
#[derive(Debug, Default)]
pub struct Stacks {
    frames: Interned<FrameKey>,
    stacks: Interned<(Option<i64>, i64)>,
    depths: Vec<u32>,
}

impl Stacks {
    /// The id of a frame.
    pub fn frame(&mut self, key: FrameKey, tables: &mut Tables<'_>) -> Result<i64, Halt> {
        let (id, is_new) = self.frames.intern(key);
        if is_new {
            let FrameKey { function, file, line } = key;
            tables.push(Frame { id, function: function.into(), file: file.map(Into::into), line })?;
        }
        Ok(id)
    }

    /// The id of the stack that has this frame on top of `parent`.
    pub fn stack(&mut self, parent: Option<i64>, frame_id: i64, tables: &mut Tables<'_>) -> Result<i64, Halt> {
        let (id, is_new) = self.stacks.intern((parent, frame_id));
        if is_new {
            let above = parent.and_then(|parent| self.depths.get(parent as usize)).copied();
            let depth = above.map_or(0, |depth| depth + 1);
            self.depths.push(depth);
            tables.push(Stack { id, parent_id: parent, frame_id, depth })?;
        }
        Ok(id)
    }
}

/// Distinct values, each with the number of its first occurrence.
#[derive(Debug)]
struct Interned<T> {
    values: Vec<T>,
    ids: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { values: Vec::new(), ids: HashTable::new(), hasher: DefaultHashBuilder::default() }
    }
}

impl<T: Copy + Eq + std::hash::Hash> Interned<T> {
    fn intern(&mut self, value: T) -> (i64, bool) {
        let Self { values, ids, hasher } = self;
        let hash = hasher.hash_one(value);
        if let Some(id) = ids.find(hash, |id| values[*id as usize] == value) {
            return (i64::from(*id), false);
        }
        let id = values.len() as u32;
        values.push(value);
        ids.insert_unique(hash, id, |id| hasher.hash_one(values[*id as usize]));
        (i64::from(id), true)
    }
}
