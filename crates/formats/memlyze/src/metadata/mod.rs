//! The metadata as tables: names and stacks, each stored once and looked up by id.

mod builder;
mod frames;
mod ids;
mod json;
mod read;

use std::ops::Range;

use traceloom_core::{Error, Limits, Result, reserve};

pub use self::builder::{MetadataBuilder, Threads};
pub(crate) use self::{ids::IdSet, read::read};

use self::{frames::Frames, ids::IdTable};

/// What the ids in the events refer to.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    pub(crate) files: Names,
    pub(crate) functions: Names,
    pub(crate) stacks: Stacks,
    pub(crate) others: Vec<(Vec<u8>, Range<u64>)>,
}

/// Maximum number of undocumented keys that are kept; each of them is reported anyway.
const MAX_OTHERS: usize = 1 << 10;

/// One call of a stack; an id or a line that is missing in the file is `None`.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct Frame {
    /// Id of the file.
    pub file: Option<u64>,
    /// Line in the file.
    pub line: Option<u64>,
    /// Id of the function.
    pub function: Option<u64>,
}

impl Metadata {
    /// The path of a file.
    pub fn file(&self, id: u64) -> Option<&[u8]> {
        self.files.get(id)
    }

    /// The name of a function or marker.
    pub fn function(&self, id: u64) -> Option<&[u8]> {
        self.functions.get(id)
    }

    /// The calls of a stack, in file order: the upstream encoder puts the innermost first.
    pub fn stack(&self, id: u64) -> Option<impl Iterator<Item = Frame>> {
        self.stacks.ids.row(id).map(|row| self.stacks.row(row))
    }

    /// All files by ascending id.
    pub fn files(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.files.iter()
    }

    /// All functions and marker names by ascending id.
    pub fn functions(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.functions.iter()
    }

    /// All stacks by ascending id.
    pub fn stacks(&self) -> impl Iterator<Item = (u64, impl Iterator<Item = Frame>)> {
        self.stacks.ids.iter().map(|(id, row)| (id, self.stacks.row(row)))
    }

    /// Undocumented keys, in file order, and the byte range of each value's JSON in the file.
    ///
    /// If there are very many, only the first are listed.
    pub fn others(&self) -> impl Iterator<Item = (&[u8], Range<u64>)> {
        self.others.iter().map(|(key, place)| (key.as_slice(), place.clone()))
    }

    pub(crate) fn push_other(&mut self, key: &[u8], place: Range<u64>) -> Result<()> {
        if self.others.len() < MAX_OTHERS {
            reserve(&mut self.others, 1)?;
            self.others.push((key.to_vec(), place));
        }
        Ok(())
    }

    /// Whether there are no names and no stacks.
    pub fn is_empty(&self) -> bool {
        self.files.ids.len() + self.functions.ids.len() + self.stacks.ids.len() == 0
    }

    /// Completes the tables; returns for each the ids that occurred more than once.
    pub(crate) fn finish(&mut self) -> Result<[(&'static str, Vec<u64>); 3]> {
        self.stacks.drop_frames();
        self.stacks.frames.forget_hashes();
        Ok([
            ("file", self.files.ids.finish()?),
            ("function", self.functions.ids.finish()?),
            ("stack", self.stacks.ids.finish()?),
        ])
    }
}

/// Texts by id, stored one after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    pub(crate) ids: IdTable,
    ends: Vec<u32>,
    text: Vec<u8>,
}

impl Names {
    pub(crate) fn push(&mut self, id: u64, name: &[u8], limits: &Limits) -> Result<()> {
        let wanted = (self.text.len() as u64).saturating_add(name.len() as u64);
        let most = limits.tree_bytes.min(u32::MAX.into());
        if wanted > most {
            return Err(Error::limit("text in the metadata", wanted, most));
        }
        self.ids.push(id, limits, "names in the metadata")?;
        reserve(&mut self.text, name.len())?;
        self.text.extend_from_slice(name);
        reserve(&mut self.ends, 1)?;
        self.ends.push(wanted as u32);
        Ok(())
    }

    fn get(&self, id: u64) -> Option<&[u8]> {
        self.ids.row(id).map(|row| self.row(row))
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.ids.iter().map(|(id, row)| (id, self.row(row)))
    }

    fn row(&self, row: usize) -> &[u8] {
        self.text.get(range(&self.ends, row)).unwrap_or_default()
    }
}

/// Stacks by id; equal frames are stored once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stacks {
    pub(crate) ids: IdTable,
    ends: Vec<u32>,
    members: Vec<u32>,
    frames: Frames,
}

impl Stacks {
    /// Adds a frame to the stack that the next [`Stacks::push`] completes.
    pub(crate) fn push_frame(&mut self, frame: Frame, limits: &Limits) -> Result<()> {
        limits.check_entries("frames in the metadata", self.members.len() as u64 + 1)?;
        let row = self.frames.intern(&frame)?;
        reserve(&mut self.members, 1)?;
        self.members.push(row);
        Ok(())
    }

    /// Completes a stack.
    pub(crate) fn push(&mut self, id: u64, limits: &Limits) -> Result<()> {
        self.ids.push(id, limits, "stacks in the metadata")?;
        let end = index(self.members.len())?;
        reserve(&mut self.ends, 1)?;
        self.ends.push(end);
        Ok(())
    }

    /// Rows of the frames of the stack that the next [`Stacks::push`] completes.
    pub(crate) fn pending(&self) -> &[u32] {
        self.members.get(self.completed()..).unwrap_or_default()
    }

    /// Drops the frames of a stack that will not be completed.
    pub(crate) fn drop_frames(&mut self) {
        self.members.truncate(self.completed());
    }

    fn completed(&self) -> usize {
        self.ends.last().map_or(0, |end| *end as usize)
    }

    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = Frame> {
        let members = self.members.get(range(&self.ends, row)).unwrap_or_default();
        members.iter().map(|frame| self.frames.get(*frame))
    }

    /// The distinct frames.
    pub(crate) fn frames(&self) -> impl Iterator<Item = Frame> {
        self.frames.iter()
    }
}

fn range(ends: &[u32], row: usize) -> Range<usize> {
    let begin = row.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    let end = ends.get(row).copied().unwrap_or(begin);
    begin as usize..end as usize
}

fn index(len: usize) -> Result<u32> {
    u32::try_from(len).map_err(|_| Error::limit("entries in the metadata", len as u64, u32::MAX.into()))
}
