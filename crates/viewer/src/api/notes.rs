//! Notes on the traces, which are stored next to their files.

use serde::{Deserialize, Serialize};
use traceloom_analysis::notes::{self, Note};

use super::{
    Answer, Done, Refusal, Routes,
    work::{self, Reply},
};
use crate::app::App;

pub(crate) fn routes(routes: &mut Routes) {
    routes.get("notes", |app, _| read(app));
    routes.post("notes", |app, ask| write(app, ask.body()?));
}

/// The notes on every trace that is a local file.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct NotesAnswer {
    traces: Vec<TraceNotes>,
}

/// The notes on one trace, in the time of the trace, or why they cannot be read.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TraceNotes {
    trace: u32,
    notes: Vec<Note>,
    error: Option<String>,
}

/// All notes on a trace, which replace the existing ones.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct NotesQuery {
    trace: u32,
    notes: Vec<Note>,
}

fn read(app: App) -> Answer<Reply<NotesAnswer>> {
    work::later(move |_| {
        let traces = app.loader.files().into_iter().map(|(trace, path)| match notes::read(&path) {
            Ok(notes) => TraceNotes { trace, notes, error: None },
            Err(error) => TraceNotes { trace, notes: Vec::new(), error: Some(error.to_string()) },
        });
        Ok(NotesAnswer { traces: traces.collect() })
    })
}

fn write(app: App, query: NotesQuery) -> Answer<Reply<Done>> {
    work::later(move |_| {
        let file = app.loader.files().into_iter().find(|(trace, _)| *trace == query.trace);
        let (_, path) = file.ok_or_else(|| {
            Refusal::absent(
                "notes are stored next to the file, which is unknown for a file that was dropped on the page",
            )
        })?;
        // Existing notes that cannot be read are not overwritten.
        notes::read(&path)?;
        notes::write(&path, &query.notes)?;
        Ok(Done {})
    })
}
