//! Numbered code locations.

use hashbrown::HashMap;
use traceloom_core::{Error, Result};

use crate::{LookId, Looks, NO_NUMBER, NameId};

/// A code location.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Frame {
    /// The function, or the name of a span.
    pub name: NameId,
    /// Its source file.
    pub file: Option<NameId>,
    /// Its source line.
    pub line: Option<u32>,
}

/// Distinct frames.
#[derive(Debug)]
pub struct Frames {
    /// All frames, by their numbers.
    pub all: Vec<Frame>,
    numbers: HashMap<Frame, u32>,
    /// The frame of each of the first looks.
    of_looks: Vec<u32>,
    /// Whether frames are distinguished only by their names.
    is_by_name: bool,
    pub(crate) max: usize,
}

/// Number of looks whose frames are found without hashing.
const QUICK_LOOKS: usize = 1 << 18;

impl Frames {
    /// No frames yet, and never more than `max`.
    pub fn new(max: usize) -> Self {
        Self { all: Vec::new(), numbers: HashMap::new(), of_looks: Vec::new(), is_by_name: false, max }
    }

    /// The same, but frames with equal names are one, without a file or a line.
    pub fn by_name(max: usize) -> Self {
        Self { is_by_name: true, ..Self::new(max) }
    }

    /// The number of the frame of a span with this look.
    #[inline]
    pub fn of_look(&mut self, id: LookId, looks: &mut Looks) -> Result<u32> {
        match self.of_looks.get(id.index()) {
            Some(frame) if *frame != NO_NUMBER => Ok(*frame),
            _ => self.find(id, looks),
        }
    }

    fn find(&mut self, id: LookId, looks: &mut Looks) -> Result<u32> {
        let look = looks.get(id)?;
        let number = self.add(Frame { name: look.name, file: look.file, line: look.line })?;
        if id.index() < QUICK_LOOKS {
            if self.of_looks.len() <= id.index() {
                self.of_looks.resize(id.index() + 1, NO_NUMBER);
            }
            self.of_looks[id.index()] = number;
        }
        Ok(number)
    }

    /// The number of a frame.
    pub fn add(&mut self, frame: Frame) -> Result<u32> {
        check("source locations", self.all.len(), self.max)?;
        let frame = if self.is_by_name { Frame { file: None, line: None, ..frame } } else { frame };
        let all = &mut self.all;
        Ok(*self.numbers.entry(frame).or_insert_with(|| {
            all.push(frame);
            all.len() as u32 - 1
        }))
    }
}

/// Fails if one more would exceed `max`. Numbers have 32 bits, and the last one means none.
pub fn check(what: &'static str, held: usize, max: usize) -> Result<()> {
    if held < max.min(NO_NUMBER as usize) {
        return Ok(());
    }
    Err(Error::limit(what, held as u64 + 1, max as u64))
}
