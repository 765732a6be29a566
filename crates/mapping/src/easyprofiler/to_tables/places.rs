//! Where a record stands among the others of its thread, as far as anybody wants to know.

use traceloom_core::Result;
use traceloom_easyprofiler::{Nestings, Nodes};

/// The place of one record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) parent_id: Option<i64>,
    pub(super) depth: u32,
    pub(super) children_ns: u64,
}

/// Gives every record its place; `thread` comes before the first record of a section.
///
/// A type for each answer, because a choice made anew for every record is felt.
pub(super) trait Places {
    /// The following records belong to this thread.
    fn thread(&mut self, id: i64) -> Result<()>;

    /// The place of the next record of the file.
    fn next(&mut self, begin_ns: u64, end_ns: u64) -> Result<Place>;
}

/// Nobody wants to know.
#[derive(Debug)]
pub(super) struct Unknown;

impl Places for Unknown {
    fn thread(&mut self, _id: i64) -> Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn next(&mut self, _begin_ns: u64, _end_ns: u64) -> Result<Place> {
        Ok(Place::default())
    }
}

/// Parents and depths too: parents come after their children, so the file has been read once before.
#[derive(Debug)]
pub(super) struct Known<'t>(pub(super) Nodes<'t>);

impl Places for Known<'_> {
    fn thread(&mut self, _id: i64) -> Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn next(&mut self, _begin_ns: u64, _end_ns: u64) -> Result<Place> {
        // Nodes run out only where the file has grown meanwhile.
        let Some(node) = self.0.next().transpose()? else { return Ok(Place::default()) };
        Ok(Place { parent_id: node.parent.map(i64::from), depth: node.depth, children_ns: node.children_ns })
    }
}

/// The time of the children alone: known when the record comes, because they come before it.
impl Places for Nestings {
    fn thread(&mut self, id: i64) -> Result<()> {
        self.thread(id as u64).map(drop)
    }

    #[inline(always)]
    fn next(&mut self, begin_ns: u64, end_ns: u64) -> Result<Place> {
        let children_ns = self.push(begin_ns, end_ns)?.children_ns;
        Ok(Place { children_ns, ..Place::default() })
    }
}
