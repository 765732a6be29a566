//! Log lines by level and site, and the first and last errors.

use std::collections::VecDeque;

use arrow_array::RecordBatch;
use hashbrown::HashMap;
use traceloom_core::{Result, TimeRange};
use traceloom_model::{Columns, Filter, Flow, Table, TableSink, TableSource, select, sink};
use traceloom_passes::{Interner, NO_NUMBER, Translation, number_of};

use super::report::{ErrorLine, LevelCount, LogSiteUse, LogSummary};
use crate::advise::LogLevel as Level;

select! { struct Rows of logs { id, ts_ns, level_name, file, line, format } }
select! { struct Texts of logs { id, ts_ns, level_name, file, line, message } }

/// Max number of sites that are distinguished.
const MAX_SITES: usize = 1 << 14;
/// Number of errors listed from the start and from the end.
const ERRORS: usize = 5;
/// Max number of characters of a line that are kept.
const MAX_TEXT: usize = 300;

#[derive(Debug, Default)]
pub(super) struct Logs {
    names: Interner,
    formats: Translation,
    files: Translation,
    level_names: Translation,
    levels: HashMap<u32, u64>,
    /// By level, format, file and line.
    sites: HashMap<(u32, u32, u32, u32), u64>,
    lines: u64,
    first: Vec<(i64, Option<i64>)>,
    last: VecDeque<(i64, Option<i64>)>,
}

impl Logs {
    fn add(&mut self, view: &Rows<'_>) {
        let Self { names, .. } = self;
        let formats = self.formats.of(view.format.values(), names).to_vec();
        let files = self.files.of(view.file.values(), names).to_vec();
        let levels = self.level_names.of(view.level_name.values(), names).to_vec();
        let is_error: Vec<bool> =
            levels.iter().map(|level| names.get(*level).map(Level::of) == Some(Level::Error)).collect();
        for row in 0..view.rows {
            self.lines += 1;
            let key = view.level_name.keys()[row] as usize;
            *self.levels.entry(levels[key]).or_default() += 1;
            let (format, file) = (number_of(&formats, view.format.key(row)), number_of(&files, view.file.key(row)));
            let site = (levels[key], format, file, view.line.get(row).unwrap_or(NO_NUMBER));
            if self.sites.len() < MAX_SITES || self.sites.contains_key(&site) {
                *self.sites.entry(site).or_default() += 1;
            }
            if is_error[key] {
                self.keep((view.id.get(row), view.ts_ns.get(row)));
            }
        }
    }

    fn keep(&mut self, error: (i64, Option<i64>)) {
        if self.first.len() < ERRORS {
            return self.first.push(error);
        }
        if self.last.len() == ERRORS {
            self.last.pop_front();
        }
        self.last.push_back(error);
    }

    /// The summary, if there are lines; the texts of the errors need another pass.
    pub(super) fn finish(self, trace: &dyn TableSource) -> Result<Option<LogSummary>> {
        if self.lines == 0 {
            return Ok(None);
        }
        let mut levels: Vec<LevelCount> = self
            .levels
            .iter()
            .map(|(level, lines)| LevelCount { level: self.text(*level).unwrap_or_default(), lines: *lines })
            .collect();
        let badness = |level: &str| std::cmp::Reverse(Level::of(level));
        levels.sort_by(|one, other| (badness(&one.level), &one.level).cmp(&(badness(&other.level), &other.level)));
        let mut sites: Vec<LogSiteUse> = self.sites.iter().map(|(site, lines)| self.site(*site, *lines)).collect();
        sites.sort_by(|one, other| {
            let rank = |site: &LogSiteUse| (badness(&site.level), std::cmp::Reverse(site.lines));
            rank(one).cmp(&rank(other)).then_with(|| (&one.format, &one.place).cmp(&(&other.format, &other.place)))
        });
        let all_sites = sites.len();
        sites.truncate(super::ROWS);
        Ok(Some(LogSummary {
            lines: self.lines,
            levels,
            sites,
            all_sites,
            first_errors: texts(trace, &self.first)?,
            last_errors: texts(trace, &self.last.into_iter().collect::<Vec<_>>())?,
        }))
    }

    fn text(&self, number: u32) -> Option<String> {
        self.names.get(number).map(str::to_owned)
    }

    fn site(&self, (level, format, file, line): (u32, u32, u32, u32), lines: u64) -> LogSiteUse {
        let line = (line != NO_NUMBER).then_some(line);
        LogSiteUse {
            level: self.text(level).unwrap_or_default(),
            format: self.text(format),
            place: place(self.names.get(file), line),
            lines,
        }
    }
}

fn place(file: Option<&str>, line: Option<u32>) -> Option<String> {
    let line = line.map_or_else(String::new, |line| format!(":{line}"));
    file.map(|file| format!("{file}{line}"))
}

sink! {
    impl for Logs as logs {
        Rows(rows) => logs.add(rows),
    }
}

/// The lines of these rows; texts are rendered only if they are shown, because that is slow.
fn texts(trace: &dyn TableSource, wanted: &[(i64, Option<i64>)]) -> Result<Vec<ErrorLine>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let times: Option<Vec<i64>> = wanted.iter().map(|(_, ts_ns)| *ts_ns).collect();
    let range = times.and_then(|times| Some((*times.iter().min()?, times.iter().max()?.saturating_add(1))));
    let range = range.map_or(TimeRange::ALL, |(from, to)| TimeRange::new(Some(from), Some(to)));
    let mut lines = Lines { wanted: wanted.iter().map(|(id, _)| *id).collect(), found: Vec::new() };
    trace.pour(&Filter::in_range(range), &mut lines)?;
    Ok(lines.found)
}

struct Lines {
    wanted: Vec<i64>,
    found: Vec<ErrorLine>,
}

impl TableSink for Lines {
    fn wants(&self, table: Table) -> Columns {
        if table == Table::Logs { Texts::COLUMNS } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> Result<Flow> {
        let view = Texts::of(&batch)?;
        for row in (0..view.rows).filter(|row| self.wanted.contains(&view.id.get(*row))) {
            self.found.push(ErrorLine {
                ts_ns: view.ts_ns.get(row),
                level: view.level_name.get(row).to_owned(),
                message: view.message.get(row).chars().take(MAX_TEXT).collect(),
                place: place(view.file.get(row), view.line.get(row)),
            });
        }
        Ok(if self.found.len() == self.wanted.len() { Flow::Stop } else { Flow::Continue })
    }
}
