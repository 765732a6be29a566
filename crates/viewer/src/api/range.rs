//! The time range and tracks of a query.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use arrow_array::RecordBatch;
use serde::Deserialize;
use traceloom_analysis::lod::{Lane, LaneKey};
use traceloom_core::TimeRange;
use traceloom_mapping::Trace;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource};

use super::{Answer, Refusal, work::Over};
use crate::{
    app::App,
    scene::{LoadState, Scene},
};

/// A range of the axis and some tracks; everything if both are omitted.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct RangeQuery {
    /// Only rows that start at this time or later.
    from: Option<i64>,
    /// Only rows that start before this time.
    to: Option<i64>,
    /// Numbers of tracks, separated by commas.
    tracks: Option<String>,
}

/// One trace, and its rows that a query covers.
#[derive(Clone, Debug)]
pub(crate) struct TraceScope {
    pub(crate) trace: u32,
    pub(crate) source: Arc<Trace>,
    pub(crate) offset_ns: i64,
    pub(crate) filter: Filter,
}

/// Key of an answer; traces do not change after they are read.
pub(crate) type ScopeKey = Vec<(u32, Filter)>;

pub(crate) fn key(scopes: &[TraceScope]) -> ScopeKey {
    scopes.iter().map(|scope| (scope.trace, scope.filter.clone())).collect()
}

impl RangeQuery {
    /// The scope of each loaded trace.
    pub(crate) fn scopes(&self, app: &App) -> Answer<Vec<TraceScope>> {
        let range = self.range()?;
        let scene = app.scene()?;
        let threads = self.threads(&scene)?;
        let scopes = app.loader.traces().into_iter().filter_map(|(trace, source)| {
            let threads = match &threads {
                Some(threads) => Some(threads.get(&trace)?.clone()),
                None => None,
            };
            let offset_ns = scene.offset_ns(trace);
            let filter = Filter { range: range.shifted(offset_ns.saturating_neg()), threads };
            Some(TraceScope { trace, source, offset_ns, filter })
        });
        Ok(scopes.collect())
    }

    /// The lanes of the tracks, each with its spans that start in the range.
    pub(crate) fn lanes<'s>(&self, scene: &'s Scene) -> Answer<Vec<LaneRange<'s>>> {
        let range = self.range()?;
        let tracks = self.tracks(scene)?;
        let lanes = scene.lanes.iter().filter_map(|(key, lane)| {
            let track = u32::try_from(key.thread_id).ok()?;
            if tracks.as_ref().is_some_and(|tracks| !tracks.contains(&track)) {
                return None;
            }
            let range = range.shifted(scene.track_offset_ns(track).saturating_neg());
            let first = lane.first_where(|begin_ns| range.contains(begin_ns) || !range.is_before_end(begin_ns));
            let last = lane.first_where(|begin_ns| !range.is_before_end(begin_ns));
            Some(LaneRange { key, lane, spans: first..last.max(first) })
        });
        Ok(lanes.collect())
    }

    /// The range of the axis.
    pub(crate) fn range(&self) -> Answer<TimeRange> {
        match (self.from, self.to) {
            (Some(from), Some(to)) if to < from => Err(Refusal::bad("the range ends before it starts")),
            _ => Ok(TimeRange::new(self.from, self.to)),
        }
    }

    fn tracks(&self, scene: &Scene) -> Answer<Option<Vec<u32>>> {
        let numbers = self.tracks.as_deref().unwrap_or_default().split(',').filter(|number| !number.is_empty());
        let parsed: Answer<Vec<u32>> =
            numbers.map(|number| number.parse().map_err(|_| Refusal::bad("invalid track number"))).collect();
        let parsed = parsed?;
        if parsed.iter().any(|track| *track as usize >= scene.tracks.len()) {
            return Err(Refusal::absent("unknown track"));
        }
        Ok((!parsed.is_empty()).then_some(parsed))
    }

    /// The threads of each trace that has any of the tracks.
    fn threads(&self, scene: &Scene) -> Answer<Option<BTreeMap<u32, Vec<i64>>>> {
        let Some(tracks) = self.tracks(scene)? else { return Ok(None) };
        let mut threads: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for track in tracks {
            let track = &scene.tracks[track as usize];
            threads.entry(track.trace).or_default().extend(track.threads());
        }
        for threads in threads.values_mut() {
            threads.sort_unstable();
            threads.dedup();
        }
        Ok(Some(threads))
    }
}

/// The whole of one trace.
pub(crate) fn whole(app: &App, trace: u32) -> Answer<Vec<TraceScope>> {
    let scopes = RangeQuery::default().scopes(app)?;
    let found: Vec<TraceScope> = scopes.into_iter().filter(|scope| scope.trace == trace).collect();
    if found.is_empty() { Err(Refusal::absent("unknown trace, or it is still loading")) } else { Ok(found) }
}

/// The spans of one lane that start in a range.
pub(crate) struct LaneRange<'s> {
    pub(crate) key: LaneKey,
    pub(crate) lane: &'s Lane,
    pub(crate) spans: Range<u32>,
}

/// Whether traces are still loading, so that an answer covers only the others.
pub(crate) fn is_loading(app: &App) -> Answer<bool> {
    let scene = app.scene()?;
    Ok(scene.traces.iter().any(|trace| trace.state == LoadState::Loading))
}

impl TraceScope {
    /// The whole of the same trace.
    pub(crate) fn whole(&self) -> Self {
        Self { filter: Filter::default(), ..self.clone() }
    }

    /// The same threads at any time.
    pub(crate) fn any_time(&self) -> Self {
        Self { filter: Filter { range: TimeRange::ALL, ..self.filter.clone() }, ..self.clone() }
    }

    /// Pours the rows into a sink; stops when nobody waits for them anymore.
    pub(crate) fn pour(&self, sink: &mut dyn TableSink, over: &Over) -> Answer<()> {
        let has_sums = self.filter.range.is_all();
        self.source.pour(&self.filter, &mut Watched { sink, over, has_sums })?;
        over.check()
    }
}

struct Watched<'s> {
    sink: &'s mut dyn TableSink,
    over: &'s Over,
    /// Sums of the whole trace have no times, so they cannot be limited to a range.
    has_sums: bool,
}

impl TableSink for Watched<'_> {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Calls && !self.has_sums { Columns::NONE } else { self.sink.wants(table) }
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        match self.over.check() {
            Ok(()) => self.sink.batch(table, batch),
            Err(_) => Ok(Flow::Stop),
        }
    }
}
