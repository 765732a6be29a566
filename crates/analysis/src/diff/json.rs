//! The comparison as JSON.

use serde_json::{Value as Json, json};

use super::{Report, Row, Verdict};

impl Report {
    /// The comparison as JSON: the first `limit` rows, including unchanged ones only with `all`.
    pub fn to_json(&self, all: bool, limit: usize) -> Json {
        let shown = self.rows.iter().filter(|row| all || row.verdict != Verdict::Same);
        json!({
            "runs": self.runs,
            "noise_known": self.knows_noise(),
            "self_ns": self.self_ns,
            "failed": null,
            "rows": shown.take(limit).map(Row::to_json).collect::<Vec<_>>(),
        })
    }
}
