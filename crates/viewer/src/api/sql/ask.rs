//! The engine: one question at a time, as many rows as a page can hold.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Instant,
};

use arrow_array::Array;
use axum::{
    Extension, Json, Router,
    extract::{DefaultBodyLimit, State},
    routing::{get, post},
};
use serde::Deserialize;
use serde_json::{Value, json};
use traceloom_mapping::Trace;
use traceloom_model::{ColumnDef, Table};
use traceloom_query::{Cells, Failure, Offset, Options, Problem, Relation, Session, Stop};

use super::examples;
use crate::{
    api::{Answer, Refusal, work},
    server::App,
};

pub(super) fn routes() -> Router<App> {
    let engine: Arc<Engine> = Arc::default();
    Router::new()
        .route("/sql", post(ask).layer(DefaultBodyLimit::max(LONGEST_BODY)))
        .route("/sql/schema", get(schema))
        .layer(Extension(engine))
}

/// What questions share.
#[derive(Default)]
struct Engine {
    session: Mutex<Option<(Vec<Known>, Arc<Session>)>>,
    /// The question that is being answered: the next one ends it.
    running: Mutex<Stop>,
}

/// A trace as the session knows it: by number and offset.
type Known = (u32, i64);

/// Rows of one answer, and bytes of their texts.
const MOST_ROWS: usize = 10_000;
const MOST_BYTES: usize = 16 << 20;
/// A longer cell is cut.
const MOST_CHARS: usize = 4_096;
/// Questions are short; as JSON, a letter may take six.
const LONGEST_QUESTION: usize = 64 << 10;
const LONGEST_BODY: usize = 6 * LONGEST_QUESTION + 100;

#[derive(Deserialize)]
struct Question {
    sql: String,
}

/// Stops the question when nobody waits for its answer.
struct Waiting(Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// The answer to a question, or why there is none and where the mistake is.
async fn ask(State(app): State<App>, Extension(engine): Extension<Arc<Engine>>, body: String) -> Answer {
    let asked: Result<Question, _> = serde_json::from_str(&body);
    let Ok(Question { sql }) = asked else { return Err(Refusal::bad("a question is {\"sql\": \"select …\"}")) };
    if sql.trim().is_empty() {
        return Err(Refusal::bad("there is no question"));
    }
    if sql.len() > LONGEST_QUESTION {
        return Err(Refusal::bad("the question is longer than 64 KiB"));
    }
    let stop = Stop::default();
    std::mem::replace(&mut *lock(&engine.running)?, stop.clone()).stop();
    let _waiting = Waiting(stop.clone());
    work::run(move || {
        let session = engine.session(&app)?;
        match rows(&session, &sql, &stop) {
            Ok(answer) => Ok(Json(answer)),
            Err(Failure::Query(problem)) => Ok(Json(json!({ "problem": explained(&problem) }))),
            Err(Failure::Trace(error)) => Err(error.into()),
        }
    })
    .await
}

fn lock<T>(mutex: &Mutex<T>) -> Answer<MutexGuard<'_, T>> {
    mutex.lock().map_err(|_| Refusal::broken())
}

fn rows(session: &Session, sql: &str, stop: &Stop) -> Result<Value, Failure> {
    let begun = Instant::now();
    let mut answer = session.ask(sql)?;
    let cells = Cells::new(answer.schema());
    let (mut rows, mut bytes, mut is_cut) = (Vec::new(), 0, false);
    while let Some(batch) = answer.next_unless(stop)? {
        let room = MOST_ROWS - rows.len();
        let shown = batch.slice(0, batch.num_rows().min(room));
        let nulls: Vec<_> = shown.columns().iter().map(|column| column.logical_nulls()).collect();
        for (number, row) in cells.rows(&shown)?.into_iter().enumerate() {
            let is_null = |column: usize| nulls[column].as_ref().is_some_and(|nulls| nulls.is_null(number));
            bytes += row.iter().map(String::len).sum::<usize>();
            let cells = row.iter().enumerate();
            rows.push(
                cells.map(|(at, text)| if is_null(at) { Value::Null } else { cut(text).into() }).collect::<Value>(),
            );
            if bytes > MOST_BYTES {
                break;
            }
        }
        is_cut = bytes > MOST_BYTES || batch.num_rows() > room;
        if is_cut {
            break;
        }
    }
    let columns = cells.heads().into_iter().map(|(name, is_number)| json!([name, is_number]));
    Ok(json!({
        "columns": columns.collect::<Vec<_>>(),
        "rows": rows,
        "is_cut": is_cut,
        "is_stopped": stop.is_stopped(),
        "elapsed_ms": begun.elapsed().as_secs_f64() * 1e3,
    }))
}

fn cut(text: &str) -> &str {
    text.char_indices().nth(MOST_CHARS).and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

/// A mistake in a question is an answer too: it comes with its place.
fn explained(problem: &Problem) -> Value {
    json!({
        "message": problem.message,
        "place": problem.place.map(|place| json!([place.line, place.column, place.end_column])),
        "help": problem.help,
    })
}

impl Engine {
    /// A session over what is ready, on the axis of the page.
    fn session(&self, app: &App) -> Answer<Arc<Session>> {
        let (known, traces, offsets) = inputs(app)?;
        let mut kept = lock(&self.session)?;
        if let Some((_, session)) = kept.as_ref().filter(|(of, _)| *of == known) {
            return Ok(Arc::clone(session));
        }
        if traces.is_empty() {
            return Err(Refusal::absent("no trace is read yet"));
        }
        // The page says where each trace is; nothing else moves them.
        let options = Options { offsets, is_aligned: false, ..Options::default() };
        let session = Arc::new(Session::new(traces, Vec::new(), &options)?);
        *kept = Some((known, Arc::clone(&session)));
        Ok(session)
    }
}

fn inputs(app: &App) -> Answer<(Vec<Known>, Vec<Trace>, Vec<Offset>)> {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let offset = |number: u32| scene.traces.get(number as usize).map_or(0, |trace| trace.offset_ns);
    let ready = app.loader.traces();
    let known = ready.iter().map(|(number, _)| (*number, offset(*number))).collect();
    let (mut traces, mut offsets): (Vec<Trace>, Vec<Offset>) = (Vec::new(), Vec::new());
    for (number, trace) in &ready {
        // Offsets go by path, and two files that were dropped may have one name.
        let is_taken = traces.iter().any(|other| other.path == trace.path);
        let path = if is_taken { format!("{} ({number})", trace.path.display()).into() } else { trace.path.clone() };
        if traces.iter().all(|other| other.id != trace.id) {
            offsets
                .extend(Some(Offset { path: path.clone(), offset_ns: offset(*number) }).filter(|o| o.offset_ns != 0));
            traces.push(Trace::new(&path, trace.opened.source.clone(), Some(trace.format()), &trace.options)?);
        }
    }
    Ok((known, traces, offsets))
}

/// Tables, views and functions that a question may name, and questions to begin with.
async fn schema(State(app): State<App>, Extension(engine): Extension<Arc<Engine>>) -> Answer {
    let mut formats: Vec<&'static str> = app.loader.traces().iter().map(|(_, trace)| trace.format()).collect();
    formats.dedup();
    work::run(move || {
        let session = engine.session(&app)?;
        let tables: Vec<Value> = Table::ALL.iter().map(|table| described(*table)).collect();
        let views = session.relations().into_iter().filter(|relation| Table::by_name(&relation.name).is_none());
        let mut questions: Vec<_> = formats.iter().flat_map(|format| examples::of(format)).collect();
        let mut seen = std::collections::HashSet::new();
        questions.retain(|(_, sql)| seen.insert(*sql));
        Ok(Json(json!({
            "tables": tables,
            "views": views.map(view).collect::<Vec<_>>(),
            "functions": session.functions(),
            "examples": questions,
        })))
    })
    .await
}

fn described(table: Table) -> Value {
    let column = |column: &ColumnDef| {
        let target = column.target.map(Table::name);
        json!([column.name, column.label, words(column.about), column.nullable, target])
    };
    let columns: Vec<Value> = table.columns().iter().map(column).collect();
    json!({ "name": table.name(), "about": words(table.about()), "columns": columns })
}

fn view(relation: Relation) -> Value {
    json!({ "name": relation.name, "columns": relation.columns })
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
