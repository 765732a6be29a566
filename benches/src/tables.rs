//! Tables: from the bytes of a file to batches of the columns that a query needs.

use arrow_array::RecordBatch;
use traceloom_core::Result;
use traceloom_mapping::{Options, Trace, ingest};
use traceloom_model::{Columns, Flow, Table, TableSink, Wanted};

use crate::{
    easyprofiler,
    measure::{baseline, cpu_times, row},
};

const SPANS: u64 = 5_000_000;

pub(crate) fn run() -> Result<bool> {
    let (_file, source) = easyprofiler::generated(SPANS)?;
    let trace = Trace::new("big.prof".as_ref(), source.clone(), None, &Options::default())?;
    let sums = Columns::named(Table::Spans, &["name", "dur_ns", "self_ns"]);
    let places = Columns::named(Table::Spans, &["id", "parent_id", "depth", "ts_ns", "dur_ns", "name"]);
    println!("tables: easyprofiler, {} spans, {} MB", spans(&trace, sums)?, source.len()? / 1_000_000);
    let [base, summing, placing, all] = cpu_times([
        &mut || baseline(&source),
        &mut || spans(&trace, sums).map(drop),
        &mut || spans(&trace, places).map(drop),
        &mut || spans(&trace, Columns::ALL).map(drop),
    ])?;
    println!("  baseline: {:.1} ms", base.as_secs_f64() * 1e3);
    let ratio = |time: std::time::Duration| time.div_duration_f64(base);
    let mut met = row("spans: name, dur_ns, self_ns", ratio(summing), "x baseline", 5.5);
    met &= row("spans: with parents and depths", ratio(placing), "x baseline", 12.0);
    met &= row("spans: all columns", ratio(all), "x baseline", 16.0);
    Ok(met)
}

fn spans(trace: &Trace, columns: Columns) -> Result<u64> {
    let mut sink = Counting { wanted: Wanted::nothing().and(Table::Spans, columns), rows: 0 };
    ingest(trace, &Options::default(), &mut sink)?;
    Ok(sink.rows)
}

/// Drops every batch.
pub(crate) struct Counting {
    pub(crate) wanted: Wanted,
    pub(crate) rows: u64,
}

impl TableSink for Counting {
    fn wants(&self, table: Table) -> Columns {
        self.wanted.columns(table)
    }

    fn batch(&mut self, _table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        self.rows += batch.num_rows() as u64;
        Ok(Flow::Continue)
    }
}
