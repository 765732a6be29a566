//! The state of every target: the tables, the first walk over them, the times of the output, and the losses.

use arrow_array::RecordBatch;
use traceloom_core::{Arena, Loss, Result};
use traceloom_model::{Filter, SelectColumn, Table, TableSource, Wanted, spans};

use crate::{
    Args, Looks, NamePool, Options, Request, Roster, SpanOrder, Target, Timeline,
    args::{ArgRows, ArgStore},
    loss::{counted_columns, counts, lose_table, phrase},
    pour,
    span_sorter::{Registry, SpanBatch, SpanDefinitions, SpanRows, SpanSites, SpanSorter, SwitchRows},
};

/// The work on one output: traces and threads, spans in order, arguments by owner, and the row counts of the other
/// tables.
pub struct Pass<'a> {
    /// The tables.
    pub source: &'a dyn TableSource,
    /// How to write them.
    pub options: &'a Options,
    /// One of [`Target::variants`]; empty if the target has none.
    pub variant: &'static str,
    /// Converts times to those of the output.
    pub timeline: Timeline,
    /// Data that the output does not hold.
    pub loss: Loss,
    /// Traces, processes and threads.
    pub roster: Roster,
    /// The texts of looks and arguments.
    pub names: NamePool,
    /// Names and other properties of spans.
    pub looks: Looks,
    /// Spans, and switches as one of their layers, if the target shows them.
    pub spans: SpanOrder,
    /// Arguments of rows of the tables that the target shows, if it shows arguments.
    pub args: Args,
    rest: Rest<'a>,
}

impl<'a> Pass<'a> {
    /// Collects the tables that the target shows, and counts the rows of all others as lost.
    pub fn new(request: &Request<'a>, target: &Target) -> Result<Self> {
        let Request { source, options, .. } = *request;
        let roster = Roster::new(source, &options.slice, &options.limits)?;
        let mut wanted = Roster::wanted();
        for table in Table::ALL {
            if target.shows(table) {
                wanted = wanted.and(table, target.wanted().columns(table));
            } else if counts(table) {
                wanted = wanted.and(table, counted_columns(table));
            }
        }
        let mut gathering = Gathering::new(request, target, roster);
        let filter = gathering.rest.filter.clone();
        pour(source, &filter, wanted, |table, batch| gathering.take(table, batch))?;
        gathering.finish(request)
    }

    /// Number of rows of a table.
    pub fn rows(&self, table: Table) -> u64 {
        self.rest.rows[table as usize]
    }

    /// The rows that a further walk needs.
    pub fn filter(&self) -> &Filter {
        &self.rest.filter
    }

    /// The tables that the target shows but that were not collected.
    pub fn rest(&self) -> Rest<'a> {
        self.rest.clone()
    }

    /// Whether the whole trace was requested.
    pub fn is_whole(&self) -> bool {
        self.options.slice == Default::default()
    }

    /// Counts as lost the processes that carry any information, for outputs that cannot hold it.
    pub fn lose_processes(&mut self) {
        for process in self.roster.processes.iter().filter(|process| process.pid.is_some() || process.name.is_some()) {
            self.loss.lose("numbers and names of processes", || format!("processes {}", process.id));
        }
    }

    /// Counts as lost the tables that a variant does not show.
    pub fn lose_rows(&mut self, tables: &[Table]) {
        for table in tables {
            self.loss
                .lose_many(phrase(*table), self.rest.rows[*table as usize], || format!("rows of {}", table.name()));
        }
    }
}

/// Tables that were not collected, as the target declares them: kept if they are small, otherwise read again.
#[derive(Clone)]
pub struct Rest<'a> {
    source: &'a dyn TableSource,
    wanted: Wanted,
    filter: Filter,
    /// Number of rows of each table, including the collected ones.
    rows: [u64; Table::ALL.len()],
    kept: Option<Vec<(Table, RecordBatch)>>,
    kept_bytes: usize,
}

impl Rest<'_> {
    /// Passes the batches of some of these tables to `take`.
    pub fn pour(&self, tables: &[Table], mut take: impl FnMut(Table, &RecordBatch) -> Result<()>) -> Result<()> {
        if let Some(kept) = &self.kept {
            let mut wanted = kept.iter().filter(|(table, _)| tables.contains(table));
            return wanted.try_for_each(|(table, batch)| take(*table, batch));
        }
        let mut present = tables.iter().filter(|table| self.rows[**table as usize] > 0).peekable();
        if present.peek().is_none() {
            return Ok(());
        }
        let columns = |wanted: Wanted, table: &Table| wanted.and(*table, self.wanted.columns(*table));
        pour(self.source, &self.filter, present.fold(Wanted::nothing(), columns), take)
    }

    fn keep(&mut self, table: Table, batch: &RecordBatch, max_bytes: usize) {
        let Some(kept) = &mut self.kept else { return };
        self.kept_bytes += batch.get_array_memory_size();
        if self.kept_bytes <= max_bytes {
            kept.push((table, batch.clone()));
        } else {
            self.kept = None;
        }
    }
}

/// A pass during its first walk over the tables.
struct Gathering<'a, 'd> {
    target: &'d Target,
    options: &'a Options,
    loss: Loss,
    roster: Roster,
    names: NamePool,
    looks: Looks,
    spans: SpanSorter,
    has_sites: bool,
    has_definitions: bool,
    args: ArgStore,
    rest: Rest<'a>,
    max_kept_bytes: usize,
}

impl<'a, 'd> Gathering<'a, 'd> {
    fn new(request: &Request<'a>, target: &'d Target, roster: Roster) -> Self {
        let Request { source, options, .. } = *request;
        let arena = Arena::new(options.limits.tree_bytes);
        let owners: Vec<Table> = target.all_needs().map(|need| need.table).collect();
        let (wanted, filter) = (target.wanted(), roster.filter());
        Self {
            target,
            options,
            loss: Loss::default(),
            names: NamePool::default(),
            looks: Looks::default(),
            spans: SpanSorter::new(&arena, &options.slice),
            has_sites: wanted.columns(Table::Spans).has(spans::column::file::NUMBER),
            has_definitions: wanted.columns(Table::Spans).has(spans::column::definition_id::NUMBER),
            args: ArgStore::new(&owners, &arena, options.limits.tree_bytes / 4),
            rest: Rest { source, wanted, filter, rows: [0; Table::ALL.len()], kept: Some(Vec::new()), kept_bytes: 0 },
            max_kept_bytes: usize::try_from(options.limits.tree_bytes / 16).unwrap_or(usize::MAX),
            roster,
        }
    }

    fn take(&mut self, table: Table, batch: &RecordBatch) -> Result<()> {
        let Self { roster, names, looks, spans, args, loss, .. } = self;
        self.rest.rows[table as usize] += batch.num_rows() as u64;
        match table {
            Table::Traces | Table::Processes | Table::Threads => roster.take(table, batch),
            _ if !self.target.shows(table) => {
                lose_table(loss, table, batch, &self.options.slice);
                Ok(())
            }
            Table::Spans => {
                let batch = SpanBatch {
                    rows: SpanRows::of(batch)?,
                    sites: self.has_sites.then(|| SpanSites::of(batch)).transpose()?,
                    definitions: self.has_definitions.then(|| SpanDefinitions::of(batch)).transpose()?,
                };
                spans.take(&batch, Registry { roster, names, looks })
            }
            Table::Switches => spans.take_switches(&SwitchRows::of(batch)?, Registry { roster, names, looks }),
            Table::Args => {
                let rows = ArgRows::of(batch)?;
                args.take(&rows, roster, names, |row| {
                    loss.lose(phrase(Table::Args), || {
                        format!("{} of {} {}", rows.key.get(row), rows.owner_table.get(row), rows.owner_id.get(row))
                    });
                })
            }
            _ => {
                self.rest.keep(table, batch, self.max_kept_bytes);
                Ok(())
            }
        }
    }

    fn finish(self, request: &Request<'a>) -> Result<Pass<'a>> {
        let Self { roster, names, looks, loss, rest, .. } = self;
        let Request { source, options, variant } = *request;
        let timeline = Timeline::new(&roster);
        let (spans, args) = (self.spans.finish()?, self.args.finish()?);
        Ok(Pass { source, options, variant, timeline, loss, roster, names, looks, spans, args, rest })
    }
}
