//! Log lines.

use axum::{
    Json,
    extract::{Query, State},
};
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Refusal};
use crate::server::App;

#[derive(Deserialize)]
pub(crate) struct LogQuery {
    /// Lines to pass over.
    #[serde(default)]
    skip: usize,
    /// Lines to give.
    #[serde(default)]
    take: usize,
    /// Only lines of these levels, with commas; all where empty.
    #[serde(default)]
    levels: String,
    /// Only lines with this text, whatever its case.
    #[serde(default)]
    text: String,
    /// Where the first line at or after this time is.
    at: Option<i64>,
}

/// More than a screen shows at once.
const MOST_LINES: usize = 1_000;

/// A part of the log, how long it is, and where a time is in it.
pub(crate) async fn log(State(app): State<App>, Query(query): Query<LogQuery>) -> Answer {
    let scene = app.scene.read().map_err(|_| Refusal::broken())?;
    let levels: Vec<&str> = query.levels.split(',').filter(|level| !level.is_empty()).collect();
    let text = query.text.to_lowercase();
    let (mut total, mut at, mut lines) = (0, None, Vec::new());
    for (number, log) in scene.logs.iter().enumerate() {
        let level = scene.names.get(log.level_name);
        let is_wanted = levels.is_empty() || levels.contains(&level);
        if !is_wanted || !(text.is_empty() || scene.log_text(number).to_lowercase().contains(&text)) {
            continue;
        }
        let offset = scene.traces.get(log.trace as usize).map_or(0, |trace| trace.offset_ns);
        let ts_ns = log.ts_ns.map(|ts_ns| ts_ns.saturating_add(offset));
        if at.is_none() && query.at.is_some_and(|at| ts_ns.is_some_and(|ts_ns| ts_ns >= at)) {
            at = Some(total);
        }
        if total >= query.skip && lines.len() < query.take.min(MOST_LINES) {
            let file = log.file.map(|file| scene.names.get(file));
            lines.push(json!([number, ts_ns, level, file, log.line, scene.log_text(number), log.trace]));
        }
        total += 1;
    }
    Ok(Json(json!({ "total": total, "at": at, "lines": lines })))
}
