//! The summary of a file.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use crate::{
    Alloc, Metadata, Reader, Record,
    allocations::Allocations,
    raw::{Dialect, Packing},
};
use traceloom_core::{Amount, Fact, Findings, Info, Listing, Options, Records, Result, Source, Text, date_time};

/// Summarizes a file.
pub(crate) fn info(source: &Source, options: &Options) -> Result<(Info, Findings)> {
    let mut reader = crate::open(source.clone(), options)?;
    let mut survey = Survey::new(reader.header().dialect, options);
    while let Some(located) = reader.next()? {
        survey.take(&located.record);
    }
    let info = survey.info(&reader);
    Ok((info, reader.into_findings()))
}

/// Maximum number of rows shown per table.
const SHOWN: usize = 10;
/// Maximum number of live allocations that are tracked, and of stacks that are distinguished: about 150 MB.
const FOLLOWED: usize = 1 << 20;

/// The result of a walk over the events.
struct Survey {
    /// `None` once more allocations are live than can be tracked.
    allocations: Option<Allocations>,
    dialect: Dialect,
    blocks: u64,
    allocs: Sum,
    frees: u64,
    collections: Sum,
    collected_objects: u128,
    markers: u64,
    first_markers: Vec<(u64, u64)>,
    stacks: HashMap<u64, Sum>,
    /// Allocations of stacks beyond those that are distinguished.
    of_other_stacks: u64,
    threads: BTreeMap<u16, Sum>,
    last_us: u64,
}

/// Count and total size.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    bytes: u128,
}

impl Sum {
    fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += u128::from(bytes);
    }
}

impl Survey {
    fn new(dialect: Dialect, options: &Options) -> Self {
        let limits = options.limits.clone().but(|limits| limits.entries = options.limits.entries.min(FOLLOWED));
        Self {
            allocations: Some(Allocations::new(dialect, &limits)),
            dialect,
            blocks: 0,
            allocs: Sum::default(),
            frees: 0,
            collections: Sum::default(),
            collected_objects: 0,
            markers: 0,
            first_markers: Vec::new(),
            stacks: HashMap::new(),
            of_other_stacks: 0,
            threads: BTreeMap::new(),
            last_us: 0,
        }
    }

    fn take(&mut self, record: &Record<'_>) {
        self.last_us = record.time_us().unwrap_or(self.last_us);
        match record {
            Record::Alloc(alloc) => self.take_alloc(alloc),
            Record::Free(free) => {
                self.frees += 1;
                if let Some(allocations) = &mut self.allocations {
                    allocations.free(free);
                }
            }
            Record::Gc(gc) => {
                self.collections.add(gc.size_bytes);
                self.collected_objects += u128::from(gc.objects);
            }
            Record::Marker(marker) => {
                self.markers += 1;
                if self.first_markers.len() < SHOWN {
                    self.first_markers.push((marker.time_us, marker.name));
                }
            }
            Record::Block(_) => self.blocks += 1,
            Record::Metadata(_) | Record::Residue(_) => {}
        }
    }

    fn take_alloc(&mut self, alloc: &Alloc) {
        self.allocs.add(alloc.size_bytes);
        self.threads.entry(alloc.thread).or_default().add(alloc.size_bytes);
        let is_full = self.stacks.len() >= FOLLOWED;
        match self.stacks.get_mut(&alloc.stack) {
            Some(stack) => stack.add(alloc.size_bytes),
            None if is_full => self.of_other_stacks += 1,
            None => self.stacks.entry(alloc.stack).or_default().add(alloc.size_bytes),
        }
        // The only possible error is the limit; everything except the pairing is still useful.
        if self.allocations.as_mut().is_some_and(|allocations| allocations.alloc(alloc).is_err()) {
            self.allocations = None;
        }
    }

    fn info(&self, reader: &Reader) -> Info {
        let header = reader.header();
        let mut info = Info { version: header.version.to_string(), ..Info::default() };
        info.fact("byte_order", header.order.as_str());
        if header.packing() == Packing::Blocks {
            info.fact("lz4_blocks", self.blocks);
        }
        info.fact("clock", "microseconds");
        info.fact("started", date_time(header.start_us));
        info.facts.push(Fact { name: "recorded", amount: moment(self.last_us) });
        match self.dialect {
            Dialect::Document => self.document_facts(&mut info, reader.metadata()),
            Dialect::Growth => self.growth_facts(&mut info),
        }
        if self.of_other_stacks > 0 {
            info.fact("allocations_of_stacks_not_counted", self.of_other_stacks);
        }
        info.tables.push(self.stack_table(reader.metadata()));
        info.tables.push(self.thread_table());
        info.tables.push(self.marker_table(reader.metadata()));
        info
    }

    fn document_facts(&self, info: &mut Info, metadata: &Metadata) {
        info.fact("mode", "document: one event per allocation or free");
        info.fact("allocations", self.allocs.count);
        info.fact("frees", self.frees);
        info.fact("allocated_bytes", number(self.allocs.bytes));
        self.live_facts(info);
        info.fact("gc_runs", self.collections.count);
        info.fact("gc_objects", number(self.collected_objects));
        info.fact("gc_bytes", number(self.collections.bytes));
        info.fact("markers", self.markers);
        info.fact("threads", self.threads.len() as u64);
        info.fact("stacks", metadata.stacks().count() as u64);
        info.fact("files", metadata.files().count() as u64);
        info.fact("names", metadata.functions().count() as u64);
    }

    fn live_facts(&self, info: &mut Info) {
        let Some(allocations) = &self.allocations else {
            let reason = format!("unknown, because more than {FOLLOWED} allocations were live at once");
            return info.fact("live_at_end", reason);
        };
        let totals = allocations.totals();
        info.fact("peak_bytes", number(totals.peak_bytes));
        info.facts.push(Fact { name: "peak_at", amount: moment(totals.peak_time_us) });
        info.fact("live_at_end", allocations.live().len() as u64);
        info.fact("live_bytes", number(totals.live_bytes));
        let odd = [
            ("reused_addresses", totals.reused),
            ("frees_of_nothing", totals.unmatched_frees - totals.double_frees),
            ("double_frees", totals.double_frees),
        ];
        odd.into_iter().filter(|(_, count)| *count > 0).for_each(|(name, count)| info.fact(name, count));
    }

    /// Values that the upstream tracer leaves out must not look like zeros.
    fn growth_facts(&self, info: &mut Info) {
        info.fact(
            "mode",
            "growth: bytes that source lines gained between snapshots, as the Memlyze tracer writes them",
        );
        let unknown = "frees, leaks, sites and threads of allocations; the peak; names; dropped events";
        info.fact("cannot_be_known", unknown);
        info.fact("growths", self.allocs.count);
        info.fact("grown_bytes", number(self.allocs.bytes));
        info.fact("shrinkings", format!("{}, of unknown size", self.frees));
        info.fact("gc_runs", self.collections.count);
        info.fact("gc_objects", number(self.collected_objects));
        info.fact("markers", self.markers);
        info.fact("snapshot_threads", self.threads.len() as u64);
        info.fact("stacks", format!("{}, by number only", self.stacks.len()));
    }

    /// The stacks that allocated the most, and how much of it is live.
    fn stack_table(&self, metadata: &Metadata) -> Listing {
        let mut live: HashMap<u64, u128> = HashMap::new();
        for allocation in self.allocations.iter().flat_map(Allocations::live) {
            *live.entry(allocation.stack).or_default() += u128::from(allocation.size_bytes);
        }
        let mut stacks: Vec<_> = self.stacks.iter().collect();
        stacks.sort_unstable_by_key(|(id, sum)| (Reverse(sum.bytes), **id));
        let left = |id: u64| live.get(&id).copied().unwrap_or(0);
        let rows = stacks.into_iter().take(SHOWN).map(|(id, sum)| match self.dialect {
            Dialect::Growth => vec![(*id).into(), sum.count.into(), number(sum.bytes)],
            Dialect::Document => {
                let left = if self.allocations.is_some() { number(left(*id)) } else { "?".into() };
                vec![(*id).into(), sum.count.into(), number(sum.bytes), left, innermost(metadata, *id).into()]
            }
        });
        let columns: &[&str] = match self.dialect {
            Dialect::Growth => &["stack", "growths", "bytes"],
            Dialect::Document => &["stack", "allocations", "bytes", "live_bytes", "innermost_call"],
        };
        Listing { name: "top_stacks", columns, rows: rows.collect() }
    }

    fn thread_table(&self) -> Listing {
        let mut threads: Vec<_> = self.threads.iter().collect();
        threads.sort_by_key(|(_, sum)| Reverse(sum.bytes));
        let rows = threads.into_iter().take(SHOWN);
        let rows = rows.map(|(id, sum)| vec![u64::from(*id).into(), sum.count.into(), number(sum.bytes)]);
        let columns: &[&str] = match self.dialect {
            Dialect::Growth => &["snapshot_thread", "growths", "bytes"],
            Dialect::Document => &["thread", "allocations", "bytes"],
        };
        Listing { name: "top_threads", columns, rows: rows.collect() }
    }

    fn marker_table(&self, metadata: &Metadata) -> Listing {
        let rows = self.first_markers.iter().map(|(time_us, name)| {
            let text = metadata.function(*name).map_or_else(|| format!("name {name}"), |name| Text(name).to_string());
            vec![moment(*time_us), text.into()]
        });
        Listing { name: "first_markers", columns: &["at", "marker"], rows: rows.collect() }
    }
}

/// `fetch_rows shop/db.py:203`
fn innermost(metadata: &Metadata, stack: u64) -> String {
    let Some(mut frames) = metadata.stack(stack) else { return "not in the metadata".to_owned() };
    let Some(frame) = frames.next() else { return "no calls".to_owned() };
    let known = |name: Option<&[u8]>| name.map_or_else(|| "?".to_owned(), |name| Text(name).to_string());
    let function = known(frame.function.and_then(|id| metadata.function(id)));
    let file = known(frame.file.and_then(|id| metadata.file(id)));
    match frame.line {
        Some(line) => format!("{function} {file}:{line}"),
        None => format!("{function} {file}"),
    }
}

fn moment(time_us: u64) -> Amount {
    Amount::Nanoseconds(time_us.saturating_mul(1000))
}

/// Sums of 64-bit numbers may need more bits.
fn number(value: u128) -> Amount {
    u64::try_from(value).map_or_else(|_| value.to_string().into(), Amount::Count)
}
