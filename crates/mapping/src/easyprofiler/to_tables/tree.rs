//! The tree of a whole file, which is needed before the first row: parents come after their children.

use traceloom_core::{Error, Located, Records, Result};
use traceloom_easyprofiler::{Block, Clock, Record, TakePlain, Tree, TreeBuilder, Value};

use crate::trace::Input;

/// Reads the times of all records and nests them.
pub(super) fn tree(input: &Input<'_>) -> Result<Tree> {
    let options = &input.options.read;
    let mut reader = traceloom_easyprofiler::open(input.source.clone(), options)?;
    let mut nesting = Nesting { clock: reader.clock(), builder: TreeBuilder::new(&options.limits) };
    loop {
        reader.plain_records(&mut nesting)?;
        let Some(located) = reader.next()? else { return nesting.builder.finish() };
        match &located.record {
            Record::Block(block) => nesting.push(block.begin, block.end)?,
            Record::Value(value) => nesting.push(value.begin, value.end)?,
            Record::Thread(thread) => nesting.builder.thread(thread.id)?,
            _ => {}
        }
    }
}

/// Converts the times of records and hands them to the builder.
struct Nesting {
    clock: Clock,
    builder: TreeBuilder,
}

impl Nesting {
    #[inline]
    fn push(&mut self, begin: u64, end: u64) -> Result<()> {
        let (begin_ns, end_ns) = self.clock.span(begin, end);
        self.builder.push(begin_ns, end_ns)
    }
}

impl TakePlain<Error> for Nesting {
    #[inline(always)]
    fn block(&mut self, block: Located<Block<'_>>) -> Result<()> {
        self.push(block.record.begin, block.record.end)
    }

    #[inline(always)]
    fn value(&mut self, value: Located<Value<'_>>) -> Result<()> {
        self.push(value.record.begin, value.record.end)
    }
}
