//! The figures of each name in one run, which `diff` compares and a fleet store keeps.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use traceloom_model::{select, sink};
use traceloom_passes::{Budget, Interner, Samples, Sums, Translation, coarse_middle};

use super::{Options, collect::Figures};
use crate::{group::whole, stats::Groups};

select! { pub(super) struct Spans of spans { dur_ns, self_ns, name } }
select! { pub(super) struct Calls of calls { callee, count, incl_ns, excl_ns } }

/// Names of one run and their figures, as numbers of an interner.
#[derive(Debug)]
pub(super) struct Names {
    columns: [Translation; 2],
    groups: Groups,
    budget: Budget,
    calls: HashMap<u32, Figures>,
}

impl Default for Names {
    fn default() -> Self {
        Self::new(0, 0)
    }
}

impl Names {
    pub(super) fn new(groups: usize, sample_bytes: usize) -> Self {
        Self {
            columns: Default::default(),
            groups: Groups::new(groups),
            budget: Budget::new(sample_bytes),
            calls: HashMap::new(),
        }
    }

    pub(super) fn spans(&mut self, view: &Spans<'_>, names: &mut Interner) {
        let numbers = self.columns[0].of(view.name.values(), names);
        if let Some((durs, owns)) = view.dur_ns.dense().zip(view.self_ns.dense()) {
            for (key, (dur_ns, self_ns)) in view.name.keys().iter().zip(durs.iter().zip(owns)) {
                let group = self.groups.of_name(numbers[*key as usize]);
                group.add_closed(whole(*dur_ns), whole(*self_ns), &mut self.budget);
            }
            return;
        }
        for (row, key) in view.name.keys().iter().enumerate() {
            let group = self.groups.of_name(numbers[*key as usize]);
            group.add(view.dur_ns.get(row), view.self_ns.get(row), &mut self.budget);
        }
    }

    pub(super) fn sums(&mut self, view: &Calls<'_>, names: &mut Interner) {
        let numbers = self.columns[1].of(view.callee.values(), names);
        for (row, key) in view.callee.keys().iter().enumerate() {
            let figures = self.calls.entry(numbers[*key as usize]).or_default();
            figures.add(view.count.get(row), whole(view.incl_ns.get(row)), whole(view.excl_ns.get(row)));
        }
    }

    /// Calls back for each name with its figures, and its samples if there are any.
    pub(super) fn finish(self, mut each: impl FnMut(u32, Figures, Option<&Samples>)) {
        let mut is_empty = true;
        for (key, group) in self.groups.into_filled().filter(|(_, group)| !group.samples.is_empty()) {
            is_empty = false;
            each(key.name, Figures::of(&group), Some(&group.samples));
        }
        // Sums would count the same calls twice if the calls themselves are there.
        if is_empty {
            self.calls.into_iter().for_each(|(name, figures)| each(name, figures, None));
        }
    }
}

/// A name in one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NameFigures {
    /// The name.
    pub name: String,
    /// Closed spans, or calls.
    pub calls: u64,
    /// Total time of all calls.
    pub total_ns: u64,
    /// Self time of all calls.
    pub self_ns: u64,
    /// Shortest and longest call, if the run has individual calls.
    pub reach_ns: Option<[u64; 2]>,
    /// Median, 95th and 99th percentile, if the run has individual calls.
    pub quantiles_ns: Option<[f64; 3]>,
    /// Standard deviation of the durations.
    pub deviation_ns: Option<f64>,
    /// Histogram: durations, each within 0.8 % of the true one, and their numbers of calls, shortest first.
    pub histogram: Vec<(u64, u64)>,
}

impl NameFigures {
    fn new(name: &str, figures: Figures, samples: Option<&Samples>) -> Self {
        let mut histogram = BTreeMap::<u64, u64>::new();
        if let Some(samples) = samples {
            samples.for_each(|sample, times| *histogram.entry(coarse_middle(sample as u64)).or_default() += times);
        }
        let reach = |sums: Sums| [sums.min, sums.max];
        Self {
            name: name.to_owned(),
            calls: figures.calls,
            total_ns: figures.total,
            self_ns: figures.own,
            reach_ns: samples.map(|samples| reach(samples.sums())),
            quantiles_ns: figures.quantiles,
            deviation_ns: figures.deviation,
            histogram: histogram.into_iter().collect(),
        }
    }

    pub(super) fn figures(&self) -> Figures {
        Figures {
            calls: self.calls,
            total: self.total_ns,
            own: self.self_ns,
            quantiles: self.quantiles_ns,
            deviation: self.deviation_ns,
        }
    }
}

/// A sink for the tables of one run that returns the figures of its names.
#[derive(Debug)]
pub struct NameSink {
    names: Interner,
    of_names: Names,
}

impl NameSink {
    /// Creates a sink for one run, within the limits of a comparison.
    pub fn new(options: &Options) -> Self {
        Self { names: Interner::default(), of_names: Names::new(options.groups, options.sample_bytes) }
    }

    /// The figures, sorted by name.
    pub fn finish(self) -> Vec<NameFigures> {
        let mut all = Vec::new();
        let names = self.names;
        self.of_names.finish(|name, figures, samples| {
            all.push(NameFigures::new(names.get(name).unwrap_or("(other)"), figures, samples));
        });
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }
}

sink! {
    impl for NameSink as sink {
        Spans(rows) => sink.of_names.spans(rows, &mut sink.names),
        Calls(rows) => sink.of_names.sums(rows, &mut sink.names),
    }
}
