//! Flame graphs of a part of the traces, cut to what a picture shows.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use axum::{Extension, Json, Router, extract::State, routing::post};
use serde::Deserialize;
use serde_json::{Value, json};
use traceloom_analysis::flame::{CallStacks, Flame, Graph, Options, Shown, ShownFrame, Weight};
use traceloom_model::Filter;

use super::{
    Answer, Refusal,
    part::{self, PartKey, PartQuery, Piece},
    work,
};
use crate::server::App;

pub(crate) fn routes() -> Router<App> {
    let last: Arc<Last> = Arc::default();
    Router::new().route("/flame", post(flame)).layer(Extension(last))
}

/// The last graph, for other looks at it; a graph can be large, so there is one only.
type Last = Mutex<Option<(Question, Arc<Drawn>)>>;

/// A graph, and whether it is estimated from sums.
struct Drawn {
    graph: Graph,
    is_estimate: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct Question {
    part: PartKey,
    weight: Width,
    by_thread: bool,
}

/// What the width of a box means.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Width {
    Bytes,
    Count,
    #[serde(rename = "self")]
    Own,
    #[default]
    Time,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
enum View {
    Bottom,
    Sandwich,
    #[default]
    Top,
}

/// In the body, because a path has as many names as the stack is deep.
#[derive(Debug, Deserialize)]
struct FlameQuery {
    #[serde(flatten)]
    part: PartQuery,
    #[serde(default)]
    weight: Width,
    #[serde(default)]
    view: View,
    #[serde(default)]
    by_thread: bool,
    /// The names on the way to the box that fills the picture.
    #[serde(default)]
    path: Vec<String>,
    /// The name in the middle of a sandwich; the one with the most weight of its own where none is given.
    name: Option<String>,
}

async fn flame(State(app): State<App>, Extension(last): Extension<Arc<Last>>, body: String) -> Answer {
    let query: FlameQuery = serde_json::from_str(&body)
        .map_err(|error| Refusal::bad(format!("this is no question for a flame graph: {error}")))?;
    let pieces = query.part.pieces(&app)?;
    let is_loading = part::is_loading(&app)?;
    let waiting = work::Waiting::default();
    let over = waiting.over();
    work::run(move || {
        let question = Question { part: part::key(&pieces), weight: query.weight, by_thread: query.by_thread };
        let drawn = drawn(&last, question, &pieces, &over)?;
        let mut answer = look(&drawn.graph, &query);
        answer["total"] = drawn.graph.total().into();
        answer["estimate"] = drawn.is_estimate.into();
        answer["loading"] = is_loading.into();
        Ok(Json(answer))
    })
    .await
}

fn drawn(last: &Last, question: Question, pieces: &[Piece], over: &work::Over) -> Answer<Arc<Drawn>> {
    {
        let mut last = last.lock().map_err(|_| Refusal::broken())?;
        match &*last {
            Some((known, drawn)) if *known == question => return Ok(Arc::clone(drawn)),
            _ => *last = None,
        }
    }
    let mut drawn = Drawn { graph: graph(&question, pieces, over)?, is_estimate: false };
    if drawn.graph.is_empty() && question.weight != Width::Bytes {
        drawn.graph = estimate(&question, pieces, over)?;
        drawn.is_estimate = !drawn.graph.is_empty();
    }
    let drawn = Arc::new(drawn);
    *last.lock().map_err(|_| Refusal::broken())? = Some((question, Arc::clone(&drawn)));
    Ok(drawn)
}

fn options(question: &Question) -> Options {
    let weight = match question.weight {
        Width::Bytes => Weight::Bytes,
        Width::Count => Weight::Count,
        Width::Own => Weight::SelfTime,
        Width::Time => Weight::Time,
    };
    Options { weight, by_thread: question.by_thread, ..Options::default() }
}

fn graph(question: &Question, pieces: &[Piece], over: &work::Over) -> Answer<Graph> {
    let mut flame = Flame::new(options(question));
    for piece in pieces {
        flame.begin_within(&piece.filter);
        part::pour(piece, &mut flame, over)?;
    }
    Ok(flame.finish().into())
}

/// Where there are sums of calls only, stacks are estimated; sums know no times, so they are of the whole trace.
fn estimate(question: &Question, pieces: &[Piece], over: &work::Over) -> Answer<Graph> {
    let mut calls = CallStacks::default();
    for piece in pieces.iter().filter(|piece| piece.filter == Filter::default()) {
        part::pour(piece, &mut calls, over)?;
    }
    Ok(calls.finish(&options(question)).into())
}

fn look(graph: &Graph, query: &FlameQuery) -> Value {
    let mut names = Names::default();
    match query.view {
        View::Bottom => one(&graph.bottom_up(&query.path), names),
        View::Top => one(&graph.top_down(&query.path), names),
        View::Sandwich => {
            let name = query.name.as_deref().or_else(|| graph.heaviest()).unwrap_or_default();
            let [callers, callees] = graph.sandwich(name);
            let (callers, callees) = (names.frames(&callers.frames), names.frames(&callees.frames));
            json!({ "name": name, "path": [], "callers": callers, "frames": callees, "names": names.list })
        }
    }
}

fn one<'g>(shown: &Shown<'g>, mut names: Names<'g>) -> Value {
    let frames = names.frames(&shown.frames);
    json!({ "path": shown.path, "callers": [], "frames": frames, "names": names.list })
}

/// Each name once; boxes have its number.
#[derive(Default)]
struct Names<'g> {
    list: Vec<&'g str>,
    numbers: HashMap<&'g str, usize>,
}

impl<'g> Names<'g> {
    fn frames(&mut self, frames: &[ShownFrame<'g>]) -> Vec<Value> {
        let boxes = frames.iter().map(|frame| {
            let name = frame.name.map(|name| self.number(name));
            json!([frame.parent, name, frame.total, frame.own, frame.count, frame.folded])
        });
        boxes.collect()
    }

    fn number(&mut self, name: &'g str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.list.push(name);
            self.list.len() - 1
        })
    }
}
