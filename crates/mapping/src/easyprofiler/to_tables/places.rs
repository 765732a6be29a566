//! The place of a record in the tree of its thread, as far as the sink needs it.

use traceloom_core::Result;
use traceloom_easyprofiler::{Knot, Nestings, Nodes, Reach, RunNesting, Tree};

use super::seams::OpenRow;
use crate::pipeline::Share;

/// The position of one record in the tree of blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TreePosition {
    pub(super) parent_id: Option<i64>,
    pub(super) depth: u32,
    pub(super) children_ns: u64,
    /// Set if records of earlier turns may be children too.
    pub(super) reach: Option<Reach>,
}

/// Determines the place of every record of a turn; `thread` is called before the first record of a section.
///
/// One type per strategy, because branching again for every record would be slow.
pub(super) trait Places {
    /// The following records belong to this thread.
    fn thread(&mut self, id: i64) -> Result<()>;

    /// The place of the next record of the file.
    fn next(&mut self, begin_ns: u64, end_ns: u64) -> Result<TreePosition>;

    /// A turn starts whose rows this walk makes; other walks made those of the turns between.
    fn start_turn(&mut self, _number: usize) -> Result<()> {
        Ok(())
    }

    /// The turn ends.
    fn end_turn(&mut self) -> Result<()> {
        Ok(())
    }

    /// Reports a record with a [`TreePosition::reach`].
    fn open(&mut self, _begin_ns: u64, _reach: Reach, _row: OpenRow) {}
}

/// No places are needed.
#[derive(Debug)]
pub(super) struct Unknown;

impl Places for Unknown {
    fn thread(&mut self, _id: i64) -> Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn next(&mut self, _begin_ns: u64, _end_ns: u64) -> Result<TreePosition> {
        Ok(TreePosition::default())
    }
}

/// Also parents and depths: parents come after their children, so the file has been read once before.
#[derive(Debug)]
pub(super) struct Known<'t> {
    tree: &'t Tree,
    nodes: Nodes<'t>,
    /// Whether other walks make rows too.
    skips: bool,
}

impl<'t> Known<'t> {
    pub(super) fn new(tree: &'t Tree, share: &dyn Share) -> Self {
        Self { tree, nodes: tree.nodes(), skips: share.walks() > 1 }
    }
}

impl Places for Known<'_> {
    fn thread(&mut self, _id: i64) -> Result<()> {
        Ok(())
    }

    #[inline(always)]
    fn next(&mut self, _begin_ns: u64, _end_ns: u64) -> Result<TreePosition> {
        // Nodes run out only if the file has grown in the meantime.
        let Some(node) = self.nodes.next().transpose()? else { return Ok(TreePosition::default()) };
        let parent_id = node.parent.map(i64::from);
        Ok(TreePosition { parent_id, depth: node.depth, children_ns: node.children_ns, reach: None })
    }

    fn start_turn(&mut self, number: usize) -> Result<()> {
        if self.skips {
            self.nodes = self.tree.nodes_from_run(number)?;
        }
        Ok(())
    }
}

/// Only the time of the children, which is known at each record because they come before it.
impl Places for Nestings {
    fn thread(&mut self, id: i64) -> Result<()> {
        self.thread(id as u64).map(drop)
    }

    #[inline(always)]
    fn next(&mut self, begin_ns: u64, end_ns: u64) -> Result<TreePosition> {
        let children_ns = self.push(begin_ns, end_ns)?.children_ns;
        Ok(TreePosition { children_ns, ..TreePosition::default() })
    }
}

/// Like [`Nestings`], if this walk does not make the rows of all turns.
pub(super) struct Runs<'s> {
    share: &'s dyn Share,
    nesting: RunNesting,
    thread: Option<i64>,
    is_mine: bool,
}

impl<'s> Runs<'s> {
    pub(super) fn new(share: &'s dyn Share) -> Self {
        Self { share, nesting: RunNesting::default(), thread: None, is_mine: false }
    }

    fn tie(&self, knot: Knot<OpenRow>) {
        self.share.seam(Box::new(knot));
    }

    fn end_run(&mut self) -> Result<()> {
        if let Some(roots) = self.nesting.end()? {
            self.tie(roots);
        }
        Ok(())
    }
}

impl Places for Runs<'_> {
    fn thread(&mut self, id: i64) -> Result<()> {
        self.thread = Some(id);
        if self.is_mine {
            self.end_run()?;
            self.tie(Knot::Thread(id as u64));
        }
        Ok(())
    }

    #[inline(always)]
    fn next(&mut self, begin_ns: u64, end_ns: u64) -> Result<TreePosition> {
        let (nested, reach) = self.nesting.push(begin_ns, end_ns)?;
        Ok(TreePosition { children_ns: nested.children_ns, reach, ..TreePosition::default() })
    }

    fn start_turn(&mut self, _number: usize) -> Result<()> {
        self.is_mine = true;
        if let Some(id) = self.thread {
            self.tie(Knot::Thread(id as u64));
        }
        Ok(())
    }

    fn end_turn(&mut self) -> Result<()> {
        self.is_mine = false;
        self.end_run()
    }

    #[cold]
    fn open(&mut self, begin: u64, reach: Reach, block: OpenRow) {
        self.tie(Knot::Block { begin, reach, block });
    }
}
