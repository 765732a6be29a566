//! The comparison for programs.

use serde_json::{Value as Json, json};

use super::{Report, Row, Verdict};

impl Report {
    /// As it is written for programs: the first `limit` rows, those without a difference only if `all` are wanted.
    pub fn to_json(&self, all: bool, limit: usize) -> Json {
        let shown = self.rows.iter().filter(|row| all || row.verdict != Verdict::Same);
        json!({
            "runs": self.runs,
            "noise_known": self.knows_noise(),
            "own_ns": self.own_ns,
            "failed": null,
            "rows": shown.take(limit).map(Row::to_json).collect::<Vec<_>>(),
        })
    }
}
