//! Flame graphs of a range of the traces, limited to visible boxes.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use serde::{Deserialize, Serialize};
use traceloom_analysis::{
    flame::{CallStacks, Flame, Graph, GraphStep, Options, Shown, ShownFrame, Weight},
    memory::{self, Held, memory},
};
use traceloom_model::Filter;

use super::{
    Answer, Refusal, Routes,
    range::{self, RangeQuery, ScopeKey, TraceScope},
    wire::row,
    work::{self, Reply},
};
use crate::app::App;

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<Last>::default());
    routes.post("flame", |app, last, ask| flame(app, last, ask.body()?));
}

/// The last graphs, cached for other views; a graph can be large, so only the graphs of one comparison are kept.
type Last = Mutex<VecDeque<(GraphKey, Arc<Drawn>)>>;

/// The graphs of a comparison.
const KEPT: usize = 2;

/// Max number of distinct stacks; more boxes than anybody can look at.
const MAX_STACKS: usize = 1 << 18;

/// A graph, and whether it is estimated from sums.
struct Drawn {
    graph: Graph,
    is_estimate: bool,
}

#[derive(Clone, Debug, PartialEq)]
struct GraphKey {
    scopes: ScopeKey,
    weight: FlameWeight,
    by_thread: bool,
    at_ns: Option<i64>,
}

/// The meaning of the width of a box.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum FlameWeight {
    /// Bytes in use at a time.
    Alive,
    /// Bytes allocated.
    Bytes,
    Count,
    /// Bytes never freed.
    Leaked,
    /// Bytes in use at the peak.
    Peak,
    #[serde(rename = "self")]
    SelfTime,
    /// Bytes freed by the next event.
    Temporary,
    #[default]
    Time,
}

impl FlameWeight {
    fn is_of_memory(self) -> bool {
        self == Self::Bytes || self.held().is_some()
    }

    /// For a weight that depends on frees: the allocations that count.
    fn held(self) -> Option<Held> {
        match self {
            Self::Alive => Some(Held::Alive),
            Self::Leaked => Some(Held::Leaked),
            Self::Peak => Some(Held::Peak),
            Self::Temporary => Some(Held::Temporary),
            Self::Bytes | Self::Count | Self::SelfTime | Self::Time => None,
        }
    }
}

/// From the outermost spans, from the innermost ones, or around one name.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum FlameView {
    Bottom,
    Sandwich,
    #[default]
    Top,
}

/// Sent as a body, because a path may have as many names as the stack is deep.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields = nullable))]
pub(crate) struct FlameQuery {
    #[serde(flatten)]
    range: RangeQuery,
    weight: Option<FlameWeight>,
    view: Option<FlameView>,
    by_thread: Option<bool>,
    /// The time on the axis for the weight `alive`.
    at: Option<i64>,
    /// Steps that change the stacks, applied in order.
    steps: Option<Vec<GraphStep>>,
    /// The names on the path to the box that fills the view.
    path: Option<Vec<String>>,
    /// The name in the middle of a sandwich (default: the one with the most self weight).
    name: Option<String>,
    /// Shows the second trace, with the weights of its boxes in the first trace.
    compare: Option<[u32; 2]>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct FlameAnswer {
    /// The name in the middle of a sandwich.
    name: Option<String>,
    path: Vec<String>,
    callers: Vec<FlameFrame>,
    frames: Vec<FlameFrame>,
    names: Vec<String>,
    /// The weight of each frame in the compared trace; `None` for boxes of several frames.
    before: Vec<Option<u64>>,
    /// The total weight.
    total: u64,
    /// Whether stacks are estimated from sums of calls.
    estimate: bool,
    loading: bool,
}

row! {
    /// A box, with its parent and name as numbers. `folded` is the number of boxes that it represents; 0 for a real
    /// one.
    pub(crate) struct FlameFrame {
        parent: u32,
        name: Option<usize>,
        total: u64,
        own: u64,
        count: u64,
        folded: u64,
    }
}

fn flame(app: App, last: Arc<Last>, query: FlameQuery) -> Answer<Reply<FlameAnswer>> {
    let scopes = match query.compare {
        None => vec![query.range.scopes(&app)?],
        Some([before, after]) => vec![range::whole(&app, after)?, range::whole(&app, before)?],
    };
    let is_loading = range::is_loading(&app)?;
    work::later(move |over| {
        let graphs = scopes.iter().map(|scopes| {
            let key = GraphKey {
                scopes: range::key(scopes),
                weight: query.weight.unwrap_or_default(),
                by_thread: query.by_thread.unwrap_or_default(),
                at_ns: query.at,
            };
            let drawn = drawn(&last, key, scopes, over)?;
            let steps = query.steps.as_deref().unwrap_or_default();
            Ok((if steps.is_empty() { None } else { Some(drawn.graph.after(steps)) }, drawn))
        });
        let graphs: Vec<(Option<Graph>, Arc<Drawn>)> = graphs.collect::<Answer<_>>()?;
        let estimate = graphs.iter().any(|(_, drawn)| drawn.is_estimate);
        let mut graphs = graphs.iter().map(|(narrowed, drawn)| narrowed.as_ref().unwrap_or(&drawn.graph));
        let (Some(graph), before) = (graphs.next(), graphs.next()) else { return Err(Refusal::broken()) };
        Ok(FlameAnswer { total: graph.total(), estimate, loading: is_loading, ..look(graph, before, &query) })
    })
}

fn drawn(last: &Last, key: GraphKey, scopes: &[TraceScope], over: &work::Over) -> Answer<Arc<Drawn>> {
    {
        let mut last = last.lock().map_err(|_| Refusal::broken())?;
        if let Some((_, drawn)) = last.iter().find(|(known, _)| *known == key) {
            return Ok(Arc::clone(drawn));
        }
        // Before the next one is built, so that there are never more in memory.
        last.truncate(KEPT - 1);
    }
    let graph = match key.weight.held() {
        Some(held) => held_graph(&key, held, scopes, over)?,
        None => graph(&key, scopes, over)?,
    };
    let mut drawn = Drawn { graph, is_estimate: false };
    if drawn.graph.is_empty() && !key.weight.is_of_memory() {
        drawn.graph = estimate(&key, scopes, over)?;
        drawn.is_estimate = !drawn.graph.is_empty();
    }
    let drawn = Arc::new(drawn);
    last.lock().map_err(|_| Refusal::broken())?.push_front((key, Arc::clone(&drawn)));
    Ok(drawn)
}

fn options(key: &GraphKey) -> Options {
    let weight = match key.weight {
        weight if weight.is_of_memory() => Weight::Bytes,
        FlameWeight::Count => Weight::Count,
        FlameWeight::SelfTime => Weight::SelfTime,
        _ => Weight::Time,
    };
    Options { weight, by_thread: key.by_thread, most_stacks: Some(MAX_STACKS), ..Options::default() }
}

fn graph(key: &GraphKey, scopes: &[TraceScope], over: &work::Over) -> Answer<Graph> {
    let mut flame = Flame::new(options(key));
    for scope in scopes {
        flame.begin_within(&scope.filter);
        scope.pour(&mut flame, over)?;
    }
    Ok(flame.finish().into())
}

/// Stacks of memory by its fate.
fn held_graph(key: &GraphKey, held: Held, scopes: &[TraceScope], over: &work::Over) -> Answer<Graph> {
    let mut reports = Vec::new();
    for scope in scopes {
        over.check()?;
        let at_ns = key.at_ns.map(|at_ns| at_ns.saturating_sub(scope.offset_ns));
        let options = memory::Options { at_ns, ..memory::Options::default() };
        reports.push(memory(&*scope.source, &scope.filter, &options)?);
    }
    Ok(memory::stacks(&reports, held).into())
}

/// Stacks are estimated if there are only sums of calls, which have no times and cover the whole trace.
fn estimate(key: &GraphKey, scopes: &[TraceScope], over: &work::Over) -> Answer<Graph> {
    let mut calls = CallStacks::default();
    for scope in scopes.iter().filter(|scope| scope.filter == Filter::default()) {
        scope.pour(&mut calls, over)?;
    }
    Ok(calls.finish(&options(key)).into())
}

fn look(graph: &Graph, before: Option<&Graph>, query: &FlameQuery) -> FlameAnswer {
    let path = query.path.as_deref().unwrap_or_default();
    match query.view.unwrap_or_default() {
        FlameView::Bottom => one(&graph.bottom_up(path), before),
        FlameView::Top => one(&graph.top_down(path), before),
        FlameView::Sandwich => {
            let name = query.name.as_deref().or_else(|| graph.heaviest()).unwrap_or_default();
            let [callers, callees] = graph.sandwich(name);
            let mut names = Names::default();
            let (callers, frames) = (names.frames(&callers.frames), names.frames(&callees.frames));
            FlameAnswer {
                name: Some(name.to_owned()),
                callers,
                frames,
                names: names.listed(),
                ..FlameAnswer::default()
            }
        }
    }
}

fn one(shown: &Shown<'_>, before: Option<&Graph>) -> FlameAnswer {
    let mut names = Names::default();
    let (path, frames) = (shown.path.iter().map(|name| (*name).to_owned()).collect(), names.frames(&shown.frames));
    let before = before.map(|before| before.weights_in(shown)).unwrap_or_default();
    FlameAnswer { path, frames, before, names: names.listed(), ..FlameAnswer::default() }
}

/// Each name once; boxes refer to it by number.
#[derive(Default)]
struct Names<'g> {
    list: Vec<&'g str>,
    numbers: HashMap<&'g str, usize>,
}

impl<'g> Names<'g> {
    fn frames(&mut self, frames: &[ShownFrame<'g>]) -> Vec<FlameFrame> {
        let boxes = frames.iter().map(|frame| FlameFrame {
            parent: frame.parent,
            name: frame.name.map(|name| self.number(name)),
            total: frame.total,
            own: frame.own,
            count: frame.count,
            folded: frame.folded,
        });
        boxes.collect()
    }

    fn number(&mut self, name: &'g str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.list.push(name);
            self.list.len() - 1
        })
    }

    fn listed(&self) -> Vec<String> {
        self.list.iter().map(|name| (*name).to_owned()).collect()
    }
}
