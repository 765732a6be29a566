//! What the tables of every format must satisfy.

// Each test file uses only some of this.
#![allow(dead_code, unreachable_pub)]

use std::{
    env,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use arrow_array::{Array, RecordBatch};
use traceloom_core::Source;
use traceloom_mapping::{Options, Trace, ingest};
use traceloom_model::{Batches, Columns, Flow, Table, TableSink, Wanted};

/// The folders that hold files of a format: the fixtures, and the corpus if `TRACELOOM_CORPUS` names one.
pub fn folders(format: &str) -> Vec<PathBuf> {
    let corpus = env::var_os("TRACELOOM_CORPUS").map(PathBuf::from);
    let folder = |root: PathBuf| root.join(format);
    [Some(crate::common::fixtures()), corpus].into_iter().flatten().map(folder).collect()
}

/// Each column alone, and each table alone, is the same as among all.
pub fn parts_are_those_of_the_whole(trace: &Trace, all: &Batches) {
    columns_do_not_depend_on_each_other(trace, all);
    tables_do_not_depend_on_each_other(trace, all);
}

/// Each column alone is the same as in the whole table.
fn columns_do_not_depend_on_each_other(trace: &Trace, all: &Batches) {
    for table in Table::ALL {
        for (number, column) in table.columns().iter().enumerate() {
            let parts = crate::common::part(trace, table, &[column.name]);
            let whole: Vec<_> = all.table(table).collect();
            let place = format!("{}.{} of {}", table.name(), column.name, trace.path.display());
            assert_eq!(parts.len(), whole.len(), "{place}");
            for (part, whole) in parts.iter().zip(whole) {
                assert_eq!(part.num_columns(), 1, "{place}");
                assert!(same(part.column(0), whole.column(number)), "{place}");
            }
        }
    }
}

/// Arrow's equality, with NaN equal to itself.
fn same(one: &dyn Array, other: &dyn Array) -> bool {
    format!("{one:?}") == format!("{other:?}") && one.len() == other.len() && one.nulls() == other.nulls()
}

/// Each table alone is the same as among all.
fn tables_do_not_depend_on_each_other(trace: &Trace, all: &Batches) {
    for table in Table::ALL {
        let mut alone = Batches::of(Wanted::nothing().and(table, Columns::ALL));
        ingest(trace, &Options::default(), &mut alone).expect("the trace can be read");
        let (alone, whole): (Vec<_>, Vec<_>) = (alone.table(table).collect(), all.table(table).collect());
        let same_batch = |(one, other): (&&RecordBatch, &&RecordBatch)| {
            one.num_columns() == other.num_columns()
                && one.columns().iter().zip(other.columns()).all(|(one, other)| same(one, other))
        };
        let is_same = alone.len() == whole.len() && alone.iter().zip(&whole).all(same_batch);
        assert!(is_same, "{} of {}", table.name(), trace.path.display());
    }
}

/// Opens a file as one of a format and returns its tables, after the integrity check; `None` if it is refused.
pub fn tables_if_any(path: &Path, source: Source, format: &str) -> Option<(Trace, Batches)> {
    let options = Options::default();
    let trace = Trace::new(path, source, Some(format), &options).ok()?;
    let mut header = Batches::of(Wanted::nothing());
    ingest(&trace, &options, &mut header).ok()?;
    let (batches, _) = crate::common::tables(&trace);
    Some((trace, batches))
}

/// Whether a file is refused in strict mode, at the latest when its findings are requested.
pub fn is_refused(path: &Path) -> bool {
    let options = Options { read: traceloom_core::Options::strict(), ..Options::default() };
    let lenient = crate::common::trace(path);
    ingest(&lenient, &options, &mut Batches::of(Wanted::everything())).is_err()
}

/// A file unchanged, cut at some offsets, and with a byte changed at some offsets; each with a description.
pub fn damaged(whole: &[u8], places: usize) -> Vec<(String, Vec<u8>)> {
    let step = (whole.len() / places).max(1);
    let mut damaged = vec![("as it is".to_owned(), whole.to_vec())];
    for at in (0..whole.len()).step_by(step) {
        damaged.push((format!("cut to {at}"), whole[..at].to_vec()));
        let mut changed = whole.to_vec();
        changed[at] ^= 0x55;
        damaged.push((format!("changed at {at}"), changed));
    }
    damaged
}

/// Accepts one batch of a table, then stops.
#[derive(Debug)]
pub struct OneBatch {
    pub table: Table,
    pub batches: Vec<RecordBatch>,
}

impl TableSink for OneBatch {
    fn wants(&self, table: Table) -> Columns {
        if table == self.table { Columns::ALL } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        self.batches.push(batch);
        Ok(Flow::Stop)
    }
}

/// A source that counts the bytes read.
#[derive(Debug)]
pub struct Counted {
    source: Source,
    read: Arc<AtomicU64>,
}

impl Counted {
    pub fn new(bytes: Vec<u8>) -> Self {
        let read = Arc::default();
        Self { source: Source::bytes(bytes).counted(&read), read }
    }

    pub fn source(&self) -> Source {
        self.source.clone()
    }

    /// Bytes read since the last call.
    pub fn take(&self) -> u64 {
        self.read.swap(0, Ordering::Relaxed)
    }
}

/// Bytes changed and cut off at random give consistent tables, if any.
pub fn noise_makes_no_odd_tables(path: &Path, whole: &[u8], format: &str, mut random: u64) {
    for round in 0..200 {
        let mut bytes = whole.to_vec();
        for _ in 0..=round % 4 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let at = (random >> 33) as usize % bytes.len();
            bytes[at] = (random >> 20) as u8;
        }
        bytes.truncate(if round % 5 == 0 { (random >> 35) as usize % bytes.len() } else { bytes.len() });
        // This includes the check.
        tables_if_any(path, Source::bytes(bytes), format);
    }
}
