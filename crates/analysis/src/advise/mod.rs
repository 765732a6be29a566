//! `advise`: what is worth a look, with the evidence and the query that shows it.

mod growth;
mod logs;
mod report;
mod spans;

use arrow_array::RecordBatch;
use traceloom_core::Result;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, select};
use traceloom_passes::{Budget, Interner};

pub use self::report::{Advice, Evidence, Rule, Unit, Weight};
use self::{
    growth::{Allocations, Counters, Growth},
    logs::{LogRows, Logs},
    spans::{CallRows, Context, Shared, SpanRows, Spans},
};
use crate::{
    group::whole,
    threads::{ThreadRows, Threads},
};

select! { struct Switches of switches { thread_id, dur_ns } }
select! { struct Extents of traces { first_ts_ns, last_ts_ns } }

/// From where on something is worth a look.
#[derive(Clone, Debug)]
pub struct Options {
    /// A span that takes longer is long.
    pub long_ns: u64,
    /// And one that takes longer than this is very long.
    pub very_long_ns: u64,
    /// A name whose own time is a larger part of the trace is hot: worth a look, warm, hot.
    pub hot: [f64; 3],
    /// The busiest thread may be busy this many times as long as the least busy one.
    pub imbalance: f64,
    /// A thread may be taken off the processor this often.
    pub switches: u64,
    /// A frame may take this many times as long as the median of its kind.
    pub spike: f64,
    /// What grows by a larger part, and is never lower than before, grows without end.
    pub growth: f64,
    /// A place may log this often in one second.
    pub logs: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            long_ns: 100_000_000,
            very_long_ns: 500_000_000,
            hot: [0.1, 0.2, 0.3],
            imbalance: 2.0,
            switches: 1000,
            spike: 3.0,
            growth: 0.1,
            logs: 1000,
        }
    }
}

/// What is worth a look in one trace, the weightiest first.
pub fn of_trace(trace: &(impl TableSource + ?Sized), options: &Options) -> Result<Vec<Advice>> {
    let mut advisor = Advisor::new(options.clone());
    trace.pour(&Filter::default(), &mut advisor)?;
    Ok(advisor.finish())
}

/// Looks at the tables of one trace.
#[derive(Debug)]
pub struct Advisor {
    options: Options,
    names: Interner,
    threads: Threads,
    spans: Spans,
    growth: Growth,
    logs: Logs,
    budget: Budget,
    extent_ns: u64,
}

impl Advisor {
    /// Nothing yet.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            names: Interner::default(),
            threads: Threads::default(),
            spans: Spans::default(),
            growth: Growth::default(),
            logs: Logs::default(),
            budget: Budget::default(),
            extent_ns: 0,
        }
    }

    /// The advice.
    pub fn finish(self) -> Vec<Advice> {
        let Self { options, names, threads, spans, growth, logs, extent_ns, .. } = self;
        let mut all = spans.finish(&Context { options: &options, names: &names, threads: &threads, extent_ns });
        all.extend(unbalanced(&threads, &options));
        all.extend(switching(&threads, &options));
        all.extend(growth.finish(&options, &names));
        all.extend(logs.finish(&options, &names));
        all.sort_by(|one, other| {
            let rank = |advice: &Advice| (advice.weight, advice.rule);
            rank(one)
                .cmp(&rank(other))
                .then_with(|| (other.value / other.limit).total_cmp(&(one.value / one.limit)))
                .then_with(|| one.subject.cmp(&other.subject))
        });
        all
    }

    fn switches(&mut self, view: &Switches<'_>) {
        for row in 0..view.rows {
            let thread = self.threads.at(0, view.thread_id.get(row));
            thread.switches += 1;
            thread.off_cpu_ns = thread.off_cpu_ns.saturating_add(whole(view.dur_ns.get(row)));
        }
    }

    fn traces(&mut self, view: &Extents<'_>) {
        for row in 0..view.rows {
            let extent = view.first_ts_ns.get(row).zip(view.last_ts_ns.get(row));
            self.extent_ns += extent.map_or(0, |(first, last)| whole(last.saturating_sub(first)));
        }
    }
}

fn unbalanced(threads: &Threads, options: &Options) -> Option<Advice> {
    let mut busy: Vec<_> = threads.list.iter().filter(|thread| thread.busy_ns > 0).collect();
    busy.sort_by_key(|thread| std::cmp::Reverse(thread.busy_ns));
    let (most, least) = (busy.first()?, busy.last()?);
    let ratio = most.busy_ns as f64 / least.busy_ns as f64;
    if ratio <= options.imbalance {
        return None;
    }
    let evidence = busy.iter().take(report::EVIDENCE);
    Some(Advice {
        rule: Rule::UnbalancedThreads,
        weight: if ratio > options.imbalance * 5.0 { Weight::Medium } else { Weight::Low },
        subject: most.label(),
        value: ratio,
        limit: options.imbalance,
        count: busy.len() as u64,
        evidence: evidence.map(|thread| Evidence::new(thread.label(), thread.busy_ns as f64, Unit::Nanoseconds)).collect(),
        query: "SELECT t.tid, t.name, SUM(s.self_ns) AS busy_ns FROM spans s JOIN threads t ON t.trace_id = s.trace_id AND \
                t.id = s.thread_id GROUP BY t.tid, t.name ORDER BY busy_ns DESC"
            .to_owned(),
    })
}

fn switching(threads: &Threads, options: &Options) -> Vec<Advice> {
    let often = threads.list.iter().filter(|thread| thread.switches > options.switches);
    let advice = often.map(|thread| Advice {
        rule: Rule::ManySwitches,
        weight: if thread.switches > 10 * options.switches { Weight::High } else { Weight::Medium },
        subject: thread.label(),
        value: thread.switches as f64,
        limit: options.switches as f64,
        count: thread.switches,
        evidence: vec![Evidence::new("off the processor".to_owned(), thread.off_cpu_ns as f64, Unit::Nanoseconds)],
        query: format!(
            "SELECT w.name, COUNT(*) AS switches, SUM(w.dur_ns) AS off_ns FROM switches w JOIN threads t ON t.trace_id = \
             w.trace_id AND t.id = w.thread_id WHERE {} GROUP BY w.name ORDER BY switches DESC",
            match thread.tid {
                Some(tid) => format!("t.tid = {tid}"),
                None => "t.tid IS NULL".to_owned(),
            }
        ),
    });
    advice.collect()
}

impl TableSink for Advisor {
    fn wants(&self, table: Table) -> Columns {
        match table {
            Table::Spans => SpanRows::COLUMNS,
            Table::Calls => CallRows::COLUMNS,
            Table::Switches => Switches::COLUMNS,
            Table::Threads => ThreadRows::COLUMNS,
            Table::Counters => Counters::COLUMNS,
            Table::Allocations => Allocations::COLUMNS,
            Table::Logs => LogRows::COLUMNS,
            Table::Traces => Extents::COLUMNS,
            _ => Columns::NONE,
        }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        let Self { names, threads, budget, options, .. } = self;
        match table {
            Table::Spans => self.spans.add(&SpanRows::of(&batch)?, Shared { names, threads, budget, options }),
            Table::Calls => self.spans.add_sums(&CallRows::of(&batch)?, names),
            Table::Switches => self.switches(&Switches::of(&batch)?),
            Table::Threads => threads.name(0, &ThreadRows::of(&batch)?),
            Table::Counters => self.growth.counters(&Counters::of(&batch)?, names),
            Table::Allocations => self.growth.allocations(&Allocations::of(&batch)?),
            Table::Logs => self.logs.add(&LogRows::of(&batch)?, names),
            Table::Traces => self.traces(&Extents::of(&batch)?),
            _ => {}
        }
        Ok(Flow::Continue)
    }
}
