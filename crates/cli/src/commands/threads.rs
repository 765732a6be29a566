//! Checks the threads that `slice` and `convert` should keep.

use traceloom_core::{Error, Result, Slice};
use traceloom_model::{Filter, Table, TableSource, Wanted, select};
use traceloom_passes::pour;

use super::or_nearest;

select! { struct Threads of threads { id, tid, name } }
select! { struct Processes of processes { pid } }

/// Refuses threads that are in none of the traces, because nothing would be kept of them.
pub(super) fn check<'t>(traces: impl IntoIterator<Item = &'t dyn TableSource>, wanted: &[String]) -> Result<()> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut known = Vec::new();
    traces.into_iter().try_for_each(|trace| add(trace, &mut known))?;
    let is_known = |thread: &&String| {
        let slice = Slice { threads: vec![(*thread).clone()], ..Slice::default() };
        known.iter().any(|(number, name)| slice.keeps_thread(*number, name.as_bytes()))
    };
    let Some(unknown) = wanted.iter().find(|thread| !is_known(thread)) else { return Ok(()) };
    let names = known.iter().map(|(_, name)| name.as_str()).filter(|name| !name.is_empty());
    Err(Error::unsupported(or_nearest("no thread is named", unknown, names)))
}

/// Adds the numbers and names of the threads of a trace. A profile has a thread for each process, known by its number.
fn add(trace: &dyn TableSource, known: &mut Vec<(u64, String)>) -> Result<()> {
    let wanted = Wanted::nothing().and(Table::Threads, Threads::COLUMNS).and(Table::Processes, Processes::COLUMNS);
    pour(trace, &Filter::default(), wanted, |table, batch| {
        if table == Table::Threads {
            let threads = Threads::of(batch)?;
            known.extend((0..threads.rows).map(|row| {
                let number = threads.tid.get(row).unwrap_or(threads.id.get(row) as u64);
                (number, threads.name.get(row).unwrap_or_default().to_owned())
            }));
        } else {
            let processes = Processes::of(batch)?;
            let numbers = (0..processes.rows).filter_map(|row| processes.pid.get(row));
            known.extend(numbers.map(|number| (number, String::new())));
        }
        Ok(())
    })
}
