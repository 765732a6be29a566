//! Tables: from the bytes of a file to batches of the columns that a question needs.

use arrow_array::RecordBatch;
use traceloom_bytes::{Result, Source};
use traceloom_ingest::{Options, Trace, ingest};
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
    if std::env::var("ONLY").is_ok() { for _ in 0..20 { spans(&trace, sums)?; } return Ok(true); }
    let [base, d, n, c, d1, summing, placing, all] = cpu_times([
        &mut || baseline(&source),
        &mut || easyprofiler::decode(&source).map(drop),
        &mut || nest(&source),
        &mut || spans(&trace, Columns::named(Table::Spans, &["trace_id"])).map(drop),
        &mut || spans(&trace, Columns::named(Table::Spans, &["dur_ns"])).map(drop),
        &mut || spans(&trace, sums).map(drop),
        &mut || spans(&trace, places).map(drop),
        &mut || spans(&trace, Columns::ALL).map(drop),
    ])?;
    println!("  baseline: {:.1} ms", base.as_secs_f64() * 1e3);
    let ratio = |time: std::time::Duration| time.div_duration_f64(base);
    row("decode", ratio(d), "x", 2.0);row("nest", ratio(n), "x", 2.0);row("nocol", ratio(c), "x", 2.0);row("dur", ratio(d1), "x", 2.0);
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

/// Lets every batch go when it has come.
struct Counting {
    wanted: Wanted,
    rows: u64,
}

impl TableSink for Counting {
    fn wants(&self, table: Table) -> Columns {
        self.wanted.columns(table)
    }

    fn batch(&mut self, _table: Table, batch: RecordBatch) -> Flow {
        self.rows += batch.num_rows() as u64;
        Flow::Continue
    }
}

fn nest(source: &Source) -> Result<()> {
    use traceloom_bytes::*; use traceloom_easyprofiler::*;
    let mut reader = traceloom_easyprofiler::open(source.clone(), &Options::default())?;
    let clock = reader.clock();
    let arena = Arena::new(1<<30);
    let mut n = Nesting::new(&arena);
    let mut sum = 0u64;
    while let Some(located) = reader.next()? {
        let (begin, end) = match &located.record {
            Record::Block(block) => (block.begin, block.end),
            Record::Value(value) => (value.begin, value.end),
            Record::Thread(_) => { n = Nesting::new(&arena); continue; }
            _ => continue,
        };
        let (begin, end) = clock.span(begin, end);
        sum = sum.wrapping_add(n.push(begin, end)?.children_ns);
    }
    std::hint::black_box(sum);
    Ok(())
}
