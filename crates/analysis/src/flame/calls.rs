//! Estimated stacks of traces that have only sums of calls: who called whom, but not in which stack.
//!
//! The time of a function is distributed over its stacks in proportion to the time that its callers spent in it, so
//! deeper frames are estimates.

use arrow_array::RecordBatch;
use hashbrown::HashMap;
use traceloom_core::Result;
use traceloom_model::{Columns, Flow, Table, TableSink, select};
use traceloom_passes::{Interner, NO_NUMBER, Translation, number_of};

use super::{Options, Tree, Weight, tree};
use crate::group::whole;

select! {
    struct CallRows of calls { caller, callee, count, incl_ns, excl_ns }
}

/// A sink for the table of calls.
#[derive(Debug, Default)]
pub struct CallStacks {
    names: Interner,
    columns: [Translation; 2],
    /// By caller and callee; an unknown caller is [`NO_NUMBER`].
    calls: HashMap<(u32, u32), Sums>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    count: u64,
    incl_ns: u64,
    excl_ns: u64,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.incl_ns = self.incl_ns.saturating_add(other.incl_ns);
        self.excl_ns = self.excl_ns.saturating_add(other.excl_ns);
    }
}

/// A share of one in this many is not visible and is not split further.
const SMALLEST: f64 = 10_000.0;
/// More frames than a graph can show.
const MAX_FRAMES: usize = 50_000;
/// Deeper stacks are cut, because the sums do not contain the depth.
const DEEPEST: usize = 200;

impl TableSink for CallStacks {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Calls => CallRows::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, _table: Table, batch: RecordBatch) -> Result<Flow> {
        let view = CallRows::of(&batch)?;
        let [callers, callees] = &mut self.columns;
        let callers = callers.of(view.caller.values(), &mut self.names);
        let callees = callees.of(view.callee.values(), &mut self.names);
        for row in 0..view.rows {
            let key = (number_of(callers, view.caller.key(row)), callees[view.callee.keys()[row] as usize]);
            let (incl_ns, excl_ns) = (whole(view.incl_ns.get(row)), whole(view.excl_ns.get(row)));
            self.calls.entry(key).or_default().add(Sums { count: view.count.get(row), incl_ns, excl_ns });
        }
        Ok(Flow::Continue)
    }
}

impl CallStacks {
    /// Whether there are no calls.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// The estimate, by self time or by calls; empty if there are no sums. Sums have neither times nor threads.
    pub fn finish(self, options: &Options) -> Tree {
        let counts = options.weight == Weight::Count;
        let mut tree = Tree::default();
        let shares = Shares::of(&self.calls);
        let all: f64 = shares.callees.values().map(|sums| sums.excl_ns as f64).sum();
        let mut waiting: Vec<(Vec<u32>, f64)> = shares.roots().map(|root| (vec![root], 1.0)).collect();
        let mut frames = 0;
        while let Some((stack, part)) = waiting.pop() {
            frames += 1;
            let Some(name) = stack.last() else { continue };
            let own = shares.callees.get(name).copied().unwrap_or_default();
            let calls = (own.count as f64 * part).round() as u64;
            let time = (own.excl_ns as f64 * part).round() as u64;
            tree.add(&stack, tree::Weight { own: if counts { calls } else { time }, count: calls });
            for (callee, sums) in shares.called.get(name).into_iter().flatten() {
                let whole = shares.callees.get(callee).map_or(0.0, |sums| sums.incl_ns as f64);
                let share = if whole > 0.0 { part * sums.incl_ns as f64 / whole } else { 0.0 };
                let is_seen = share * whole >= all / SMALLEST && share > 0.0;
                // The time of a recursion is already part of its outermost call.
                if is_seen && !stack.contains(callee) && stack.len() < DEEPEST && frames + waiting.len() < MAX_FRAMES {
                    waiting.push((stack.iter().copied().chain([*callee]).collect(), share));
                }
            }
        }
        let tree = if options.is_reversed { tree.reversed() } else { tree };
        tree.named(self.names)
    }
}

/// The same sums by callee, and by caller.
struct Shares {
    callees: HashMap<u32, Sums>,
    called: HashMap<u32, Vec<(u32, Sums)>>,
}

impl Shares {
    fn of(calls: &HashMap<(u32, u32), Sums>) -> Self {
        let mut shares = Self { callees: HashMap::new(), called: HashMap::new() };
        for ((caller, callee), sums) in calls {
            shares.callees.entry(*callee).or_default().add(*sums);
            shares.called.entry(*caller).or_default().push((*callee, *sums));
        }
        shares.called.values_mut().for_each(|called| called.sort_unstable_by_key(|(callee, _)| *callee));
        shares
    }

    /// Functions without a known caller.
    fn roots(&self) -> impl Iterator<Item = u32> {
        let outside = self.called.get(&NO_NUMBER).into_iter().flatten().map(|(callee, _)| *callee);
        outside.chain(
            self.called.keys().copied().filter(|caller| *caller != NO_NUMBER && !self.callees.contains_key(caller)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks(calls: &[(&str, &str, u64, u64, u64)]) -> Vec<(String, u64)> {
        let mut sink = CallStacks::default();
        for (caller, callee, count, incl_ns, excl_ns) in calls {
            let caller = if caller.is_empty() { NO_NUMBER } else { sink.names.number(caller) };
            let key = (caller, sink.names.number(callee));
            sink.calls.entry(key).or_default().add(Sums { count: *count, incl_ns: *incl_ns, excl_ns: *excl_ns });
        }
        let tree = sink.finish(&Options::default());
        tree.stacks().iter().filter(|stack| stack.own > 0).map(|stack| (stack.frames.join(";"), stack.own)).collect()
    }

    #[test]
    fn time_is_shared_out_by_what_callers_spent() {
        let found =
            stacks(&[("main", "a", 1, 60, 20), ("main", "b", 1, 40, 20), ("a", "c", 2, 40, 40), ("b", "c", 1, 20, 20)]);
        let expected = [("main;a", 20), ("main;a;c", 40), ("main;b", 20), ("main;b;c", 20)];
        assert_eq!(found, expected.map(|(stack, own)| (stack.to_owned(), own)));
    }

    #[test]
    fn recursion_and_circles_end() {
        let found =
            stacks(&[("", "a", 1, 100, 40), ("a", "a", 5, 90, 30), ("a", "b", 1, 30, 20), ("b", "a", 1, 10, 10)]);
        assert!(found.iter().any(|(stack, _)| stack == "a"), "{found:?}");
        assert!(stacks(&[("a", "b", 1, 5, 5), ("b", "a", 1, 5, 5)]).is_empty(), "a circle has no beginning");
    }
}
