//! Statistics as JSON.

use serde_json::{Map, Value as Json, json};

use super::{Report, SpanRow};

impl Report {
    /// The report as JSON, with the first `limit` rows of each list except threads.
    pub fn to_json(&self, limit: usize) -> Json {
        let mut object = json!({
            "self_ns": self.self_ns,
            "merged": self.merged,
            "spans": self.spans.iter().take(limit).map(span).collect::<Vec<_>>(),
            "functions": self.calls.iter().take(limit).map(|row| json!({
                "name": row.name, "calls": row.calls, "total_ns": row.total_ns, "self_ns": row.self_ns,
                "mean_ns": row.mean_ns, "share": row.share,
            })).collect::<Vec<_>>(),
            "values": self.values.iter().take(limit).map(|row| json!({
                "name": row.name, "count": row.count, "others": row.others, "min": row.min, "mean": row.mean,
                "p50": row.p50, "p95": row.p95, "p99": row.p99, "max": row.max, "first": row.first, "last": row.last,
                "exact": row.is_exact,
            })).collect::<Vec<_>>(),
            "events": self.events.iter().take(limit).map(|row| json!({
                "name": row.name, "category": row.category, "thread": row.thread, "tid": row.tid, "count": row.count,
            })).collect::<Vec<_>>(),
            "threads": self.threads.iter().map(|row| json!({
                "name": row.name, "tid": row.tid, "trace": row.trace, "spans": row.spans, "busy_ns": row.busy_ns,
                "switches": row.switches, "off_cpu_ns": row.off_cpu_ns,
            })).collect::<Vec<_>>(),
        });
        if let Some(histogram) = &self.histogram {
            let bins = histogram.bins.iter();
            let bins = bins.map(|bin| json!({"from_ns": bin.from_ns, "to_ns": bin.to_ns, "count": bin.count}));
            object["histogram"] = bins.collect();
        }
        if let Some(relation) = &self.relation {
            object["relation"] = json!({
                "pairs": relation.pairs,
                "left_out": relation.left_out,
                "fit": relation.fit.as_ref().map(|fit| json!({
                    "correlation": fit.correlation, "slope_ns": fit.slope_ns, "intercept_ns": fit.intercept_ns,
                    "complexity": fit.complexity.as_str(), "r2": fit.r2,
                })),
            });
        }
        object
    }
}

/// Besides the figures, contains only the keys that distinguish groups.
fn span(row: &SpanRow) -> Json {
    let mut object = Map::new();
    object.insert("name".to_owned(), row.name.as_str().into());
    let frame =
        row.frame.as_ref().map(|frame| json!({"number": frame.number, "name": frame.name, "ts_ns": frame.ts_ns}));
    let more = [
        ("thread", row.thread.clone().map(Json::from)),
        ("tid", row.tid.map(Json::from)),
        ("file", row.file.clone().map(Json::from)),
        ("line", row.line.map(Json::from)),
        ("category", row.category.clone().map(Json::from)),
        ("parent", row.parent.clone().map(Json::from)),
        ("frame", frame),
    ];
    object.extend(more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    let figures = json!({
        "calls": row.calls, "unclosed": row.unclosed, "total_ns": row.total_ns, "self_ns": row.self_ns,
        "min_ns": row.min_ns, "mean_ns": row.mean_ns, "p50_ns": row.p50_ns, "p95_ns": row.p95_ns,
        "p99_ns": row.p99_ns, "max_ns": row.max_ns, "share": row.share, "exact": row.is_exact,
    });
    if let Json::Object(figures) = figures {
        object.extend(figures);
    }
    object.into()
}
