//! Sums of calls that the profiler made.

use hashbrown::{HashMap, HashSet};
use traceloom_core::{Error, Loss, Result};
use traceloom_model::{Table, TableSource, calls, definitions};

use super::graph::{Graph, Place};
use traceloom_passes::{Gathered, KeyMap, NameId};

/// Where a sub is defined, by trace and name.
type Definitions = HashMap<(usize, NameId), (Option<NameId>, u32)>;

/// Adds the rows of `calls`; gives the traces that have some.
pub(super) fn add(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    graph: &mut Graph,
    most: usize,
    loss: &mut Loss,
) -> Result<HashSet<usize>> {
    let mut summed = HashSet::new();
    if gathered.rows(Table::Calls) == 0 {
        return Ok(summed);
    }
    let definitions = read_definitions(source, gathered, most)?;
    let rest = gathered.rest();
    let mut keys = Keys::default();
    rest.pour(source, &[Table::Calls], |_, batch| {
        let view = calls::View::of(batch);
        keys.turn_to(&view);
        for row in 0..view.rows {
            let trace = gathered.roster.trace_number(view.trace_id.get(row))?;
            summed.insert(trace);
            let call = keys.get(&view, row, gathered)?;
            add_call(&call, trace, &view, row, &definitions, graph, loss)?;
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
    fn turn_to(&mut self, view: &calls::View<'_>) {
        self.callers.turn_to(view.caller.values());
        self.callees.turn_to(view.callee.values());
        self.files.turn_to(view.file.values());
    }

    fn get(&mut self, view: &calls::View<'_>, row: usize, gathered: &mut Gathered) -> Result<Names> {
        let names = &mut gathered.names;
        Ok(Names {
            caller: view.caller.key(row).map(|key| self.callers.get(key, names)).transpose()?,
            callee: self.callees.get(view.callee.keys().get(row).copied().unwrap_or(-1), names)?,
            file: view.file.key(row).map(|key| self.files.get(key, names)).transpose()?,
        })
    }
}

fn add_call(
    names: &Names,
    trace: usize,
    view: &calls::View<'_>,
    row: usize,
    definitions: &Definitions,
    graph: &mut Graph,
    loss: &mut Loss,
) -> Result<()> {
    let mut positive = |ns: i64| {
        if ns < 0 {
            loss.lose("negative times", || format!("{ns} ns of calls {}", view.id.get(row)));
        }
        ns.max(0).unsigned_abs()
    };
    let (incl_ns, excl_ns) = (positive(view.incl_ns.get(row)), positive(view.excl_ns.get(row)));
    let (file, line) = definitions.get(&(trace, names.callee)).copied().unwrap_or((None, 0));
    let callee = Place { function: graph.function(names.callee, file)?, line };
    graph.cost(callee, excl_ns)?;
    let Some(caller) = names.caller else { return Ok(()) };
    // Code outside of any sub has no definition: it is part of the file of the call.
    let file = definitions.get(&(trace, caller)).map_or(names.file, |(file, _)| *file);
    let function = graph.function(caller, file)?;
    let line = match file == names.file {
        true => view.line.get(row).unwrap_or(0),
        false => {
            loss.lose("lines of calls in other files than the caller's", || format!("calls {}", view.id.get(row)));
            0
        }
    };
    let count = view.count.get(row);
    if count == 0 {
        // The cost of no call would be taken for one of the line.
        loss.lose("that a call was never made", || format!("calls {}", view.id.get(row)));
    }
    graph.call(Place { function, line }, callee, count.max(1), incl_ns)
}

fn read_definitions(source: &dyn TableSource, gathered: &mut Gathered, most: usize) -> Result<Definitions> {
    let mut definitions = Definitions::new();
    let rest = gathered.rest();
    let (mut names, mut files) = (KeyMap::default(), KeyMap::default());
    rest.pour(source, &[Table::Definitions], |_, batch| {
        let view = definitions::View::of(batch);
        names.turn_to(view.name.values());
        files.turn_to(view.file.values());
        for row in (0..view.rows).filter(|row| view.kind.get(*row) == "sub") {
            if definitions.len() >= most {
                return Err(Error::limit("definitions", definitions.len() as u64 + 1, most as u64));
            }
            let trace = gathered.roster.trace_number(view.trace_id.get(row))?;
            let name = names.get(view.name.keys().get(row).copied().unwrap_or(-1), &mut gathered.names)?;
            let file = view.file.key(row).map(|key| files.get(key, &mut gathered.names)).transpose()?;
            definitions.insert((trace, name), (file, view.line.get(row).unwrap_or(0)));
        }
        Ok(())
    })?;
    Ok(definitions)
}
