//! The engine: runs one query at a time, with as many rows as a page can hold.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use arrow_array::Array;
use traceloom_mapping::Trace;
use traceloom_model::{ColumnDef, Table};
use traceloom_query::{Cells, Failure, Offset, Options, Problem, Relation, Session, Stop};

use super::{
    answer::{
        Schema, SchemaColumn, SchemaTable, SchemaView, SqlAnswer, SqlColumn, SqlPlace, SqlProblem, SqlQuery, SqlRows,
    },
    examples,
};
use crate::{
    api::{
        Answer, Refusal, Routes,
        work::{self, Reply},
    },
    app::App,
    scene::{Contents, FRAME},
};

pub(crate) fn routes(routes: &mut Routes) {
    let mut routes = routes.sharing(Arc::<Engine>::default());
    routes.post("sql", |app, engine, asked| ask(app, engine, asked.body()?));
    routes.get("sql/schema", |app, engine, _| schema(app, engine));
}

/// Shared by all queries.
#[derive(Default)]
struct Engine {
    session: Mutex<Option<(Vec<SessionTrace>, Arc<Session>)>>,
    /// The running query, which the next one stops.
    running: Mutex<Stop>,
}

/// A trace of the session, by number and offset.
type SessionTrace = (u32, i64);

/// Max number of rows of a result, and of bytes of their texts.
const MAX_ROWS: usize = 10_000;
const MAX_BYTES: usize = 16 << 20;
/// Max length of a cell; longer ones are cut.
const MAX_CHARS: usize = 4_096;
/// Max length of a query.
const MAX_QUERY: usize = 64 << 10;

/// The result of a query, or its error with the position.
fn ask(app: App, engine: Arc<Engine>, SqlQuery { sql }: SqlQuery) -> Answer<Reply<SqlAnswer>> {
    if sql.trim().is_empty() {
        return Err(Refusal::bad("the query is empty"));
    }
    if sql.len() > MAX_QUERY {
        return Err(Refusal::bad("the query is longer than 64 KiB"));
    }
    let stop = Stop::default();
    std::mem::replace(&mut *lock(&engine.running), stop.clone()).stop();
    work::later(move |over| {
        let abandoned = stop.clone();
        over.then(move || abandoned.stop());
        let session = engine.session(&app)?;
        match rows(&session, &sql, &stop) {
            Ok(rows) => Ok(SqlAnswer::Rows(rows)),
            Err(Failure::Query(problem)) => Ok(SqlAnswer::Problem { problem: explained(&problem) }),
            Err(Failure::Trace(error)) => Err(error.into()),
        }
    })
}

/// A query that panicked does not corrupt the locked data.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn rows(session: &Session, sql: &str, stop: &Stop) -> Result<SqlRows, Failure> {
    let begun = Instant::now();
    let mut answer = session.ask(sql)?;
    let cells = Cells::new(answer.schema());
    let (mut rows, mut bytes, mut is_cut) = (Vec::new(), 0, false);
    while let Some(batch) = answer.next_unless(stop)? {
        let room = MAX_ROWS - rows.len();
        let shown = batch.slice(0, batch.num_rows().min(room));
        let nulls: Vec<_> = shown.columns().iter().map(|column| column.logical_nulls()).collect();
        for (number, row) in cells.rows(&shown)?.into_iter().enumerate() {
            let is_null = |column: usize| nulls[column].as_ref().is_some_and(|nulls| nulls.is_null(number));
            bytes += row.iter().map(String::len).sum::<usize>();
            rows.push(row.into_iter().enumerate().map(|(at, text)| (!is_null(at)).then(|| cut(text))).collect());
            if bytes > MAX_BYTES {
                break;
            }
        }
        is_cut = bytes > MAX_BYTES || batch.num_rows() > room;
        if is_cut {
            break;
        }
    }
    let columns = cells.heads().into_iter().map(|(name, is_number)| SqlColumn { name: name.to_owned(), is_number });
    Ok(SqlRows {
        columns: columns.collect(),
        rows,
        is_cut,
        is_stopped: stop.is_stopped(),
        elapsed_ms: begun.elapsed().as_secs_f64() * 1e3,
    })
}

fn cut(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_CHARS) {
        text.truncate(end);
    }
    text
}

/// An error in a query is also a result, with its position.
fn explained(problem: &Problem) -> SqlProblem {
    SqlProblem {
        message: problem.message.clone(),
        place: problem.place.map(|place| SqlPlace {
            line: place.line,
            column: place.column,
            end_column: place.end_column,
        }),
        help: problem.help.clone(),
    }
}

impl Engine {
    /// A session over the loaded traces, on the axis of the page.
    fn session(&self, app: &App) -> Answer<Arc<Session>> {
        let (known, traces, offsets) = inputs(app)?;
        let mut kept = lock(&self.session);
        if let Some((_, session)) = kept.as_ref().filter(|(of, _)| *of == known) {
            return Ok(Arc::clone(session));
        }
        if traces.is_empty() {
            return Err(Refusal::absent("no trace is loaded yet"));
        }
        // The page determines the offset of each trace, so the session does not align them.
        let options = Options { offsets, is_aligned: false, ..Options::default() };
        let session = Arc::new(Session::new(traces, Vec::new(), &options)?);
        *kept = Some((known, Arc::clone(&session)));
        Ok(session)
    }
}

fn inputs(app: &App) -> Answer<(Vec<SessionTrace>, Vec<Trace>, Vec<Offset>)> {
    let scene = app.scene()?;
    let offset = |number: u32| scene.traces.get(number as usize).map_or(0, |trace| trace.offset_ns);
    let ready = app.loader.traces();
    let known = ready.iter().map(|(number, _)| (*number, offset(*number))).collect();
    let (mut traces, mut offsets): (Vec<Trace>, Vec<Offset>) = (Vec::new(), Vec::new());
    for (number, trace) in &ready {
        // Offsets are by path, and two dropped files may have the same name.
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

/// Tables, views and functions for queries, and example queries.
fn schema(app: App, engine: Arc<Engine>) -> Answer<Reply<Schema>> {
    let examples = {
        let scene = app.scene()?;
        let contents = scene.traces.iter().fold(Contents::default(), |all, trace| all.and(trace.contents));
        examples::of(&contents, scene.lanes.iter().any(|(key, _)| key.kind == FRAME))
    };
    work::later(move |_| {
        let session = engine.session(&app)?;
        let views = session.relations().into_iter().filter(|relation| Table::by_name(&relation.name).is_none());
        let view = |Relation { name, columns, .. }: Relation| SchemaView { name, columns };
        Ok(Schema {
            tables: Table::ALL.iter().map(|table| described(*table)).collect(),
            views: views.map(view).collect(),
            functions: session.functions(),
            examples,
        })
    })
}

fn described(table: Table) -> SchemaTable {
    let column = |column: &ColumnDef| SchemaColumn {
        name: column.name.to_owned(),
        label: column.label.to_owned(),
        about: one_line(column.about),
        is_nullable: column.nullable,
        target: column.target.map(|target| target.name().to_owned()),
    };
    SchemaTable {
        name: table.name().to_owned(),
        about: one_line(table.about()),
        columns: table.columns().iter().map(column).collect(),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
