//! Merges the values of an attribute from several profiles.

use std::collections::BTreeMap;

/// One value for several if the attribute has a rule for it, otherwise all of them.
pub(super) fn joined(key: &[u8], values: &[Vec<u8>]) -> Vec<Vec<u8>> {
    match key {
        b"basetime" => values.iter().min_by(|a, b| parse(a).total_cmp(&parse(b))).cloned().into_iter().collect(),
        b"cumulative_overhead_ticks" => vec![number(values.iter().map(|value| parse(value)).sum()).into_bytes()],
        b"application" => vec![applications(values)],
        _ if key.starts_with(b"sawampersand_") => values.first().cloned().into_iter().collect(),
        _ => values.to_vec(),
    }
}

/// `a (2 runs), b and c`.
fn applications(values: &[Vec<u8>]) -> Vec<u8> {
    let mut counts: BTreeMap<&[u8], u64> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    let mut names: Vec<Vec<u8>> = counts
        .into_iter()
        .map(|(name, count)| match count {
            1 => name.to_vec(),
            _ => [name, format!(" ({count} runs)").as_bytes()].concat(),
        })
        .collect();
    let last = names.pop().unwrap_or_default();
    if names.is_empty() {
        return last;
    }
    [names.join(&b", "[..]), last].join(&b" and "[..])
}

/// The number in a value; 0 if there is none.
pub(super) fn parse(value: &[u8]) -> f64 {
    std::str::from_utf8(value).ok().and_then(|value| value.trim().parse().ok()).unwrap_or(0.0)
}

/// Formats a number as a value.
pub(super) fn number(value: f64) -> String {
    value.to_string()
}
