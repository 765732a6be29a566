//! The usual first pass: who took part, spans in order, arguments by owner, and how much there is of the rest.

use arrow_array::RecordBatch;
use traceloom_core::{Arena, Loss, Result, Slice};
use traceloom_model::{Filter, Table, TableSource, Wanted, args, spans, switches};

use crate::{
    ArgStore, Args, Descriptor, Looks, NamePool, Options, Roster, SpanOrder, SpanSorter, lose_table,
    loss::{counted_columns, counts},
    phrase, pour,
};

/// What a first pass over the tables gives.
#[derive(Debug)]
pub struct Gathered {
    /// Traces, processes and threads.
    pub roster: Roster,
    /// The texts of looks and arguments.
    pub names: NamePool,
    /// Names of spans and the like.
    pub looks: Looks,
    /// Spans, and switches as a layer of theirs, where the target shows them.
    pub spans: SpanOrder,
    /// Arguments of rows of the tables that the target shows, where it shows arguments.
    pub args: Args,
    rest: Rest,
}

impl Gathered {
    /// Gathers what the target shows, and counts the rows of tables that it does not show as lost.
    pub fn new(source: &dyn TableSource, options: &Options, descriptor: &Descriptor, loss: &mut Loss) -> Result<Self> {
        let roster = Roster::new(source, &options.slice, &options.limits)?;
        let mut wanted = Roster::wanted();
        for table in Table::ALL {
            let need = descriptor.needs.iter().find(|need| need.table == table);
            wanted = match (table, need) {
                (_, Some(need)) => wanted.and(table, need.columns()),
                (_, None) if counts(table) => wanted.and(table, counted_columns(table)),
                _ => wanted,
            };
        }
        let filter = roster.filter();
        let rows = [0; Table::ALL.len()];
        let rest = Rest { wanted: descriptor.wanted(), filter, rows, kept: Some(Vec::new()), kept_bytes: 0 };
        let mut pass = Pass::new(roster, rest, options, descriptor, loss);
        let filter = pass.rest.filter.clone();
        pour(source, &filter, wanted, |table, batch| pass.take(table, batch))?;
        pass.finish()
    }

    /// Number of rows of a table.
    pub fn rows(&self, table: Table) -> u64 {
        self.rest.rows[table as usize]
    }

    /// What a further pass may leave out.
    pub fn filter(&self) -> &Filter {
        &self.rest.filter
    }

    /// The tables that the target shows and that were not gathered.
    pub fn rest(&self) -> Rest {
        self.rest.clone()
    }
}

/// Tables that were not gathered, as the target declares them: kept while they are small, else poured once more.
#[derive(Clone, Debug)]
pub struct Rest {
    wanted: Wanted,
    filter: Filter,
    /// Number of rows of each table, of those gathered too.
    rows: [u64; Table::ALL.len()],
    kept: Option<Vec<(Table, RecordBatch)>>,
    kept_bytes: usize,
}

impl Rest {
    /// Gives the batches of some of these tables.
    pub fn pour(
        &self,
        source: &dyn TableSource,
        tables: &[Table],
        mut take: impl FnMut(Table, &RecordBatch) -> Result<()>,
    ) -> Result<()> {
        match &self.kept {
            Some(kept) => {
                let mut wanted = kept.iter().filter(|(table, _)| tables.contains(table));
                wanted.try_for_each(|(table, batch)| take(*table, batch))
            }
            None => {
                let mut present = tables.iter().filter(|table| self.rows[**table as usize] > 0).peekable();
                if present.peek().is_none() {
                    return Ok(());
                }
                let columns = |wanted: Wanted, table: &Table| wanted.and(*table, self.wanted.columns(*table));
                pour(source, &self.filter, present.fold(Wanted::nothing(), columns), take)
            }
        }
    }

    fn keep(&mut self, table: Table, batch: &RecordBatch, most_bytes: usize) {
        let Some(kept) = &mut self.kept else { return };
        self.kept_bytes += batch.get_array_memory_size();
        match self.kept_bytes <= most_bytes {
            true => kept.push((table, batch.clone())),
            false => self.kept = None,
        }
    }
}

struct Pass<'a> {
    roster: Roster,
    names: NamePool,
    looks: Looks,
    spans: SpanSorter,
    args: ArgStore,
    rest: Rest,
    most_kept_bytes: usize,
    descriptor: &'a Descriptor,
    slice: &'a Slice,
    loss: &'a mut Loss,
}

impl<'a> Pass<'a> {
    fn new(roster: Roster, rest: Rest, options: &'a Options, descriptor: &'a Descriptor, loss: &'a mut Loss) -> Self {
        let arena = Arena::new(options.limits.tree_bytes);
        let owners: Vec<Table> = descriptor.needs.iter().map(|need| need.table).collect();
        Self {
            roster,
            names: NamePool::default(),
            looks: Looks::default(),
            spans: SpanSorter::new(&arena, &options.slice),
            args: ArgStore::new(&owners, &arena, options.limits.tree_bytes / 4),
            rest,
            most_kept_bytes: usize::try_from(options.limits.tree_bytes / 16).unwrap_or(usize::MAX),
            descriptor,
            slice: &options.slice,
            loss,
        }
    }

    fn take(&mut self, table: Table, batch: &RecordBatch) -> Result<()> {
        let Self { roster, names, looks, spans, args, loss, .. } = self;
        self.rest.rows[table as usize] += batch.num_rows() as u64;
        match table {
            Table::Traces | Table::Processes | Table::Threads => roster.take(table, batch),
            _ if !self.descriptor.shows(table) => {
                lose_table(loss, table, batch, self.slice);
                Ok(())
            }
            Table::Spans => spans.take(&spans::View::of(batch), roster, names, looks),
            Table::Switches => spans.take_switches(&switches::View::of(batch), roster, names, looks),
            Table::Args => {
                let view = args::View::of(batch);
                args.take(&view, roster, names, |row| {
                    loss.lose(phrase(Table::Args), || {
                        format!("{} of {} {}", view.key.get(row), view.owner_table.get(row), view.owner_id.get(row))
                    });
                })
            }
            _ => {
                self.rest.keep(table, batch, self.most_kept_bytes);
                Ok(())
            }
        }
    }

    fn finish(self) -> Result<Gathered> {
        let Self { roster, names, looks, rest, .. } = self;
        let (spans, args) = (self.spans.finish()?, self.args.finish()?);
        Ok(Gathered { roster, names, looks, spans, args, rest })
    }
}
