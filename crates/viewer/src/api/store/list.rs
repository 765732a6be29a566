//! Filters and sorts the traces.

use std::cmp::Ordering;

use super::{
    answer::{StoredSort, StoredState, StoredTraces, TracesQuery},
    catalog::{Catalog, Row},
};

/// Max rows per answer.
const MAX_ROWS: usize = 500;

/// The numbers of the matching traces, in order.
pub(super) fn arranged(catalog: &Catalog, query: &TracesQuery) -> Vec<u32> {
    let words: Vec<String> = query.text.split_whitespace().map(str::to_lowercase).collect();
    // No trace has a column or a value that the store does not have.
    let wanted: Option<Vec<(usize, Vec<u32>)>> = query
        .tags
        .iter()
        .filter(|(_, values)| !values.is_empty())
        .map(|(column, values)| {
            let number = catalog.column(column)?;
            Some((number, values.iter().filter_map(|value| catalog.value(number, value)).collect()))
        })
        .collect();
    let Some(wanted) = wanted else { return Vec::new() };
    let is_wanted = |row: &Row| {
        let has_tags =
            || wanted.iter().all(|(column, values)| row.tags.get(*column).is_some_and(|value| values.contains(value)));
        is_in_state(row, query.state) && has_tags() && has_words(catalog, row, &words)
    };
    let rows = catalog.rows.iter().enumerate().filter(|(_, row)| is_wanted(row));
    let mut order: Vec<u32> = rows.map(|(number, _)| number as u32).collect();
    let column = catalog.column(&query.column);
    order.sort_by(|one, other| {
        let [one, other] = [one, other].map(|number| &catalog.rows[*number as usize]);
        let ordering = compared(one, other, query.sort, column);
        if query.is_down { ordering.reverse() } else { ordering }.then_with(|| one.path.cmp(&other.path))
    });
    order
}

/// A range of the list.
pub(super) fn page(catalog: &Catalog, order: &[u32], query: &TracesQuery) -> StoredTraces {
    let rows = order.iter().skip(query.skip).take(query.take.min(MAX_ROWS));
    let shown = rows.filter_map(|number| catalog.rows.get(*number as usize)).map(|row| catalog.shown(row));
    StoredTraces { total: order.len(), rows: shown.collect() }
}

fn is_in_state(row: &Row, state: StoredState) -> bool {
    match state {
        StoredState::All => true,
        StoredState::Damaged => row.finding.is_none() && row.errors + row.warnings > 0,
        StoredState::Fine => row.finding.is_none() && row.errors + row.warnings == 0,
        StoredState::Quarantined => row.finding.is_some(),
    }
}

fn has_words(catalog: &Catalog, row: &Row, words: &[String]) -> bool {
    if words.is_empty() {
        return true;
    }
    let mut texts = row.path.to_lowercase();
    for text in catalog.tags(row).chain(row.finding.as_deref()) {
        texts.push('\n');
        texts.push_str(&text.to_lowercase());
    }
    words.iter().all(|word| texts.contains(word))
}

fn compared(one: &Row, other: &Row, sort: StoredSort, column: Option<usize>) -> Ordering {
    let tag = |row: &Row| column.and_then(|column| row.tags.get(column)).copied();
    // A file that cannot be read ranks above any problem in a file that can.
    let problems = |row: &Row| (row.finding.is_some(), row.errors, row.warnings);
    match sort {
        StoredSort::Bytes => one.bytes.cmp(&other.bytes),
        StoredSort::Duration => one.duration_ns.cmp(&other.duration_ns),
        StoredSort::Entries => one.counts.all().cmp(&other.counts.all()),
        StoredSort::Path => one.path.cmp(&other.path),
        StoredSort::Problems => problems(one).cmp(&problems(other)),
        StoredSort::Start => one.start_unix_ns.cmp(&other.start_unix_ns),
        StoredSort::Tag => tag(one).cmp(&tag(other)),
    }
}
