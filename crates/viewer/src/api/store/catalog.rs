//! The traces of a store in memory, with the columns that the list shows, filters and sorts.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
};

use traceloom_core::{Result, civil};
use traceloom_fleet::{each_row, number, text};
use traceloom_query::{Ask, fleet::PARTITIONS};

use super::answer::{StoreTag, StoredRow, TagValue};

/// Max number of listed traces, newest days first: each takes a hundred bytes of memory, and as much again for a long
/// path.
pub(super) const MAX_TRACES: usize = 250_000;
/// Max characters of a path or a finding; no file has a longer path.
const MAX_LETTERS: usize = 1_024;
/// Max number of values of a tag to choose from.
const MAX_VALUES: usize = 1_000;

/// All traces of a store.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    /// The columns with tags; the last one is the format.
    columns: Vec<String>,
    /// The values of each column, in order.
    values: Vec<Vec<String>>,
    pub(super) rows: Vec<Row>,
}

/// One trace.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) id: u64,
    pub(super) path: String,
    /// Numbers of the values of all columns.
    pub(super) tags: Vec<u32>,
    /// The hash of the content; empty if only the id is known.
    pub(super) hash: String,
    pub(super) start_unix_ns: Option<i64>,
    pub(super) duration_ns: Option<i64>,
    pub(super) counts: Counts,
    pub(super) bytes: u64,
    pub(super) errors: u64,
    pub(super) warnings: u64,
    /// Why it is in quarantine.
    pub(super) finding: Option<String>,
}

/// Number of rows of a trace.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) spans: u64,
    pub(super) lines: u64,
    pub(super) allocations: u64,
}

impl Counts {
    pub(super) fn all(self) -> u64 {
        self.spans.saturating_add(self.lines).saturating_add(self.allocations)
    }
}

/// Texts of the tags of a trace, before they are numbered.
type Texts = Vec<String>;

/// Collects traces.
#[derive(Default)]
struct Gatherer {
    columns: Vec<String>,
    rows: Vec<(Texts, Row)>,
}

impl Catalog {
    /// The traces of a fleet, and its files in quarantine.
    pub(super) fn of_fleet(fleet: &dyn Ask, partitions: &[String]) -> Result<Self> {
        let mut gatherer = Gatherer { columns: partitions.to_vec(), rows: Vec::new() };
        let width = partitions.len();
        let column = |table: &str| {
            let of_table = |name: &String| format!("{table}.\"{}\"", name.replace('"', "\"\""));
            partitions.iter().map(of_table).collect::<Vec<_>>().join(", ")
        };
        let file = |table: &str| {
            format!("{table}.trace_id, left({table}.path, {MAX_LETTERS}), {table}.content_hash, {table}.bytes")
        };
        let broken = format!(
            "select {}, {}, left(q.finding, {MAX_LETTERS}) from quarantine q order by q.day desc limit {MAX_TRACES}",
            column("q"),
            file("q")
        );
        each_row(fleet, &broken, |row| {
            let finding = Some(text(&row, width + 4));
            gatherer.rows.push((tags(&row, width, String::new()), Row { finding, ..of_file(&row, width) }));
        })?;
        let listed = MAX_TRACES.saturating_sub(gatherer.rows.len());
        let traces = format!(
            "select {}, {}, i.errors, i.warnings, t.format, t.unix_origin_ns, t.first_ts_ns, t.last_ts_ns \
             from ingested i join traces t on t.trace_id = i.trace_id order by i.day desc limit {listed}",
            column("i"),
            file("i")
        );
        let mut counts = counts(fleet, "select trace_id, sum(calls) from sums group by trace_id")?;
        each_row(fleet, &traces, |row| {
            let found = of_file(&row, width);
            let (errors, warnings) = (number(&row, width + 4).unwrap_or(0), number(&row, width + 5).unwrap_or(0));
            let times = Times::read(&row, width + 7);
            let (start_unix_ns, duration_ns) = (times.start(), times.duration());
            let counts = counts.remove(&found.id).unwrap_or_default();
            let found = Row { errors, warnings, start_unix_ns, duration_ns, counts, ..found };
            gatherer.rows.push((tags(&row, width, text(&row, width + 6)), found));
        })?;
        Ok(gatherer.finish())
    }

    /// The traces of a store without partitions, tagged with the day of their start.
    pub(super) fn of_store(store: &dyn Ask) -> Result<Self> {
        let mut gatherer = Gatherer { columns: vec![PARTITIONS[0].to_owned()], rows: Vec::new() };
        let mut counts = counts(store, "select trace_id, count(*) from spans group by trace_id")?;
        let mut problems: HashMap<u64, [u64; 2]> = HashMap::new();
        let sql = "select trace_id, sum(case severity when 'error' then 1 else 0 end), \
                   sum(case severity when 'warning' then 1 else 0 end) from findings group by trace_id";
        each_row(store, sql, |row| {
            let both = [1, 2].map(|column| number(&row, column).unwrap_or(0));
            problems.insert(number(&row, 0).unwrap_or(0), both);
        })?;
        let traces = format!(
            "select trace_id, left(path, {MAX_LETTERS}), '', bytes, format, unix_origin_ns, first_ts_ns, last_ts_ns \
             from traces order by unix_origin_ns desc limit {MAX_TRACES}"
        );
        each_row(store, &traces, |row| {
            let found = of_file(&row, 0);
            let times = Times::read(&row, 5);
            let [errors, warnings] = problems.remove(&found.id).unwrap_or_default();
            let counts = counts.remove(&found.id).unwrap_or_default();
            let (start_unix_ns, duration_ns) = (times.start(), times.duration());
            let texts = vec![start_unix_ns.map_or_else(String::new, day), text(&row, 4)];
            gatherer.rows.push((texts, Row { errors, warnings, start_unix_ns, duration_ns, counts, ..found }));
        })?;
        Ok(gatherer.finish())
    }

    /// The trace with an id.
    pub(super) fn find(&self, id: u64) -> Option<&Row> {
        self.rows.iter().find(|row| row.id == id)
    }

    /// The number of a column.
    pub(super) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// The number of a value of a column.
    pub(super) fn value(&self, column: usize, value: &str) -> Option<u32> {
        let values = self.values.get(column)?;
        values.binary_search_by(|known| known.as_str().cmp(value)).ok().map(|number| number as u32)
    }

    /// The tags of a trace, in the order of the columns.
    pub(super) fn tags<'c>(&'c self, row: &'c Row) -> impl Iterator<Item = &'c str> {
        let value = |(number, values): (&u32, &'c Vec<String>)| values.get(*number as usize).map_or("", String::as_str);
        row.tags.iter().zip(&self.values).map(value)
    }

    /// A trace as sent to the page.
    pub(super) fn shown(&self, row: &Row) -> StoredRow {
        StoredRow {
            id: row.id.to_string(),
            path: row.path.clone(),
            tags: self.tags(row).map(str::to_owned).collect(),
            start_unix_ns: row.start_unix_ns.map(|ns| ns.to_string()),
            duration_ns: row.duration_ns.map(|ns| ns as f64),
            spans: row.counts.spans,
            lines: row.counts.lines,
            allocations: row.counts.allocations,
            bytes: row.bytes,
            errors: row.errors,
            warnings: row.warnings,
            finding: row.finding.clone(),
        }
    }

    /// The values to choose from, sorted; the newest days and builds first.
    pub(super) fn choices(&self) -> Vec<StoreTag> {
        let day = self.column(PARTITIONS[0]);
        let of_column = |(number, column): (usize, &String)| {
            let values = self.values.get(number).map_or(&[] as &[String], Vec::as_slice);
            let mut counted = vec![(0_u32, 0_usize); values.len()];
            for row in &self.rows {
                if let Some((last, traces)) = row.tags.get(number).and_then(|value| counted.get_mut(*value as usize)) {
                    *last = (*last).max(day.and_then(|day| row.tags.get(day)).copied().unwrap_or(0));
                    *traces += 1;
                }
            }
            let mut order: Vec<usize> = (0..values.len()).collect();
            if PARTITIONS[1] != column && PARTITIONS.contains(&column.as_str()) {
                order.sort_by_key(|value| Reverse((counted[*value].0, *value)));
            }
            let shown = |value: usize| TagValue { value: values[value].clone(), traces: counted[value].1 };
            let values = order.into_iter().filter(|value| !values[*value].is_empty()).take(MAX_VALUES).map(shown);
            StoreTag { column: column.clone(), all: counted.len(), values: values.collect() }
        };
        self.columns.iter().enumerate().map(of_column).collect()
    }
}

impl Gatherer {
    /// Replaces tags with numbers, because most traces share their tags with many others.
    fn finish(mut self) -> Catalog {
        self.columns.push("format".to_owned());
        let column = |number: usize| {
            let texts: BTreeSet<&String> = self.rows.iter().filter_map(|(texts, _)| texts.get(number)).collect();
            texts.into_iter().cloned().collect()
        };
        let values: Vec<Vec<String>> = (0..self.columns.len()).map(column).collect();
        let numbers: Vec<BTreeMap<&str, u32>> =
            values.iter().map(|values| values.iter().map(String::as_str).zip(0..).collect()).collect();
        let numbered = |(texts, row): (Texts, Row)| {
            let number = |(text, numbers): (&String, &BTreeMap<&str, u32>)| numbers.get(text.as_str()).copied();
            Row { tags: texts.iter().zip(&numbers).filter_map(number).collect(), ..row }
        };
        let rows = self.rows.into_iter().map(numbered).collect();
        Catalog { columns: self.columns, values, rows }
    }
}

/// The tags at the start of a row, and the format.
fn tags(row: &[String], width: usize, format: String) -> Texts {
    row.iter().take(width).cloned().chain([format]).collect()
}

/// Id, path, hash and length, which follow the tags.
fn of_file(row: &[String], at: usize) -> Row {
    Row {
        id: number(row, at).unwrap_or(0),
        path: text(row, at + 1),
        hash: text(row, at + 2),
        bytes: number(row, at + 3).unwrap_or(0),
        ..Row::default()
    }
}

/// The count that a query sets.
type CountField = fn(&mut Counts) -> &mut u64;

/// Runs the given query for spans, and counts the log lines and allocations of each trace.
fn counts(store: &dyn Ask, spans: &str) -> Result<HashMap<u64, Counts>> {
    let mut counts: HashMap<u64, Counts> = HashMap::new();
    let counted = |table: &str| format!("select trace_id, count(*) from {table} group by trace_id");
    let places: [(String, CountField); 3] = [
        (spans.to_owned(), |counts| &mut counts.spans),
        (counted("logs"), |counts| &mut counts.lines),
        (counted("allocations"), |counts| &mut counts.allocations),
    ];
    for (sql, place) in places {
        each_row(store, &sql, |row| {
            let found = counts.entry(number(&row, 0).unwrap_or(0)).or_default();
            *place(found) = number(&row, 1).unwrap_or(0);
        })?;
    }
    Ok(counts)
}

/// The start and end of a trace.
struct Times {
    unix_origin_ns: Option<i64>,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
}

impl Times {
    fn read(row: &[String], at: usize) -> Self {
        Self { unix_origin_ns: number(row, at), first_ns: number(row, at + 1), last_ns: number(row, at + 2) }
    }

    fn start(&self) -> Option<i64> {
        self.unix_origin_ns.map(|origin| origin.saturating_add(self.first_ns.unwrap_or(0)))
    }

    fn duration(&self) -> Option<i64> {
        Some(self.last_ns?.saturating_sub(self.first_ns?))
    }
}

/// A day in UTC.
fn day(unix_ns: i64) -> String {
    let (year, month, day) = civil(unix_ns.div_euclid(86_400_000_000_000));
    format!("{year:04}-{month:02}-{day:02}")
}
