//! Advice as JSON.

use std::path::Path;

use serde_json::{Value as Json, json};

use super::Advice;

/// The advice about a trace as JSON.
pub fn to_json(path: &Path, all: &[Advice]) -> Json {
    let list: Vec<Json> = (1..).zip(all).map(|(rank, advice)| one(rank, advice)).collect();
    json!({"file": path.to_string_lossy(), "advice": list})
}

/// `subject` and `weight` are the earlier names of `blamed` and `severity`.
fn one(rank: usize, advice: &Advice) -> Json {
    let mut object = serde_json::to_value(advice).unwrap_or_default();
    object["rank"] = rank.into();
    object["subject"] = advice.subject.as_str().into();
    object["weight"] = advice.weight.as_str().into();
    object
}
