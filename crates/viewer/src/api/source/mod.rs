//! Source with the cost of each line; without source, the places that occur in a trace.

mod listing;
mod places;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use traceloom_analysis::{
    lines::{self, Lines, Profile},
    places::{Places, Report as PlacesReport},
};
use traceloom_mapping::Trace;
use traceloom_model::{Filter, TableSource};

pub(crate) use self::listing::SubDetails;
use self::{
    listing::{LinesFile, LinesOfTrace},
    places::{PlacesFile, PlacesOfTrace},
};
use super::{
    Answer, Refusal, Routes,
    work::{self, Kept, Reply},
};
use crate::app::App;

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptSources>::default());
    routes.get("source", |app, known, _| files(app, known));
    routes.get("source/file", |app, known, ask| file(app, known, ask.query()?));
    routes.get("source/sub", |app, known, ask| sub(app, known, ask.query()?));
}

/// Sources by trace; a trace that is ready does not change.
type KeptSources = Kept<u32, Sources>;

/// The line information of one trace.
enum Sources {
    /// Sums of a line profiler, with the text if the trace has it.
    Lines(Box<Profile>),
    /// Files and lines that occur in rows.
    Places(PlacesReport),
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
        Ok(Self::Places(places.finish()))
    }

    fn files(&self, trace: u32) -> SourceOfTrace {
        match self {
            Self::Lines(profile) => SourceOfTrace::Lines(listing::files(profile, trace)),
            Self::Places(places) => SourceOfTrace::Places(places::files(places, trace)),
        }
    }

    fn profile(&self) -> Answer<&Profile> {
        match self {
            Self::Lines(profile) => Ok(profile),
            Self::Places(_) => Err(Refusal::absent("this trace has no subs")),
        }
    }
}

/// The files of all traces with their totals, most time first.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SourceAnswer {
    traces: Vec<SourceOfTrace>,
}

/// The files of one trace.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum SourceOfTrace {
    Lines(LinesOfTrace),
    Places(PlacesOfTrace),
}

/// The lines of one file.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum FileAnswer {
    Lines(LinesFile),
    Places(PlacesFile),
}

fn look<T: Send + 'static>(
    app: App,
    known: Arc<KeptSources>,
    number: u32,
    answer: impl FnOnce(&Sources) -> Answer<T> + Send + 'static,
) -> Answer<Reply<T>> {
    let trace = work::ready(&app, number)?;
    work::later(move |_| answer(&*known.or(number, || Sources::of(&trace))?))
}

fn files(app: App, known: Arc<KeptSources>) -> Answer<Reply<SourceAnswer>> {
    let traces = app.loader.traces();
    work::later(move |over| {
        let mut all = Vec::new();
        for (number, trace) in &traces {
            over.check()?;
            all.push(known.or(*number, || Sources::of(trace))?.files(*number));
        }
        Ok(SourceAnswer { traces: all })
    })
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct FileQuery {
    trace: u32,
    file: i64,
    level: Option<Level>,
}

/// How statements are added up.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Block,
    #[default]
    Line,
    Sub,
}

impl From<Level> for lines::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Block => Self::Block,
            Level::Line => Self::Line,
            Level::Sub => Self::Sub,
        }
    }
}

fn file(app: App, known: Arc<KeptSources>, query: FileQuery) -> Answer<Reply<FileAnswer>> {
    let answer = move |sources: &Sources| {
        let found = match sources {
            Sources::Lines(profile) => {
                listing::file(profile, query.file, query.level.unwrap_or_default()).map(FileAnswer::Lines)
            }
            Sources::Places(places) => places::file(places, query.file).map(FileAnswer::Places),
        };
        found.ok_or_else(|| Refusal::absent("unknown file"))
    };
    look(app, known, query.trace, answer)
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct SubQuery {
    trace: u32,
    name: String,
}

fn sub(app: App, known: Arc<KeptSources>, query: SubQuery) -> Answer<Reply<SubDetails>> {
    let answer = move |sources: &Sources| {
        let found = listing::sub(sources.profile()?, &query.name);
        found.ok_or_else(|| Refusal::absent("unknown sub"))
    };
    look(app, known, query.trace, answer)
}
