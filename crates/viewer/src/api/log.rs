//! Log lines: any range of a log of any length.
//!
//! Lines are sorted once and filtered once into a list of numbers, so a range of it costs no more than its lines.

use std::sync::{Arc, RwLock};

use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use traceloom_analysis::lod::Window;

use super::{
    Answer, Refusal, Routes,
    picture::MAX_PIXELS,
    wire::row,
    work::{self, Kept, Over, Reply},
};
use crate::{
    app::App,
    scene::{Scene, TextReader, each_pixel},
};

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<KeptMatches>::default());
    routes.get("log", |app, known, ask| log(app, known, ask.query()?));
    routes.get("log/hits", |app, known, ask| hits(app, known, ask.query()?, ask.query()?));
}

type KeptMatches = Kept<LogKey, Matched>;

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub(crate) struct LogQuery {
    /// Number of lines to skip.
    skip: Option<usize>,
    /// Number of lines to return.
    take: Option<usize>,
    /// Only lines of these levels, separated by commas.
    levels: Option<String>,
    /// Only lines of this site: the number of a trace, a colon, and the id of a definition.
    site: Option<String>,
    /// Only lines with this text.
    text: Option<String>,
    /// Whether the text is a regular expression.
    regex: Option<bool>,
    /// Whether uppercase letters differ from lowercase ones.
    case: Option<bool>,
    /// A time for which to find the nearest line.
    at: Option<i64>,
}

/// A range of the log, or why the text is not a valid regular expression.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub(crate) enum LogAnswer {
    Problem { problem: String },
    Lines(LogRange),
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LogRange {
    /// Number of lines that match the filter.
    total: usize,
    all: usize,
    /// The line nearest to the time.
    at: Option<usize>,
    levels: Vec<LevelRow>,
    lines: Vec<Option<LogRow>>,
}

row! {
    /// A level, with its number of lines that match the text and of all lines.
    pub(crate) struct LevelRow { name: String, with_text: u64, all: u64 }
}

row! {
    /// A line of the log.
    pub(crate) struct LogRow {
        number: usize,
        ts_ns: Option<i64>,
        level: String,
        file: Option<String>,
        line: Option<u32>,
        text: String,
        trace: u32,
    }
}

/// The key of a list of lines.
#[derive(Clone, Debug, PartialEq)]
struct LogKey {
    /// The number of lines, and the offset of each trace.
    lines: usize,
    offsets: Vec<i64>,
    text: String,
    is_regex: bool,
    has_case: bool,
    levels: Vec<String>,
    site: Option<(u32, i64)>,
}

/// The lines that are shown.
#[derive(Debug)]
struct Matched {
    lines: Lines,
    /// Number of lines per level, by the number of its name.
    levels: Vec<(u32, u64)>,
}

/// Numbers of lines, sorted by time.
#[derive(Debug)]
enum Lines {
    /// All lines, in the order of the scene.
    All(usize),
    Some(Vec<u32>),
}

impl Lines {
    fn len(&self) -> usize {
        match self {
            Self::All(len) => *len,
            Self::Some(lines) => lines.len(),
        }
    }

    fn get(&self, at: usize) -> Option<usize> {
        match self {
            Self::All(len) => (at < *len).then_some(at),
            Self::Some(lines) => lines.get(at).map(|line| *line as usize),
        }
    }
}

/// Max number of lines per answer; more than a screen shows.
const MAX_LINES: usize = 1_000;
/// Max length of a text; a request for a single line returns it whole.
const MAX_CHARS: usize = 2_000;

/// A range of the log, its total length, the number of lines per level, and the position of a time in it.
fn log(app: App, known: Arc<KeptMatches>, query: LogQuery) -> Answer<Reply<LogAnswer>> {
    work::later(move |over| {
        let key = LogKey::of(&app, &query)?;
        // A partially typed expression is often invalid, so that is a regular answer, not an error.
        if let Err(problem) = key.regex() {
            return Ok(LogAnswer::Problem { problem });
        }
        let [matched, of_text, all] = key.answer(&app.scene, &known, over)?;
        let scene = app.scene()?;
        let mut texts = scene.logs.texts();
        let (skip, take) = (query.skip.unwrap_or(0), query.take.unwrap_or(0).min(MAX_LINES));
        let shown = (skip..skip.saturating_add(take))
            .map_while(|at| matched.lines.get(at))
            .map(|number| row(&scene, &mut texts, number));
        let levels = all.levels.iter().map(|(level, all)| {
            let with_text = of_text.levels.iter().find(|(of, _)| of == level).map_or(0, |(_, count)| *count);
            LevelRow { name: scene.names.get(*level).to_owned(), with_text, all: *all }
        });
        Ok(LogAnswer::Lines(LogRange {
            total: matched.lines.len(),
            all: all.lines.len(),
            at: query.at.and_then(|at| nearest(&scene, &matched.lines, at)),
            levels: levels.collect(),
            lines: shown.collect(),
        }))
    })
}

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct HitsQuery {
    from: i64,
    to: i64,
    px: u32,
}

row! {
    /// Lines in one pixel that match a filter, by the first of them.
    pub(crate) struct LogHit { trace: u32, ts_ns: i64, count: usize }
}

/// The positions of the matching lines in a window.
fn hits(
    app: App,
    known: Arc<KeptMatches>,
    query: LogQuery,
    HitsQuery { from, to, px }: HitsQuery,
) -> Answer<Reply<Vec<LogHit>>> {
    work::later(move |over| {
        let key = LogKey::of(&app, &query)?;
        if key.regex().is_err() {
            return Ok(Vec::new());
        }
        let [matched, ..] = key.answer(&app.scene, &known, over)?;
        let scene = app.scene()?;
        let line = |at: usize| matched.lines.get(at).unwrap_or(usize::MAX);
        let time = |at: usize| rank(&scene, line(at));
        let mut hits = Vec::new();
        let window = Window::new(from, to.max(from), px.clamp(1, MAX_PIXELS));
        each_pixel(matched.lines.len(), time, &window, &mut |at, count| {
            let trace = scene.logs.site(line(at)).map_or(0, |site| site.trace);
            hits.push(LogHit { trace, ts_ns: time(at), count });
        });
        Ok(hits)
    })
}

fn row(scene: &Scene, texts: &mut TextReader<'_>, number: usize) -> Option<LogRow> {
    let site = scene.logs.site(number)?;
    let text = texts.get(number);
    let cut = text.char_indices().nth(MAX_CHARS).map_or(text.len(), |(at, _)| at);
    Some(LogRow {
        number,
        ts_ns: scene.log_ts_ns(number),
        level: scene.names.get(site.level_name).to_owned(),
        file: site.file.map(|file| scene.names.get(file).to_owned()),
        line: site.line,
        text: text[..cut].to_owned(),
        trace: site.trace,
    })
}

/// Lines without a time come first.
fn rank(scene: &Scene, number: usize) -> i64 {
    scene.log_ts_ns(number).unwrap_or(i64::MIN)
}

fn nearest(scene: &Scene, lines: &Lines, at_ns: i64) -> Option<usize> {
    let (mut low, mut high) = (0, lines.len());
    while low < high {
        let middle = low + (high - low) / 2;
        if lines.get(middle).is_some_and(|number| rank(scene, number) < at_ns) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    let distance =
        |at: usize| lines.get(at).and_then(|number| scene.log_ts_ns(number)).map(|ts_ns| ts_ns.abs_diff(at_ns));
    let near = [low.checked_sub(1), Some(low)].into_iter().flatten();
    near.filter_map(|at| Some((distance(at)?, at))).min().map(|(_, at)| at)
}

impl LogKey {
    fn of(app: &App, query: &LogQuery) -> Answer<Self> {
        let scene = app.scene()?;
        Ok(Self {
            lines: scene.logs.len(),
            offsets: scene.traces.iter().map(|trace| trace.offset_ns).collect(),
            text: query.text.clone().unwrap_or_default(),
            is_regex: query.regex.unwrap_or(false),
            has_case: query.case.unwrap_or(false),
            levels: listed(query.levels.as_deref()),
            site: site_of(query.site.as_deref())?,
        })
    }

    /// The lines that match this filter, the lines of any level that match its text and site, and all lines.
    fn answer(&self, scene: &RwLock<Scene>, known: &KeptMatches, over: &Over) -> Answer<[Arc<Matched>; 3]> {
        let plain = Self { text: String::new(), levels: Vec::new(), site: None, ..self.clone() };
        let all = known.or(plain, || in_order(scene, self.lines))?;
        let of_site = match self.site {
            None => Arc::clone(&all),
            Some((trace, definition)) => {
                let key = Self { text: String::new(), levels: Vec::new(), ..self.clone() };
                known.or(key, || {
                    keep(scene, &all.lines, over, |scene, number| {
                        let site = scene.logs.site(number);
                        site.is_some_and(|site| site.trace == trace && site.definition_id == Some(definition))
                    })
                })?
            }
        };
        let of_text = if self.text.is_empty() {
            of_site
        } else {
            let regex = self.regex().map_err(Refusal::bad)?;
            let key = Self { levels: Vec::new(), ..self.clone() };
            known.or(key, || {
                let has_text = with_text(scene, &of_site.lines, self.lines, over, &regex)?;
                keep(scene, &of_site.lines, over, |_, number| has_text[number])
            })?
        };
        let has_level = |scene: &Scene, number: usize| {
            let level = scene.logs.site(number).map_or("", |site| scene.names.get(site.level_name));
            self.levels.iter().any(|wanted| wanted == level)
        };
        let lines = if self.levels.is_empty() {
            Arc::clone(&of_text)
        } else {
            known.or(self.clone(), || keep(scene, &of_text.lines, over, has_level))?
        };
        Ok([lines, of_text, all])
    }

    fn regex(&self) -> Result<Regex, String> {
        let text = if self.is_regex { self.text.clone() } else { regex::escape(&self.text) };
        let built = RegexBuilder::new(&text).case_insensitive(!self.has_case).size_limit(1 << 20).build();
        built.map_err(|error| {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
            format!("this is not a regular expression: {reason}")
        })
    }
}

/// The items of a list.
fn listed(text: Option<&str>) -> Vec<String> {
    text.unwrap_or_default().split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A trace and a definition of it.
fn site_of(text: Option<&str>) -> Answer<Option<(u32, i64)>> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let parsed = text.split_once(':').and_then(|(trace, id)| Some((trace.parse().ok()?, id.parse().ok()?)));
    parsed
        .map(Some)
        .ok_or_else(|| Refusal::bad("invalid site; expected the number of a trace and of a definition, such as 0:12"))
}

/// All lines, sorted by time; usually they are already sorted.
fn in_order(scene: &RwLock<Scene>, lines: usize) -> Answer<Matched> {
    let scene = scene.read().map_err(|_| Refusal::broken())?;
    let levels = count_levels(&scene, 0..lines);
    if (0..lines).is_sorted_by_key(|number| rank(&scene, number)) {
        return Ok(Matched { lines: Lines::All(lines), levels });
    }
    let mut order: Vec<(i64, u32)> = (0..lines).map(|number| (rank(&scene, number), number as u32)).collect();
    drop(scene);
    order.sort_unstable();
    Ok(Matched { lines: Lines::Some(order.into_iter().map(|(_, number)| number).collect()), levels })
}

/// Number of lines that are processed before other requests get their turn.
const BLOCK: usize = 1 << 14;

/// For each line, whether it is in the list and matches the text. Searches in storage order, which may differ from the
/// order of time.
fn with_text(scene: &RwLock<Scene>, of: &Lines, all: usize, over: &Over, regex: &Regex) -> Answer<Vec<bool>> {
    let mut wanted = vec![false; all];
    (0..of.len()).filter_map(|at| of.get(at)).for_each(|number| wanted[number] = true);
    for (begin, block) in (0..).step_by(BLOCK).zip(wanted.chunks_mut(BLOCK)) {
        over.check()?;
        let scene = scene.read().map_err(|_| Refusal::broken())?;
        let mut texts = scene.logs.texts();
        for (number, is_wanted) in (begin..).zip(block).filter(|(_, is_wanted)| **is_wanted) {
            *is_wanted = regex.is_match(texts.get(number));
        }
    }
    Ok(wanted)
}

fn keep(scene: &RwLock<Scene>, of: &Lines, over: &Over, is_wanted: impl Fn(&Scene, usize) -> bool) -> Answer<Matched> {
    let mut kept = Vec::new();
    for begin in (0..of.len()).step_by(BLOCK) {
        over.check()?;
        let scene = scene.read().map_err(|_| Refusal::broken())?;
        let block = (begin..of.len().min(begin + BLOCK)).filter_map(|at| of.get(at));
        kept.extend(block.filter(|number| is_wanted(&scene, *number)).map(|number| number as u32));
    }
    let scene = scene.read().map_err(|_| Refusal::broken())?;
    let levels = count_levels(&scene, kept.iter().map(|number| *number as usize));
    Ok(Matched { lines: Lines::Some(kept), levels })
}

/// There are few levels, so a list is the fastest way to find one.
fn count_levels(scene: &Scene, lines: impl Iterator<Item = usize>) -> Vec<(u32, u64)> {
    let mut counts: Vec<(u32, u64)> = Vec::new();
    for level in lines.filter_map(|number| scene.logs.site(number)).map(|site| site.level_name) {
        match counts.iter_mut().find(|(of, _)| *of == level) {
            Some((_, count)) => *count += 1,
            None => counts.push((level, 1)),
        }
    }
    counts
}
