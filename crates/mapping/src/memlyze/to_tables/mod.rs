//! Memlyze records to tables.
//!
//! The id of an allocation, a free, a collection or a marker is the number of its event in the file. The rows of
//! `allocations` have a special order, see [`self::memory`]; all other tables are in file order.

mod events;
mod header;
mod memory;
mod names;
mod places;
mod threads;
mod times;

use traceloom_core::{Findings, Limits, Records, TimeRange};
use traceloom_memlyze::{Reader, Record, open};
use traceloom_model::{Halt, Table, Tables, processes::Process};

use self::{
    events::Events,
    memory::Memory,
    names::{Names, wants_frames},
    places::Places,
    threads::Threads,
    times::Times,
};
use crate::{
    shared::{push_trace, report_clock},
    trace::Input,
};

pub(crate) fn to_tables(input: &Input<'_>, tables: &mut Tables<'_>) -> Result<Findings, Halt> {
    let mut reader = open(input.source.clone(), &input.options.read)?;
    tables.push(Process { id: 0, pid: None, ppid: None, name: None, start_ts_ns: None, end_ts_ns: None })?;
    header::push_attributes(&reader, input.source, tables)?;
    let mut mapper = Mapper::new(&reader, &input.options.read.limits, tables)?;
    if needs_events(tables) {
        mapper.walk(&mut reader, tables)?;
    }
    let version = reader.header().version.to_string();
    push_trace(input, &header::facts(reader.header(), &version, &mapper.times), tables)?;
    let mut findings = reader.into_findings();
    report_clock(mapper.times.clock(), &mut findings)?;
    Ok(findings)
}

/// Whether the events are needed besides the header and the metadata.
fn needs_events(tables: &Tables<'_>) -> bool {
    use Table::{Allocations, Args, Events, Findings, Frames, Frees, Stacks, Threads};
    [Allocations, Args, Events, Findings, Frames, Frees, Stacks, Threads].into_iter().any(|table| tables.wants(table))
        || tables.wants_any(Table::Traces, &["first_ts_ns", "last_ts_ns"])
}

/// Whether all wanted rows have a single timestamp, so that the walk can stop at the end of the filter.
fn ends_with_filter(tables: &Tables<'_>) -> bool {
    use Table::{Allocations, Findings, Frames, Stacks, Threads};
    ![Allocations, Findings, Frames, Stacks, Threads].into_iter().any(|table| tables.wants(table))
        && !tables.wants_any(Table::Traces, &["first_ts_ns", "last_ts_ns"])
}

struct Mapper {
    times: Times,
    names: Names,
    /// `None` if no one wants stacks.
    places: Option<Places>,
    threads: Threads,
    events: Events,
    memory: Memory,
}

impl Mapper {
    fn new(reader: &Reader, limits: &Limits, tables: &mut Tables<'_>) -> Result<Self, Halt> {
        let dialect = reader.header().dialect;
        let names = Names::push(reader.metadata(), tables)?;
        let places =
            if wants_frames(tables) { Some(Places::push(reader.metadata(), &names, limits, tables)?) } else { None };
        Ok(Self {
            times: Times::new(),
            names,
            places,
            threads: Threads::new(dialect, tables),
            events: Events::new(tables),
            memory: Memory::new(dialect, limits, tables),
        })
    }

    fn walk(&mut self, reader: &mut Reader, tables: &mut Tables<'_>) -> Result<(), Halt> {
        // Timestamps never decrease.
        let range = if ends_with_filter(tables) { tables.filter().range } else { TimeRange::ALL };
        let mut id = 0;
        while let Some(located) = reader.next()? {
            let Some(time_us) = located.record.time_us() else { continue };
            let ts_ns = self.times.pass(time_us);
            if !range.is_before_end(ts_ns) {
                break;
            }
            self.take(id, ts_ns, &located.record, tables)?;
            id += 1;
        }
        self.threads.finish(tables)?;
        self.memory.finish(self.places.as_ref(), tables)
    }

    #[inline]
    fn take(&mut self, id: i64, ts_ns: i64, record: &Record<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        match record {
            Record::Alloc(alloc) => {
                self.threads.note(alloc.thread, tables)?;
                if let Some(places) = &mut self.places {
                    places.note(alloc.stack, tables)?;
                }
                self.memory.alloc(id, alloc, self.places.as_ref(), tables)
            }
            Record::Free(free) => self.memory.free(id, ts_ns, free, self.places.as_ref(), tables),
            Record::Gc(gc) => self.events.gc(id, ts_ns, gc, tables),
            Record::Marker(marker) => self.events.marker(id, ts_ns, marker, &self.names, tables),
            _ => Ok(()),
        }
    }
}
