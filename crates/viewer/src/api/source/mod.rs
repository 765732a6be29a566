//! Source with what each line cost; where there is no source, the places that a trace names.

mod listing;
mod places;

use std::sync::Arc;

use axum::{Extension, Json, Router, extract::State, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};
use traceloom_analysis::lines::{self, Level, Lines, Profile};
use traceloom_mapping::Trace;
use traceloom_model::{Filter, TableSource};

use self::places::Places;
use super::{
    Answer, Refusal,
    part::Asked,
    work::{self, Kept, Over, Waiting},
};
use crate::server::App;

pub(crate) fn routes() -> Router<App> {
    let known: Arc<Known> = Arc::default();
    Router::new()
        .route("/source", get(files))
        .route("/source/file", get(file))
        .route("/source/sub", get(sub))
        .layer(Extension(known))
}

/// What each trace knows of its lines; what is ready does not change.
type Known = Kept<u32, Sources>;

/// What one trace knows of its lines.
enum Sources {
    /// Sums of a line profiler, with the text where the trace has it.
    Lines(Box<Profile>),
    /// Files and lines that rows name.
    Places(Box<Places>),
}

impl Sources {
    fn of(trace: &Trace) -> Answer<Self> {
        let mut sums = Lines::new(lines::Options::default());
        trace.pour(&Filter::default(), &mut sums)?;
        if let Some(profile) = sums.finish().profiles.pop() {
            return Ok(Self::Lines(Box::new(profile)));
        }
        let mut places = Places::default();
        trace.pour(&Filter::default(), &mut places)?;
        Ok(Self::Places(Box::new(places.finish())))
    }

    fn files(&self, trace: u32) -> Value {
        match self {
            Self::Lines(profile) => listing::files(profile, trace),
            Self::Places(places) => places.files(trace),
        }
    }

    fn profile(&self) -> Answer<&Profile> {
        match self {
            Self::Lines(profile) => Ok(profile),
            Self::Places(_) => Err(Refusal::absent("this trace knows no subs")),
        }
    }
}

async fn look<T: Send + 'static>(
    app: App,
    known: Arc<Known>,
    number: u32,
    answer: impl FnOnce(&Sources) -> Answer<T> + Send + 'static,
) -> Answer<T> {
    let trace = work::ready(&app, number)?;
    work::run(move || answer(&*known.or(number, || Sources::of(&trace))?)).await
}

/// The files of all traces with their totals, the most time first.
async fn files(State(app): State<App>, Extension(known): Extension<Arc<Known>>) -> Answer {
    let traces = app.loader.traces();
    let waiting = Waiting::default();
    let over: Over = waiting.over();
    let all = work::run(move || {
        let mut all = Vec::new();
        for (number, trace) in &traces {
            over.check()?;
            all.push(known.or(*number, || Sources::of(trace))?.files(*number));
        }
        Ok(all)
    });
    Ok(Json(json!({ "traces": all.await? })))
}

#[derive(Deserialize)]
struct FileQuery {
    trace: u32,
    file: i64,
    #[serde(default)]
    level: String,
}

/// The lines of a file.
async fn file(
    State(app): State<App>,
    Extension(known): Extension<Arc<Known>>,
    Asked(query): Asked<FileQuery>,
) -> Answer {
    let level = match query.level.as_str() {
        "" | "line" => Level::Line,
        "block" => Level::Block,
        "sub" => Level::Sub,
        _ => return Err(Refusal::bad("a level is line, block or sub")),
    };
    let absent = || Refusal::absent("there is no such file");
    let answer = move |sources: &Sources| match sources {
        Sources::Lines(profile) => listing::file(profile, query.file, level).ok_or_else(absent),
        Sources::Places(places) => places.file(query.file).ok_or_else(absent),
    };
    look(app, known, query.trace, answer).await.map(Json)
}

#[derive(Deserialize)]
struct SubQuery {
    trace: u32,
    name: String,
}

/// A sub with its callers and callees.
async fn sub(State(app): State<App>, Extension(known): Extension<Arc<Known>>, Asked(query): Asked<SubQuery>) -> Answer {
    let answer = move |sources: &Sources| {
        let found = listing::sub(sources.profile()?, &query.name);
        found.ok_or_else(|| Refusal::absent("there is no such sub"))
    };
    look(app, known, query.trace, answer).await.map(Json)
}
