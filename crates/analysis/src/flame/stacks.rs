//! The stacks of traces, measured or estimated.

use traceloom_core::{Error, Result, TimeRange};
use traceloom_model::{Filter, TableSource};

use super::{CallStacks, Flame, Options, Tree, Weight};

/// Stacks, and whether they are estimated.
#[derive(Debug)]
#[non_exhaustive]
pub struct Stacks {
    /// The stacks.
    pub tree: Tree,
    /// The trace has only sums of calls by caller, so the stacks are estimates.
    pub is_estimated: bool,
}

/// Stacks of spans or allocations; estimated from sums if there is nothing else.
pub fn stacks(source: &dyn TableSource, options: Options) -> Result<Stacks> {
    let tree = measured(source, options)?;
    if !tree.is_empty() {
        return Ok(Stacks { tree, is_estimated: false });
    }
    // A range without stacks is a valid result if there are stacks outside it.
    let whole = Options { range: TimeRange::ALL, ..options };
    let has_others = !options.range.is_all() && !measured(source, whole)?.is_empty();
    if has_others {
        return Ok(Stacks { tree, is_estimated: false });
    }
    Ok(Stacks { tree: estimated(source, &options)?, is_estimated: true })
}

/// The error for traces without allocations.
pub fn no_allocations() -> Error {
    Error::unsupported("the trace has no allocations; for time, use `--by time`")
}

fn measured(source: &dyn TableSource, options: Options) -> Result<Tree> {
    let mut flame = Flame::new(options);
    source.pour(&Filter::in_range(options.range), &mut flame)?;
    Ok(flame.finish())
}

/// Stacks of traces with only sums, which contain the callers of a sub but not its stacks.
fn estimated(source: &dyn TableSource, options: &Options) -> Result<Tree> {
    let mut calls = CallStacks::default();
    if options.weight == Weight::Bytes {
        return Err(no_allocations());
    }
    source.pour(&Filter::default(), &mut calls)?;
    if calls.is_empty() {
        return Err(Error::unsupported("the trace has no stacks: it has neither spans nor calls nor allocations"));
    }
    if !options.range.is_all() || options.by_thread {
        let problem = "the trace has only sums of calls, without times and threads; omit `--range` and `--by-thread`";
        return Err(Error::usage(problem));
    }
    let tree = calls.finish(options);
    if tree.is_empty() {
        return Err(Error::unsupported("the trace has no stacks: its calls form a cycle without a start"));
    }
    Ok(tree)
}
