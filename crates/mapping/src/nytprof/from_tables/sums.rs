//! Computes the sums that the profiler would have recorded: calls by caller, callee and call site.

use hashbrown::HashMap;
use traceloom_core::{Error, Result};

use traceloom_passes::NameId;

/// A file and a line; the file is given by number.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Place {
    pub(crate) fid: u32,
    pub(crate) line: u32,
}

/// Caller, callee and call site.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Edge {
    pub(crate) callee: NameId,
    pub(crate) place: Place,
    pub(crate) caller: NameId,
}

/// The times of these calls. The time of a recursive call is already part of the outer call, so it is counted
/// separately.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Sum {
    pub(crate) count: u64,
    pub(crate) incl_ns: u64,
    pub(crate) excl_ns: u64,
    pub(crate) recursive_ns: u64,
    /// Maximum recursion depth.
    pub(crate) depth: u32,
}

/// Calls, summed as they end.
#[derive(Debug)]
pub(crate) struct Sums {
    edges: HashMap<Edge, Sum>,
    open: OpenCalls,
    most: usize,
}

impl Sums {
    pub(crate) fn new(most: usize) -> Self {
        Self { edges: HashMap::new(), open: OpenCalls::default(), most }
    }

    /// Enters a sub.
    #[inline]
    pub(crate) fn enter(&mut self, callee: NameId) {
        *self.open.of(callee) += 1;
    }

    /// Leaves a sub, with its total and self time.
    #[inline]
    pub(crate) fn leave(&mut self, edge: Edge, (incl_ns, excl_ns): (u64, u64)) -> Result<()> {
        let open = self.open.of(edge.callee);
        *open = open.saturating_sub(1);
        let depth = *open;
        if self.edges.len() >= self.most {
            return Err(Error::limit("call sites", self.edges.len() as u64 + 1, self.most as u64));
        }
        let sum = self.edges.entry(edge).or_default();
        sum.count += 1;
        sum.excl_ns = sum.excl_ns.saturating_add(excl_ns);
        sum.depth = sum.depth.max(depth);
        let time = if depth == 0 { &mut sum.incl_ns } else { &mut sum.recursive_ns };
        *time = time.saturating_add(incl_ns);
        Ok(())
    }

    /// All sums, by callee and location.
    pub(crate) fn finish(self) -> Vec<(Edge, Sum)> {
        let mut edges: Vec<_> = self.edges.into_iter().collect();
        edges.sort_unstable_by_key(|(edge, _)| *edge);
        edges
    }
}

/// Number of open calls of each sub.
#[derive(Debug, Default)]
struct OpenCalls {
    near: Vec<u32>,
    far: HashMap<NameId, u32>,
}

/// Number of names that are found without hashing.
const NEAR: usize = 1 << 18;

impl OpenCalls {
    #[inline]
    fn of(&mut self, name: NameId) -> &mut u32 {
        if name.index() >= NEAR {
            return self.far.entry(name).or_default();
        }
        if name.index() >= self.near.len() {
            self.near.resize(name.index() + 1, 0);
        }
        &mut self.near[name.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recursion_is_counted_apart() {
        let name = NameId::from_raw;
        let mut sums = Sums::new(100);
        let edge =
            |callee, caller| Edge { callee: name(callee), place: Place { fid: 1, line: 7 }, caller: name(caller) };
        // Main calls f, which calls g, which calls f again.
        [1, 2, 1].into_iter().for_each(|callee| sums.enter(name(callee)));
        sums.leave(edge(1, 2), (10, 10)).unwrap();
        sums.leave(edge(2, 1), (30, 20)).unwrap();
        sums.leave(edge(1, 0), (50, 20)).unwrap();
        let sum = |count, incl_ns, excl_ns, recursive_ns, depth| Sum { count, incl_ns, excl_ns, recursive_ns, depth };
        let expected = [
            (edge(1, 0), sum(1, 50, 20, 0, 0)),
            (edge(1, 2), sum(1, 0, 10, 10, 1)),
            (edge(2, 1), sum(1, 30, 20, 0, 0)),
        ];
        assert_eq!(sums.finish(), expected);
    }
}
