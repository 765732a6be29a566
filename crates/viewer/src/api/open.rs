//! A file that was dropped on the page.

use serde::Deserialize;
use traceloom_core::{Result, Source};

use super::{Answer, Done};
use crate::app::App;

/// Max length of a name; longer than any file system allows.
const MAX_NAME: usize = 255;

#[derive(Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct OpenQuery {
    name: String,
}

/// Loads a file when it is complete and is a trace.
pub(crate) fn open(app: &App, query: &OpenQuery, source: impl FnOnce() -> Result<Source>) -> Answer<Done> {
    let name: String = query.name.chars().filter(|letter| !letter.is_control()).take(MAX_NAME).collect();
    let trace = app.loader.recognize(&name, source()?)?;
    app.loader.load_trace(trace);
    Ok(Done {})
}
