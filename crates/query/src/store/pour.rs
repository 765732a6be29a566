//! Pours the tables of a store into a sink, trace by trace, as from the original files.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs::File,
    ops::Range,
    path::{Path, PathBuf},
};

use arrow_schema::ArrowError;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{
            ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
            RowSelection, RowSelector,
        },
    },
    errors::ParquetError,
    file::{
        metadata::{PageIndexPolicy, RowGroupMetaData},
        statistics::Statistics,
    },
};
use traceloom_core::{Error, Result};
use traceloom_model::{BATCH_ROWS, Columns, Filter, Flow, Table, TableSink, TableSource};
use traceloom_passes::{Axis, TraceFacts};

use super::{Shelf, Store, StoredTrace, manifest::file_name};

impl TableSource for Store {
    /// Rows come in the order of the store, sorted by time.
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        pour_on(self, &axis(self)?, filter, sink)
    }
}

/// A store whose traces keep the times of their files.
struct Unplaced<'s>(&'s Store);

impl TableSource for Unplaced<'_> {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        pour_on(self.0, &Axis::default(), filter, sink)
    }
}

fn axis(store: &Store) -> Result<Axis> {
    if store.traces().len() < 2 {
        return Ok(Axis::default());
    }
    let mut facts = TraceFacts::read(&Unplaced(store))?;
    TraceFacts::read_extents(&mut facts, &Unplaced(store))?;
    let of_trace = |trace: &StoredTrace| facts.iter().find(|facts| facts.trace_id == trace.trace_id).copied();
    let facts: Vec<_> = store.traces().iter().map(|trace| of_trace(trace).unwrap_or_default()).collect();
    Ok(Axis::new(&facts))
}

fn pour_on(store: &Store, axis: &Axis, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
    let mut files = Files { store, open: BTreeMap::new() };
    for (number, trace) in store.traces().iter().enumerate() {
        let placement = axis.placement(number);
        if placement.pour(filter, sink, |filter, sink| files.pour(trace, filter, sink))? == Flow::Stop {
            break;
        }
    }
    Ok(())
}

/// The files to read. The traces of a file are stored one after the other, in the order of the manifest.
struct Files<'s> {
    store: &'s Store,
    open: BTreeMap<(Table, u32), TableFile>,
}

impl Files<'_> {
    /// Pours the rows of the next trace.
    fn pour(&mut self, trace: &StoredTrace, filter: &Filter, sink: &mut dyn TableSink) -> Result<Flow> {
        // Merged tables are not part of a trace unless merging is requested.
        for table in Table::ALL.into_iter().filter(|table| !Shelf::from(*table).is_merged()) {
            let (columns, rows) = (sink.wants(table), trace.rows_of(table));
            if rows == 0 || columns.is_empty() {
                continue;
            }
            let file = match self.open.entry((table, trace.run)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let name = file_name(Shelf::from(table), trace.run);
                    new.insert(TableFile::open(self.store.path().join(name), table)?)
                }
            };
            if file.pour(rows, columns, filter, sink)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }
}

/// A file and the position in it.
struct TableFile {
    path: PathBuf,
    table: Table,
    metadata: ArrowReaderMetadata,
    offset: u64,
}

impl TableFile {
    fn open(path: PathBuf, table: Table) -> Result<Self> {
        let options =
            ArrowReaderOptions::new().with_schema(table.schema()).with_page_index_policy(PageIndexPolicy::Optional);
        let metadata = ArrowReaderMetadata::load(&open(&path)?, options).map_err(|error| broken(&path, &error))?;
        Ok(Self { path, table, metadata, offset: 0 })
    }

    /// Pours the next rows.
    fn pour(&mut self, rows: u64, columns: Columns, filter: &Filter, sink: &mut dyn TableSink) -> Result<Flow> {
        let range = self.offset..self.offset.saturating_add(rows);
        self.offset = range.end;
        let reader = self.reader(range, columns, filter)?;
        for batch in reader {
            let batch = batch.map_err(|error: ArrowError| broken(&self.path, &error))?;
            if batch.num_rows() > 0 && sink.batch(self.table, batch)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Continue)
    }

    fn reader(&self, range: Range<u64>, columns: Columns, filter: &Filter) -> Result<ParquetRecordBatchReader> {
        let (groups, selection) = self.select(range, filter);
        let numbers = (0..self.table.columns().len()).filter(|number| columns.has(*number));
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), numbers);
        ParquetRecordBatchReaderBuilder::new_with_metadata(open(&self.path)?, self.metadata.clone())
            .with_projection(mask)
            .with_row_groups(groups)
            .with_row_selection(selection)
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|error: ParquetError| broken(&self.path, &error))
    }

    /// The row groups that contain some of these rows and matching times, and the rows in them.
    fn select(&self, range: Range<u64>, filter: &Filter) -> (Vec<usize>, RowSelection) {
        let ts_ns = self.table.columns().iter().position(|column| column.name == "ts_ns");
        let (mut groups, mut selectors) = (Vec::new(), Vec::new());
        let mut begin = 0_u64;
        for (number, group) in self.metadata.metadata().row_groups().iter().enumerate() {
            let rows = u64::try_from(group.num_rows()).unwrap_or(0);
            let end = begin.saturating_add(rows);
            let (from, to) = (range.start.clamp(begin, end), range.end.clamp(begin, end));
            if from < to && ts_ns.is_none_or(|column| may_match(group, column, filter)) {
                groups.push(number);
                let skip = |rows: u64| RowSelector::skip(rows as usize);
                selectors.extend([skip(from - begin), RowSelector::select((to - from) as usize), skip(end - to)]);
            }
            begin = end;
        }
        (groups, RowSelection::from(selectors))
    }
}

/// Whether a row group may have matching times; assumed if there are no statistics.
fn may_match(group: &RowGroupMetaData, column: usize, filter: &Filter) -> bool {
    let Some(Statistics::Int64(times)) = group.columns().get(column).and_then(|column| column.statistics()) else {
        return true;
    };
    // A row without a time has no place on the axis; the sink decides whether it matters.
    if times.null_count_opt() != Some(0) {
        return true;
    }
    let begins_late = times.min_opt().is_some_and(|first| !filter.range.is_before_end(*first));
    let ends_early = times.max_opt().zip(filter.range.from_ns()).is_some_and(|(last, from)| *last < from);
    !begins_late && !ends_early
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|error| Error::from(error).in_file(path))
}

fn broken(path: &Path, error: &dyn std::fmt::Display) -> Error {
    Error::unrecognized(format!("invalid Parquet file for this table: {error}")).in_file(path)
}
