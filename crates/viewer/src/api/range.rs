//! The part of the traces that a question is about: a stretch of the axis, and some tracks.

use std::{collections::BTreeMap, sync::Arc};
use traceloom_core::TimeRange;

use arrow_array::RecordBatch;
use axum::{
    extract::{FromRequestParts, Query},
    http::request::Parts,
};
use serde::{Deserialize, de::DeserializeOwned};
use traceloom_analysis::lod::Lane;
use traceloom_mapping::Trace;
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource};

use super::{Answer, Refusal, work::Over};
use crate::{
    scene::{LoadState, Scene},
    server::App,
};

/// What a question asks, from the address; what does not fit is refused in a sentence.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let asked = Query::<T>::from_request_parts(parts, state).await;
        asked.map(|Query(asked)| Self(asked)).map_err(|rejection| Refusal::bad(rejection.body_text()))
    }
}

/// A stretch of the axis and tracks; everything where nothing is said.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct PartQuery {
    /// Only what begins from here on.
    from: Option<i64>,
    /// Only what begins before this.
    to: Option<i64>,
    /// Numbers of tracks, with commas.
    #[serde(default)]
    tracks: String,
}

/// What a question asks of one trace.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    pub(crate) trace: u32,
    pub(crate) source: Arc<Trace>,
    pub(crate) offset_ns: i64,
    pub(crate) filter: Filter,
}

/// What tells answers apart: traces do not change after they are read.
pub(crate) type PartKey = Vec<(u32, Filter)>;

pub(crate) fn key(pieces: &[Piece]) -> PartKey {
    pieces.iter().map(|piece| (piece.trace, piece.filter.clone())).collect()
}

impl PartQuery {
    /// What is asked of each trace that is read already.
    pub(crate) fn pieces(&self, app: &App) -> Answer<Vec<Piece>> {
        self.check()?;
        let scene = app.scene.read().map_err(|_| Refusal::broken())?;
        let threads = self.threads(&scene)?;
        let pieces = app.loader.traces().into_iter().filter_map(|(trace, source)| {
            let threads = match &threads {
                Some(threads) => Some(threads.get(&trace)?.clone()),
                None => None,
            };
            let offset_ns = scene.offset_ns(trace);
            let range = self.range().shifted(offset_ns.saturating_neg());
            Some(Piece { trace, source, offset_ns, filter: Filter { range, threads } })
        });
        Ok(pieces.collect())
    }

    /// The lanes that are asked for, each with its offset and the spans that begin in the part.
    pub(crate) fn lanes<'s>(&self, scene: &'s Scene) -> Answer<Vec<LanePart<'s>>> {
        self.check()?;
        let tracks = self.tracks(scene)?;
        let lanes = scene.lanes.iter().filter_map(|(key, lane)| {
            let track = u32::try_from(key.thread_id).ok()?;
            if tracks.as_ref().is_some_and(|tracks| !tracks.contains(&track)) {
                return None;
            }
            let offset_ns = scene.track_offset_ns(track);
            let range = self.range().shifted(offset_ns.saturating_neg());
            let first = lane.first_where(|begin_ns| range.contains(begin_ns) || !range.is_before_end(begin_ns));
            let last = lane.first_where(|begin_ns| !range.is_before_end(begin_ns));
            Some(LanePart { track, kind: key.kind, depth: key.depth, offset_ns, lane, spans: first..last.max(first) })
        });
        Ok(lanes.collect())
    }

    fn check(&self) -> Answer<()> {
        match (self.from, self.to) {
            (Some(from), Some(to)) if to < from => Err(Refusal::bad("the range ends before it begins")),
            _ => Ok(()),
        }
    }

    /// The range of the axis.
    fn range(&self) -> TimeRange {
        TimeRange::new(self.from, self.to)
    }

    fn tracks(&self, scene: &Scene) -> Answer<Option<Vec<u32>>> {
        let numbers = self.tracks.split(',').filter(|number| !number.is_empty());
        let parsed: Answer<Vec<u32>> =
            numbers.map(|number| number.parse().map_err(|_| Refusal::bad("a track is a number"))).collect();
        let parsed = parsed?;
        if parsed.iter().any(|track| *track as usize >= scene.tracks.len()) {
            return Err(Refusal::absent("there is no such track"));
        }
        Ok((!parsed.is_empty()).then_some(parsed))
    }

    /// The threads of each trace that has any of the tracks.
    fn threads(&self, scene: &Scene) -> Answer<Option<BTreeMap<u32, Vec<i64>>>> {
        let Some(tracks) = self.tracks(scene)? else { return Ok(None) };
        let mut threads: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
        for track in tracks {
            let track = &scene.tracks[track as usize];
            threads.entry(track.trace).or_default().push(track.thread_id);
        }
        for threads in threads.values_mut() {
            threads.sort_unstable();
            threads.dedup();
        }
        Ok(Some(threads))
    }
}

/// Spans of one lane that begin in the part.
pub(crate) struct LanePart<'s> {
    pub(crate) track: u32,
    pub(crate) kind: u8,
    pub(crate) depth: u32,
    pub(crate) offset_ns: i64,
    pub(crate) lane: &'s Lane,
    pub(crate) spans: std::ops::Range<u32>,
}

/// Whether traces are still being read, so that an answer is about the others only.
pub(crate) fn is_loading(app: &App) -> Answer<bool> {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    Ok(scene.traces.iter().any(|trace| trace.state == LoadState::Loading))
}

/// Pours a piece into a sink; ends when nobody waits for it any more.
pub(crate) fn pour(piece: &Piece, sink: &mut dyn TableSink, over: &Over) -> Answer<()> {
    piece.source.pour(&piece.filter, &mut Watched { sink, over })?;
    over.check()
}

struct Watched<'s> {
    sink: &'s mut dyn TableSink,
    over: &'s Over,
}

impl TableSink for Watched<'_> {
    fn wants(&self, table: Table) -> Columns {
        self.sink.wants(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        match self.over.check() {
            Ok(()) => self.sink.batch(table, batch),
            Err(_) => Ok(Flow::Stop),
        }
    }
}
