//! Notes on the traces, which are next to their files.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use traceloom_analysis::notes::{self, Note};

use super::{Answer, Done, Posted, Refusal, work};
use crate::server::App;

/// The notes on every trace that is a file of this machine.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct NotesAnswer {
    traces: Vec<TraceNotes>,
}

/// The notes on one trace, in its own time, or why they cannot be read.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TraceNotes {
    trace: u32,
    notes: Vec<Note>,
    error: Option<String>,
}

/// All notes on a trace, in place of those that it has.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct NotesQuery {
    trace: u32,
    notes: Vec<Note>,
}

pub(crate) async fn read(State(app): State<App>) -> Answer<Json<NotesAnswer>> {
    work::run(move || {
        let traces = app.loader.files().into_iter().map(|(trace, path)| match notes::read(&path) {
            Ok(notes) => TraceNotes { trace, notes, error: None },
            Err(error) => TraceNotes { trace, notes: Vec::new(), error: Some(error.to_string()) },
        });
        Ok(Json(NotesAnswer { traces: traces.collect() }))
    })
    .await
}

pub(crate) async fn write(State(app): State<App>, Posted(query): Posted<NotesQuery>) -> Answer<Json<Done>> {
    work::run(move || {
        let file = app.loader.files().into_iter().find(|(trace, _)| *trace == query.trace);
        let (_, path) = file.ok_or_else(|| {
            Refusal::absent("notes are kept next to the file, and a file that was dropped on the page has no place")
        })?;
        // What is there and cannot be read is not written over.
        notes::read(&path)?;
        notes::write(&path, &query.notes)?;
        Ok(Json(Done {}))
    })
    .await
}
