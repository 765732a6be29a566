//! CNanoLog records to tables.
//!
//! An entry is a row of `logs`, in file order, which is not time order, because each thread delivers batches. Entries
//! do not name their thread. A site is a row of `definitions` with the id that the file gives it.

mod arguments;
mod entries;
mod header;
mod sites;

use traceloom_cnanolog::{Reader, Record, open};
use traceloom_core::{Findings, Records};
use traceloom_model::{Halt, SelectColumn, Table, Tables, Wanted, logs, processes::Process, threads::Thread};

use self::{entries::Entries, sites::Sites};
use crate::{
    pipeline::Split,
    shared::{messages_cut, push_trace, reading, report_clock},
    trace::Input,
};

/// Messages and arguments cost several times as much as finding the entries.
pub(crate) static SPLIT: Split = Split { tables: &[Table::Logs, Table::Args], pays: wants_contents, join: None };

fn wants_contents(wanted: &Wanted) -> bool {
    wanted.columns(Table::Logs).has(logs::column::message::NUMBER) || !wanted.columns(Table::Args).is_empty()
}

pub(crate) fn to_tables(input: &Input<'_>, tables: &mut Tables<'_>) -> Result<Findings, Halt> {
    let mut reader = open(input.source.clone(), &reading(input))?;
    push_program(tables)?;
    header::push_attributes(&reader, tables)?;
    let sites = Sites::push(reader.dictionary(), tables)?;
    let mut entries = Entries::new(reader.header(), sites, input.share, tables);
    match reach(&reader, tables) {
        Reach::Nothing => {}
        Reach::FirstEntry => walk(&mut reader, &mut entries, tables, true)?,
        Reach::Everything => walk(&mut reader, &mut entries, tables, false)?,
    }
    entries.end(tables)?;
    let version = header::version(reader.header());
    push_trace(input, &header::facts(reader.header(), &version, &entries.times), tables)?;
    let mut findings = reader.into_findings();
    report_clock(entries.times.clock(), &mut findings)?;
    if entries.cut() > 0 {
        findings.report(messages_cut(entries.cut()))?;
    }
    Ok(findings)
}

/// The file names neither process nor thread, so one row each represents all of them.
fn push_program(tables: &mut Tables<'_>) -> Result<(), Halt> {
    tables.push(Process { id: 0, pid: None, ppid: None, name: None, start_ts_ns: None, end_ts_ns: None })?;
    tables.push(Thread { id: 0, tid: None, process_id: 0, name: None, kind: None, location: None })
}

/// How many of the entries have to be read.
enum Reach {
    Nothing,
    /// Only the first, whose time is the origin.
    FirstEntry,
    Everything,
}

fn reach(reader: &Reader, tables: &Tables<'_>) -> Reach {
    let wants_rows = [Table::Logs, Table::Args, Table::Findings].into_iter().any(|table| tables.wants(table));
    if wants_rows || tables.wants_any(Table::Traces, &["first_ts_ns", "last_ts_ns"]) {
        return Reach::Everything;
    }
    if reader.header().start_timestamp == 0 && tables.wants(Table::Traces) { Reach::FirstEntry } else { Reach::Nothing }
}

fn walk(reader: &mut Reader, entries: &mut Entries<'_>, tables: &mut Tables<'_>, ends_soon: bool) -> Result<(), Halt> {
    loop {
        if entries.passes_turn(reader, tables)? {
            continue;
        }
        let Some(located) = reader.next()? else { return Ok(()) };
        if let Record::Entry(entry) = &located.record {
            entries.push(entry, tables)?;
            if ends_soon {
                return Ok(());
            }
        }
    }
}
