//! Where a record stands among the others of its thread, as far as anybody wants to know.

use traceloom_bytes::{Arena, Limits, Records, Result};
use traceloom_easyprofiler::{Nesting, Nodes, Record, Tree, TreeBuilder};

use crate::trace::Input;

/// The place of one record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) parent_id: Option<i64>,
    pub(super) depth: u32,
    pub(super) children_ns: u64,
}

/// Gives every record its place.
#[derive(Debug)]
pub(super) enum Places<'t> {
    /// Nobody wants to know.
    Unknown,
    /// The time of the children: known when the record comes, because they come before it.
    Nested(Nestings),
    /// Parents and depths too: they come after, so the file has been read once before.
    Known(Nodes<'t>),
}

impl Places<'_> {
    /// The following records belong to this thread.
    pub(super) fn thread(&mut self, id: i64) {
        if let Self::Nested(nestings) = self {
            nestings.thread(id as usize);
        }
    }

    /// The place of the next record of the file.
    #[inline]
    pub(super) fn next(&mut self, begin_ns: u64, end_ns: u64) -> Result<Place> {
        match self {
            Self::Unknown => Ok(Place::default()),
            Self::Nested(nestings) => nestings.next(begin_ns, end_ns),
            Self::Known(nodes) => known(nodes),
        }
    }
}

#[inline]
fn known(nodes: &mut Nodes<'_>) -> Result<Place> {
    // Nodes run out only where the file has grown meanwhile.
    let Some(node) = nodes.next().transpose()? else { return Ok(Place::default()) };
    Ok(Place { parent_id: node.parent.map(i64::from), depth: node.depth, children_ns: node.children_ns })
}

/// The nesting of every thread.
#[derive(Debug)]
pub(super) struct Nestings {
    arena: Arena,
    list: Vec<Nesting>,
    current: usize,
}

impl Nestings {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { arena: Arena::new(limits.tree_bytes), list: Vec::new(), current: 0 }
    }

    fn thread(&mut self, index: usize) {
        self.current = index;
        while self.list.len() <= index {
            self.list.push(Nesting::new(&self.arena));
        }
    }

    #[inline]
    fn next(&mut self, begin_ns: u64, end_ns: u64) -> Result<Place> {
        let Some(nesting) = self.list.get_mut(self.current) else { return Ok(Place::default()) };
        let children_ns = nesting.push(begin_ns, end_ns)?.children_ns;
        Ok(Place { children_ns, ..Place::default() })
    }
}

/// Reads the whole file for the places of its records.
pub(super) fn tree(input: &Input<'_>) -> Result<Tree> {
    let options = &input.options.read;
    let mut reader = traceloom_easyprofiler::open(input.source.clone(), options)?;
    let clock = reader.clock();
    let mut builder = TreeBuilder::new(&options.limits);
    while let Some(located) = reader.next()? {
        let (begin, end) = match &located.record {
            Record::Block(block) => (block.begin, block.end),
            Record::Value(value) => (value.begin, value.end),
            Record::Thread(thread) => {
                builder.thread(thread.id);
                continue;
            }
            _ => continue,
        };
        let (begin_ns, end_ns) = clock.span(begin, end);
        builder.push(begin_ns, end_ns)?;
    }
    builder.finish()
}
