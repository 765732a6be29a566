//! Functions with their costs, callers and callees.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_core::{Loss, Result};

use super::lines::Lines;
use traceloom_passes::{CallTree, NameId, NamePool, Parent, Pass, ThreadIndex, check_frames as check};

/// A function and a line in its file.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(super) struct Place {
    pub(super) function: u32,
    /// 0 if unknown.
    pub(super) line: u32,
}

/// The cost of calls from one location to another.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    count: u64,
    incl_ns: u64,
}

/// A call graph with costs.
#[derive(Debug, Default)]
pub(super) struct Graph {
    /// Name and file of each function.
    functions: Vec<(NameId, Option<NameId>)>,
    numbers: HashMap<(NameId, Option<NameId>), u32>,
    costs: HashMap<Place, u64>,
    calls: HashMap<(Place, Place), Calls>,
    most: usize,
}

impl Graph {
    pub(super) fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// The number of a function.
    pub(super) fn function(&mut self, name: NameId, file: Option<NameId>) -> Result<u32> {
        check("functions", self.functions.len(), self.most)?;
        let functions = &mut self.functions;
        Ok(*self.numbers.entry((name, file)).or_insert_with(|| {
            functions.push((name, file));
            functions.len() as u32 - 1
        }))
    }

    /// Adds self time to a line.
    pub(super) fn cost(&mut self, place: Place, self_ns: u64) -> Result<()> {
        check("lines", self.costs.len(), self.most)?;
        let sum = self.costs.entry(place).or_default();
        *sum = sum.saturating_add(self_ns);
        Ok(())
    }

    /// Adds a call of a function from a line.
    pub(super) fn call(&mut self, from: Place, to: Place, count: u64, incl_ns: u64) -> Result<()> {
        check("calls", self.calls.len(), self.most)?;
        let calls = self.calls.entry((from, to)).or_default();
        calls.count = calls.count.saturating_add(count);
        calls.incl_ns = calls.incl_ns.saturating_add(incl_ns);
        Ok(())
    }

    /// Adds stacks. A thread calls the outermost frames of its stacks.
    ///
    /// The time of a recursive call is already part of the outer call, so the inner call costs nothing: the sum over
    /// all calls of a function is the time during which it was on the stack.
    pub(super) fn add_tree(&mut self, tree: &CallTree, pass: &mut Pass<'_>) -> Result<()> {
        let mut places = Vec::with_capacity(tree.frames.all.len());
        for frame in &tree.frames.all {
            let function = self.function(frame.name, frame.file)?;
            places.push(Place { function, line: frame.line.unwrap_or(0) });
        }
        let threads = self.add_threads(pass)?;
        let totals = tree.stacks.totals(|calls| calls.self_ns);
        let mut open = vec![0_u32; self.functions.len()];
        let mut result = Ok(());
        tree.stacks.walk(|number, enters| {
            let node = &tree.stacks.nodes()[number as usize];
            let place = places[node.frame as usize];
            let open = &mut open[place.function as usize];
            if !enters {
                *open -= 1;
                return;
            }
            let incl_ns = if *open == 0 { totals[number as usize] } else { 0 };
            *open += 1;
            let from = match node.parent {
                Parent::Node(below) => places[tree.stacks.nodes()[below as usize].frame as usize],
                Parent::Root(thread) => Place { function: threads[thread as usize], line: 0 },
            };
            if result.is_ok() {
                let calls = node.weight;
                result = self.cost(place, calls.self_ns).and_then(|()| self.call(from, place, calls.count, incl_ns));
            }
        });
        result
    }

    /// Threads as functions without self cost.
    fn add_threads(&mut self, pass: &mut Pass<'_>) -> Result<Vec<u32>> {
        let Pass { roster, names, .. } = pass;
        let file = names.intern("(threads)")?;
        let is_one = roster.processes.len() <= 1;
        let mut threads = Vec::with_capacity(roster.threads().len());
        for (thread, index) in roster.threads().iter().zip(0..) {
            let process = roster.process_of(ThreadIndex(index)).filter(|_| !is_one);
            let label = match process.map(|process| (process.name.as_deref(), process.pid)) {
                Some((Some(name), _)) => format!("{} of {name}", thread.label()),
                Some((None, Some(pid))) => format!("{} of process {pid}", thread.label()),
                _ => thread.label(),
            };
            threads.push(self.function(names.intern(&label)?, Some(file))?);
        }
        Ok(threads)
    }

    /// Writes the functions in the order in which they were added, and the sum.
    pub(super) fn write(&self, names: &mut NamePool, loss: &mut Loss, out: &mut dyn Write) -> Result<()> {
        let mut costs: Vec<(Place, u64)> = self.costs.iter().map(|(place, ns)| (*place, *ns)).collect();
        costs.sort_unstable();
        let mut calls: Vec<((Place, Place), Calls)> = self.calls.iter().map(|(key, calls)| (*key, *calls)).collect();
        calls.sort_unstable_by_key(|(key, _)| *key);
        let (mut costs, mut calls) = (costs.into_iter().peekable(), calls.into_iter().peekable());
        let mut lines = Lines::new(&self.functions, names, loss);
        let mut sum = 0_u64;
        for function in 0..self.functions.len() as u32 {
            let costs_time = costs.peek().is_some_and(|(place, _)| place.function == function);
            if !costs_time && calls.peek().is_none_or(|((from, _), _)| from.function != function) {
                continue;
            }
            lines.function(function)?;
            while let Some((place, ns)) = costs.next_if(|(place, _)| place.function == function) {
                sum = sum.saturating_add(ns);
                lines.cost(place.line, ns);
            }
            while let Some(((from, to), calls)) = calls.next_if(|((from, _), _)| from.function == function) {
                lines.called(to.function)?;
                lines.calls(calls.count, to.line);
                lines.cost(from.line, calls.incl_ns);
            }
            lines.take(out)?;
        }
        lines.totals(sum);
        lines.take(out)
    }
}
