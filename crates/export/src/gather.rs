//! The usual first pass: who took part, spans in order, arguments by owner, and how much there is of the rest.

use arrow_array::RecordBatch;
use traceloom_bytes::{Arena, Loss, Result, Slice};
use traceloom_model::{Filter, Table, TableSource, args, spans, switches};

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
    rows: [u64; Table::ALL.len()],
    filter: Filter,
}

impl Gathered {
    /// Gathers what the target shows, and counts the rows of tables that it does not show as lost.
    pub fn new(source: &dyn TableSource, options: &Options, descriptor: &Descriptor, loss: &mut Loss) -> Result<Self> {
        let roster = Roster::new(source, &options.slice, &options.limits)?;
        let mut wanted = Roster::wanted();
        for table in Table::ALL {
            let need = descriptor.needs.iter().find(|need| need.table == table);
            wanted = match (table, need) {
                (Table::Spans | Table::Switches | Table::Args, Some(need)) => wanted.and(table, need.columns()),
                (_, Some(_)) => wanted.and(table, counted_columns(table)),
                (_, None) if counts(table) => wanted.and(table, counted_columns(table)),
                _ => wanted,
            };
        }
        let filter = roster.filter();
        let mut pass = Pass::new(roster, options, descriptor, loss);
        pour(source, &filter, wanted, |table, batch| pass.take(table, batch))?;
        pass.finish(filter)
    }

    /// Number of rows of a table. Of those that are not gathered too, so that a pass over nothing can be left out.
    pub fn rows(&self, table: Table) -> u64 {
        self.rows[table as usize]
    }

    /// What a further pass may leave out.
    pub fn filter(&self) -> &Filter {
        &self.filter
    }
}

struct Pass<'a> {
    roster: Roster,
    names: NamePool,
    looks: Looks,
    spans: SpanSorter,
    args: ArgStore,
    rows: [u64; Table::ALL.len()],
    descriptor: &'a Descriptor,
    slice: &'a Slice,
    loss: &'a mut Loss,
}

impl<'a> Pass<'a> {
    fn new(roster: Roster, options: &'a Options, descriptor: &'a Descriptor, loss: &'a mut Loss) -> Self {
        let arena = Arena::new(options.limits.tree_bytes);
        let owners: Vec<Table> = descriptor.needs.iter().map(|need| need.table).collect();
        Self {
            roster,
            names: NamePool::default(),
            looks: Looks::default(),
            spans: SpanSorter::new(&arena, &options.slice),
            args: ArgStore::new(&owners, &arena, options.limits.tree_bytes / 4),
            rows: [0; Table::ALL.len()],
            descriptor,
            slice: &options.slice,
            loss,
        }
    }

    fn take(&mut self, table: Table, batch: &RecordBatch) -> Result<()> {
        let Self { roster, names, looks, spans, args, loss, .. } = self;
        self.rows[table as usize] += batch.num_rows() as u64;
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
            _ => Ok(()),
        }
    }

    fn finish(self, filter: Filter) -> Result<Gathered> {
        let Self { roster, names, looks, rows, .. } = self;
        let (spans, args) = (self.spans.finish()?, self.args.finish()?);
        Ok(Gathered { roster, names, looks, spans, args, rows, filter })
    }
}
