//! Long spans, hot names, and frames that stand out.

use hashbrown::HashMap;
use traceloom_model::{SpanCategory, select};
use traceloom_passes::{Budget, Interner, Translation, Words};

use super::{
    Options,
    report::{Advice, EVIDENCE, Evidence, Rule, Unit, Weight, quoted},
};
use crate::{
    group::{Group, whole},
    threads::Threads,
};

select! { pub(super) struct SpanRows of spans { thread_id, depth, ts_ns, dur_ns, self_ns, name, category } }
select! { pub(super) struct CallRows of calls { callee, excl_ns } }

/// What spans and sums of calls show.
#[derive(Debug, Default)]
pub(super) struct Spans {
    columns: [Translation; 2],
    categories: Words<SpanCategory>,
    /// Own time by name.
    own_ns: Vec<u64>,
    long: HashMap<u32, Longest>,
    frames: Frames,
    has_spans: bool,
}

/// Durations of frames: those of the trace, or else of the outermost spans by thread and name.
#[derive(Debug, Default)]
struct Frames {
    series: HashMap<(Option<u32>, u32), (Group, Longest)>,
    /// Whether the trace has frames of its own.
    are_named: bool,
}

impl Frames {
    /// Adds a frame of the trace.
    fn named(&mut self, span: (u64, i64, u32), budget: &mut Budget) {
        self.are_named = true;
        // They may be named by their numbers: they are one kind all the same.
        self.add((None, 0), span, budget);
    }

    fn add(&mut self, key: (Option<u32>, u32), (dur_ns, ts_ns, thread): (u64, i64, u32), budget: &mut Budget) {
        // Frames are of few kinds; a file in which each outermost span has a name of its own has none.
        if self.series.len() >= MAX_KINDS && !self.series.contains_key(&key) {
            return;
        }
        let (group, longest) = self.series.entry(key).or_default();
        group.add(Some(dur_ns as i64), None, budget);
        longest.add(dur_ns, ts_ns, thread);
    }
}

const MAX_KINDS: usize = 1 << 16;

/// The longest spans of a kind.
#[derive(Debug, Default)]
struct Longest {
    count: u64,
    /// Duration, begin and thread; the longest first.
    spans: Vec<(u64, i64, u32)>,
}

impl Longest {
    fn add(&mut self, dur_ns: u64, ts_ns: i64, thread: u32) {
        self.count += 1;
        let place = self.spans.partition_point(|(longer, ..)| *longer >= dur_ns);
        if place < EVIDENCE {
            self.spans.insert(place, (dur_ns, ts_ns, thread));
            self.spans.truncate(EVIDENCE);
        }
    }

    fn evidence(&self, threads: &Threads) -> Vec<Evidence> {
        let label = |thread: u32| threads.list.get(thread as usize).map(|thread| thread.label()).unwrap_or_default();
        let facts = self.spans.iter().map(|(dur_ns, ts_ns, thread)| {
            Evidence::new(format!("on {}", label(*thread)), *dur_ns as f64, Unit::Nanoseconds).at(*ts_ns)
        });
        facts.collect()
    }
}

/// What spans share with other tables while they are taken in.
pub(super) struct Shared<'a> {
    pub(super) names: &'a mut Interner,
    pub(super) threads: &'a mut Threads,
    pub(super) budget: &'a mut Budget,
    pub(super) options: &'a Options,
}

/// What advice is made from, besides the spans.
pub(super) struct Context<'a> {
    pub(super) options: &'a Options,
    pub(super) names: &'a Interner,
    pub(super) threads: &'a Threads,
    pub(super) extent_ns: u64,
}

impl Spans {
    pub(super) fn add(&mut self, view: &SpanRows<'_>, shared: Shared<'_>) {
        let Shared { names, threads, budget, options } = shared;
        self.has_spans = true;
        let numbers = self.columns[0].of(view.name.values(), names);
        let categories = self.categories.of(view.category.values(), SpanCategory::of);
        if self.own_ns.len() < names.len() {
            self.own_ns.resize(names.len(), 0);
        }
        for row in 0..view.rows {
            let (Some(dur_ns), ts_ns) = (view.dur_ns.get(row).map(whole), view.ts_ns.get(row)) else { continue };
            let name = numbers[view.name.keys()[row] as usize];
            let thread = threads.number(0, view.thread_id.get(row));
            match categories[view.category.keys()[row] as usize] {
                Some(SpanCategory::Frame) => {
                    self.frames.named((dur_ns, ts_ns, thread), budget);
                    continue;
                }
                Some(SpanCategory::Range) => continue,
                _ => {}
            }
            let self_ns = view.self_ns.get(row).map_or(dur_ns, whole);
            let own = &mut self.own_ns[name as usize];
            *own = own.saturating_add(self_ns);
            let busy = &mut threads.list[thread as usize];
            busy.spans += 1;
            busy.busy_ns = busy.busy_ns.saturating_add(self_ns);
            if dur_ns > options.long_ns {
                self.long.entry(name).or_default().add(dur_ns, ts_ns, thread);
            }
            if view.depth.get(row) == 0 && !self.frames.are_named {
                self.frames.add((Some(thread), name), (dur_ns, ts_ns, thread), budget);
            }
        }
    }

    /// Takes sums, which count where there are no spans.
    pub(super) fn add_sums(&mut self, view: &CallRows<'_>, names: &mut Interner) {
        if self.has_spans {
            return;
        }
        let numbers = self.columns[1].of(view.callee.values(), names);
        self.own_ns.resize(names.len().max(self.own_ns.len()), 0);
        for (row, key) in view.callee.keys().iter().enumerate() {
            let own = &mut self.own_ns[numbers[*key as usize] as usize];
            *own = own.saturating_add(whole(view.excl_ns.get(row)));
        }
    }

    pub(super) fn finish(self, context: &Context<'_>) -> Vec<Advice> {
        let mut all = hot(&self, context);
        all.extend(self.long.iter().map(|(name, longest)| long(*name, longest, context)));
        let Frames { series, are_named } = self.frames;
        let frames = series.into_iter().filter(|((thread, _), _)| thread.is_none() == are_named);
        all.extend(frames.filter_map(|((thread, name), frames)| spike(thread.map(|_| name), &frames, context)));
        all
    }
}

fn long(name: u32, longest: &Longest, context: &Context<'_>) -> Advice {
    let Context { options, names, threads, .. } = context;
    let name = names.get(name).unwrap_or_default();
    let most = longest.spans.first().map_or(0, |(dur_ns, ..)| *dur_ns);
    Advice {
        rule: Rule::LongSpan,
        weight: if most > options.very_long_ns { Weight::High } else { Weight::Medium },
        subject: name.to_owned(),
        value: most as f64,
        limit: options.long_ns as f64,
        count: longest.count,
        evidence: longest.evidence(threads),
        query: format!(
            "SELECT id, thread_id, ts_ns, dur_ns, self_ns FROM spans WHERE name = {} AND dur_ns > {} ORDER BY dur_ns DESC",
            quoted(name),
            options.long_ns
        ),
    }
}

/// Names by their own time: with what they call, an outermost name would always have all of it.
fn hot(spans: &Spans, context: &Context<'_>) -> Vec<Advice> {
    let Context { options, names, extent_ns, .. } = *context;
    let table = if spans.has_spans { ("spans", "name", "self_ns") } else { ("calls", "callee", "excl_ns") };
    let (table, column, own) = table;
    let part = |own_ns: u64| if extent_ns == 0 { 0.0 } else { own_ns as f64 / extent_ns as f64 };
    let [low, medium, high] = options.hot;
    let hot = (0..).zip(&spans.own_ns).filter(|(_, own_ns)| part(**own_ns) > low);
    let advice = hot.map(|(name, own_ns)| {
        let name = names.get(name).unwrap_or_default();
        Advice {
            rule: Rule::HotName,
            weight: match part(*own_ns) {
                part if part > high => Weight::High,
                part if part > medium => Weight::Medium,
                _ => Weight::Low,
            },
            subject: name.to_owned(),
            value: part(*own_ns),
            limit: low,
            count: 1,
            evidence: vec![
                Evidence::new("own time".to_owned(), *own_ns as f64, Unit::Nanoseconds),
                Evidence::new("the trace".to_owned(), extent_ns as f64, Unit::Nanoseconds),
            ],
            query: format!(
                "SELECT file, line, COUNT(*) AS calls, SUM({own}) AS own_ns FROM {table} WHERE {column} = {} GROUP BY file, line \
                 ORDER BY own_ns DESC",
                quoted(name)
            ),
        }
    });
    advice.collect()
}

/// Fewer frames say nothing about what is usual.
const ENOUGH_FRAMES: u64 = 20;
/// What nobody sees at 60 frames a second.
const UNSEEN_NS: u64 = 16_666_667;

/// Frames of a name, or those of the trace itself.
fn spike(name: Option<u32>, (group, longest): &(Group, Longest), context: &Context<'_>) -> Option<Advice> {
    let Context { options, names, threads, .. } = context;
    let (sums, quantiles) = group.samples.summary([0.5]);
    let [median] = quantiles?;
    let limit_ns = median * options.spike;
    let ratio = sums.max as f64 / median;
    if sums.count < ENOUGH_FRAMES || ratio <= options.spike || !ratio.is_finite() {
        return None;
    }
    let mut count = 0;
    group.samples.for_each(|sample, times| count += if sample > limit_ns { times } else { 0 });
    let (subject, which) = match name {
        Some(name) => {
            let name = names.get(name).unwrap_or_default();
            (name.to_owned(), format!("depth = 0 AND name = {}", quoted(name)))
        }
        None => {
            let frame = SpanCategory::Frame;
            (frame.to_string(), format!("category = '{frame}'"))
        }
    };
    Some(Advice {
        rule: Rule::FrameSpike,
        weight: match sums.max {
            ..=UNSEEN_NS => Weight::Low,
            max_ns if max_ns > options.long_ns => Weight::High,
            _ => Weight::Medium,
        },
        subject,
        value: ratio,
        limit: options.spike,
        count,
        evidence: longest.evidence(threads),
        query: format!(
            "SELECT id, thread_id, ts_ns, dur_ns FROM spans WHERE {which} AND dur_ns > {} ORDER BY dur_ns DESC",
            limit_ns as u64
        ),
    })
}
