//! The format, contents and problems of a file.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use traceloom_core::{Data, Result};
use traceloom_model::{Columns, Flow, Table, TableSink, Wanted, select};
use traceloom_passes::counted_columns;

use super::report::{About, Badge, Health, Problem, RowCount};

select! {
    struct Traces of traces { path, format, version, producer, clock, first_ts_ns, last_ts_ns, bytes }
}
select! { struct Findings of findings { code, severity, position, message } }

/// Tables whose rows count as contents of a trace; the others describe these.
static COUNTED: &[Table] = &[
    Table::Processes,
    Table::Threads,
    Table::Spans,
    Table::Events,
    Table::Counters,
    Table::Logs,
    Table::Allocations,
    Table::Frees,
    Table::Switches,
    Table::Calls,
    Table::LineTimes,
    Table::Links,
    Table::Resources,
];

#[derive(Debug, Default)]
pub(super) struct Facts {
    about: About,
    rows: BTreeMap<usize, u64>,
    problems: BTreeMap<String, Problem>,
}

impl Facts {
    pub(super) fn finish(self) -> (About, Health) {
        let counts = COUNTED.iter().enumerate().filter_map(|(number, table)| {
            self.rows.get(&number).map(|rows| RowCount { table: table.name(), rows: *rows })
        });
        let about = About { counts: counts.collect(), ..self.about };
        let mut problems: Vec<Problem> = self.problems.into_values().collect();
        problems.sort_by_key(|problem| std::cmp::Reverse(rank(&problem.severity)));
        let badge = match () {
            () if problems.iter().any(|problem| is_data_missing(&problem.code, &problem.severity)) => {
                Badge::DataMissing
            }
            () if problems.iter().any(|problem| problem.severity == "error") => Badge::Damaged,
            () => Badge::Fine,
        };
        (about, Health { badge, problems })
    }

    fn traces(&mut self, view: &Traces<'_>) {
        for row in 0..view.rows {
            let format = view.format.get(row);
            let known = traceloom_mapping::FORMATS.iter().find(|mapping| mapping.format.id == format);
            let (first_ns, last_ns) = (view.first_ts_ns.get(row), view.last_ts_ns.get(row));
            let duration = first_ns.zip(last_ns).map(|(first, last)| last.saturating_sub(first).max(0) as u64);
            self.about = About {
                file: view.path.get(row).to_owned(),
                format: format.to_owned(),
                format_name: known.map_or(format, |mapping| mapping.format.name).to_owned(),
                version: view.version.get(row).to_owned(),
                producer: view.producer.get(row).map(str::to_owned),
                bytes: view.bytes.get(row),
                clock: view.clock.get(row).to_owned(),
                first_ns,
                last_ns,
                duration_ns: duration,
                counts: Vec::new(),
            };
        }
    }

    fn findings(&mut self, view: &Findings<'_>) {
        for row in 0..view.rows {
            let code = view.code.get(row);
            let problem = self.problems.entry(code.to_owned()).or_insert_with(|| Problem {
                code: code.to_owned(),
                severity: view.severity.get(row).to_owned(),
                offset: view.position.get(row),
                message: view.message.get(row).to_owned(),
                count: 0,
            });
            problem.count += 1;
        }
    }
}

/// Whether a row of `findings` means that data is missing; a compression problem always does.
pub fn is_data_missing(code: &str, severity: &str) -> bool {
    let formats = traceloom_open::FORMATS.iter().flat_map(|format| format.rules());
    let mut rules = formats.chain(traceloom_mapping::RULES);
    let rule = rules.find(|rule| rule.code == code);
    rule.map_or(severity == "error", |rule| rule.data == Data::Missing)
}

fn rank(severity: &str) -> u8 {
    match severity {
        "error" => 2,
        "warning" => 1,
        _ => 0,
    }
}

impl TableSink for Facts {
    fn wants(&self, table: Table) -> Columns {
        let counted = if COUNTED.contains(&table) { counted_columns(table) } else { Columns::NONE };
        let all = Wanted::nothing()
            .and(table, counted)
            .and(Table::Traces, Traces::COLUMNS)
            .and(Table::Findings, Findings::COLUMNS);
        all.columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        match table {
            Table::Traces => self.traces(&Traces::of(&batch)?),
            Table::Findings => self.findings(&Findings::of(&batch)?),
            _ => {
                if let Some(number) = COUNTED.iter().position(|counted| *counted == table) {
                    *self.rows.entry(number).or_default() += batch.num_rows() as u64;
                }
            }
        }
        Ok(Flow::Continue)
    }
}
