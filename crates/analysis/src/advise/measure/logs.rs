//! Log lines by site and by time.

use hashbrown::HashMap;
use traceloom_model::select;
use traceloom_passes::{Interner, NO_NUMBER, Translation, Words, number_of};

use super::clock::{CELLS, Clock, halve};

select! { pub(in crate::advise) struct LogRows of logs { ts_ns, level_name, file, line, format } }

/// Measurements of log lines.
#[derive(Debug, Default)]
pub(in crate::advise) struct Logs {
    formats: Translation,
    files: Translation,
    levels: Words<Level>,
    pub(in crate::advise) sites: HashMap<LogSite, SiteLines>,
    pub(in crate::advise) clock: Clock,
    pub(in crate::advise) lines: u64,
}

/// A log site: the numbers of its format string and file, and the line; [`NO_NUMBER`] if unknown.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(in crate::advise) struct LogSite {
    pub(in crate::advise) format: u32,
    pub(in crate::advise) file: u32,
    pub(in crate::advise) line: u32,
}

/// The lines of one site.
#[derive(Debug)]
pub(in crate::advise) struct SiteLines {
    pub(in crate::advise) level: Level,
    pub(in crate::advise) count: u64,
    pub(in crate::advise) cells: [u64; CELLS],
    pub(in crate::advise) first_ns: i64,
    pub(in crate::advise) last_ns: i64,
}

/// The severity of a line.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Level {
    /// Less than a warning.
    Other,
    /// A warning.
    Warning,
    /// An error, or worse.
    Error,
}

impl Level {
    /// From the name that the program gave to the level.
    pub fn of(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let has = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        match name.as_str() {
            "e" | "f" => Self::Error,
            "w" => Self::Warning,
            _ if has(&["err", "fatal", "crit", "alert", "emerg", "panic", "severe"]) => Self::Error,
            _ if has(&["warn"]) => Self::Warning,
            _ => Self::Other,
        }
    }
}

const MAX_SITES: usize = 1 << 14;

impl Logs {
    pub(in crate::advise) fn add(&mut self, view: &LogRows<'_>, names: &mut Interner) {
        let formats = self.formats.of(view.format.values(), names).to_vec();
        let files = self.files.of(view.file.values(), names).to_vec();
        let levels = self.levels.of(view.level_name.values(), |name| Some(Level::of(name))).to_vec();
        for row in 0..view.rows {
            let Some(ts_ns) = view.ts_ns.get(row) else { continue };
            self.lines += 1;
            let Self { sites, clock, .. } = self;
            let cell = clock.cell(ts_ns, || {
                sites.values_mut().for_each(|site| halve(&mut site.cells, |one, other| one + other));
            });
            let site = LogSite {
                format: number_of(&formats, view.format.key(row)),
                file: number_of(&files, view.file.key(row)),
                line: view.line.get(row).unwrap_or(NO_NUMBER),
            };
            if sites.len() >= MAX_SITES && !sites.contains_key(&site) {
                continue;
            }
            let level = levels[view.level_name.keys()[row] as usize].unwrap_or(Level::Other);
            let site = sites.entry(site).or_insert_with(|| SiteLines {
                level,
                count: 0,
                cells: [0; CELLS],
                first_ns: ts_ns,
                last_ns: ts_ns,
            });
            site.count += 1;
            site.cells[cell] += 1;
            site.last_ns = site.last_ns.max(ts_ns);
        }
    }
}

impl LogSite {
    /// The format string, or else the location.
    pub(in crate::advise) fn name(&self, names: &Interner) -> String {
        let format = names.get(self.format).map(str::to_owned);
        format.or_else(|| self.place(names)).unwrap_or_else(|| "(unknown site)".to_owned())
    }

    /// `file:line`.
    pub(in crate::advise) fn place(&self, names: &Interner) -> Option<String> {
        let file = names.get(self.file)?;
        Some(if self.line == NO_NUMBER { file.to_owned() } else { format!("{file}:{}", self.line) })
    }
}
