//! Sums of calls made by the profiler.

use hashbrown::{HashMap, HashSet};
use traceloom_core::{Loss, Result};
use traceloom_model::{Table, select};

use super::graph::{Graph, Place};
use traceloom_passes::{KeyMap, NameId, NamePool, Pass};

select! {
    /// Sums of calls.
    pub(super) struct CallRows of calls { trace_id, id, caller, callee, file, line, count, incl_ns, excl_ns }
}

select! {
    /// Definitions of subs.
    pub(super) struct SubRows of definitions { trace_id, kind, name, file, line }
}

/// Where a sub is defined, by trace and name.
type Definitions = HashMap<(usize, NameId), (Option<NameId>, u32)>;

/// Adds the rows of `calls`; returns the traces that have any.
pub(super) fn add(pass: &mut Pass<'_>, graph: &mut Graph) -> Result<HashSet<usize>> {
    let mut summed = HashSet::new();
    if pass.rows(Table::Calls) == 0 {
        return Ok(summed);
    }
    let definitions = read_definitions(pass)?;
    let rest = pass.rest();
    let Pass { roster, names, loss, .. } = pass;
    let (mut keys, mut adder) = (Keys::default(), Adder { definitions, graph, loss });
    rest.pour(&[Table::Calls], |_, batch| {
        let rows = CallRows::of(batch)?;
        keys.turn_to(&rows);
        for row in 0..rows.rows {
            let trace = roster.trace_number(rows.trace_id.get(row))?;
            summed.insert(trace);
            adder.add(trace, &keys.get(&rows, row, names)?, &rows, row)?;
        }
        Ok(())
    })?;
    Ok(summed)
}

/// The names of a call.
struct Names {
    caller: Option<NameId>,
    callee: NameId,
    file: Option<NameId>,
}

#[derive(Debug, Default)]
struct Keys {
    callers: KeyMap,
    callees: KeyMap,
    files: KeyMap,
}

impl Keys {
    fn turn_to(&mut self, rows: &CallRows<'_>) {
        self.callers.turn_to(rows.caller.values());
        self.callees.turn_to(rows.callee.values());
        self.files.turn_to(rows.file.values());
    }

    fn get(&mut self, rows: &CallRows<'_>, row: usize, names: &mut NamePool) -> Result<Names> {
        Ok(Names {
            caller: rows.caller.key(row).map(|key| self.callers.get(key, names)).transpose()?,
            callee: self.callees.get(rows.callee.keys().get(row).copied().unwrap_or(-1), names)?,
            file: rows.file.key(row).map(|key| self.files.get(key, names)).transpose()?,
        })
    }
}

/// Adds calls to the graph.
struct Adder<'a> {
    definitions: Definitions,
    graph: &'a mut Graph,
    loss: &'a mut Loss,
}

impl Adder<'_> {
    fn add(&mut self, trace: usize, names: &Names, rows: &CallRows<'_>, row: usize) -> Result<()> {
        let Self { definitions, graph, loss } = self;
        let example = || format!("calls {}", rows.id.get(row));
        let mut positive = |ns: i64| {
            if ns < 0 {
                loss.lose("negative times", || format!("{ns} ns of {}", example()));
            }
            ns.max(0).unsigned_abs()
        };
        let (incl_ns, excl_ns) = (positive(rows.incl_ns.get(row)), positive(rows.excl_ns.get(row)));
        let (file, line) = definitions.get(&(trace, names.callee)).copied().unwrap_or((None, 0));
        let callee = Place { function: graph.function(names.callee, file)?, line };
        graph.cost(callee, excl_ns)?;
        let Some(caller) = names.caller else { return Ok(()) };
        // Code outside any sub has no definition: it is part of the file of the call.
        let file = definitions.get(&(trace, caller)).map_or(names.file, |(file, _)| *file);
        let function = graph.function(caller, file)?;
        let mut line = rows.line.get(row).unwrap_or(0);
        if file != names.file {
            loss.lose("lines of calls in files other than the caller's", example);
            line = 0;
        }
        let count = rows.count.get(row);
        if count == 0 {
            // The cost of zero calls would be taken as the cost of the line.
            loss.lose("calls with a count of 0, now 1", example);
        }
        graph.call(Place { function, line }, callee, count.max(1), incl_ns)
    }
}

fn read_definitions(pass: &mut Pass<'_>) -> Result<Definitions> {
    let mut definitions = Definitions::new();
    let (rest, limits) = (pass.rest(), &pass.options.limits);
    let Pass { roster, names: pool, .. } = pass;
    let (mut names, mut files) = (KeyMap::default(), KeyMap::default());
    rest.pour(&[Table::Definitions], |_, batch| {
        let rows = SubRows::of(batch)?;
        names.turn_to(rows.name.values());
        files.turn_to(rows.file.values());
        for row in (0..rows.rows).filter(|row| rows.kind.get(*row) == "sub") {
            limits.check_entries("definitions", definitions.len() as u64 + 1)?;
            let trace = roster.trace_number(rows.trace_id.get(row))?;
            let name = names.get(rows.name.keys().get(row).copied().unwrap_or(-1), pool)?;
            let file = rows.file.key(row).map(|key| files.get(key, pool)).transpose()?;
            definitions.insert((trace, name), (file, rows.line.get(row).unwrap_or(0)));
        }
        Ok(())
    })?;
    Ok(definitions)
}
