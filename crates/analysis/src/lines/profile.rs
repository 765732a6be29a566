//! A line profile.

use std::collections::BTreeMap;

use super::Index;

/// The lines and subs of one trace.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Id of the trace.
    pub trace_id: u64,
    /// Path of the trace.
    pub path: String,
    /// Format of the trace.
    pub format: String,
    /// Attributes stored in the file.
    pub attributes: BTreeMap<String, String>,
    /// Files and string evals by id; a negative id is for data that belongs to no file.
    pub files: BTreeMap<i64, File>,
    /// Subs by name.
    pub subs: BTreeMap<String, Sub>,
}

/// A source file or a string eval.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Path or name.
    pub name: String,
    /// For an eval: the file and line that called it.
    pub parent: Option<(i64, u32)>,
    /// Flags of the format, as a number.
    pub flags: Option<u64>,
    /// Source text by line.
    pub source: BTreeMap<u32, String>,
    /// Statements by line.
    pub lines: BTreeMap<u32, Cost>,
    /// Statements by first line of the block.
    pub blocks: BTreeMap<u32, Cost>,
    /// Statements by first line of the sub.
    pub sub_lines: BTreeMap<u32, Cost>,
    /// String evals in this file.
    pub evals: Vec<i64>,
    /// Evals that were merged into this one.
    pub merged: Vec<i64>,
}

/// How statements are added up.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Level {
    /// By first line of the block.
    Block,
    /// By line.
    #[default]
    Line,
    /// By first line of the sub.
    Sub,
}

impl Level {
    /// The id in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Line => "line",
            Self::Sub => "sub",
        }
    }
}

/// The cost of statements.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Cost {
    /// Number of executions.
    pub count: u64,
    /// Time, including called subs if the profiler distinguishes them.
    pub incl_ns: i64,
    /// Time without called subs.
    pub excl_ns: Option<i64>,
}

impl Cost {
    pub(super) fn add(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.incl_ns = self.incl_ns.saturating_add(other.incl_ns);
        self.excl_ns = match (self.excl_ns, other.excl_ns) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
    }

    /// Self time if known, otherwise the time.
    pub fn self_ns(&self) -> i64 {
        self.excl_ns.unwrap_or(self.incl_ns)
    }
}

/// The cost of calls.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Figures {
    /// Calls.
    pub count: u64,
    /// Total time of outermost calls.
    pub incl_ns: i64,
    /// Self time.
    pub excl_ns: i64,
    /// Total time of recursive calls.
    pub recursive_ns: i64,
    /// Deepest recursion.
    pub depth: u64,
}

impl Figures {
    pub(super) fn add(&mut self, other: &Self) {
        self.recursive_ns = self.recursive_ns.saturating_add(other.recursive_ns);
        self.add_but_recursion(other);
    }

    /// Recursive times of merged evals overlap, so the larger one is kept, as in NYTProf.
    pub(super) fn merge(&mut self, other: &Self) {
        self.recursive_ns = self.recursive_ns.max(other.recursive_ns);
        self.add_but_recursion(other);
    }

    fn add_but_recursion(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.incl_ns = self.incl_ns.saturating_add(other.incl_ns);
        self.excl_ns = self.excl_ns.saturating_add(other.excl_ns);
        self.depth = self.depth.max(other.depth);
    }
}

/// The kind of a sub.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SubKind {
    /// An operator of the interpreter, timed like a sub.
    Opcode,
    /// Written in the language of the program.
    #[default]
    Perl,
    /// A sub without source lines.
    Xsub,
}

impl SubKind {
    /// From the id.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Opcode, Self::Perl, Self::Xsub].into_iter().find(|kind| kind.as_str() == word)
    }

    /// The id that NYTProf uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opcode => "opcode",
            Self::Perl => "perl",
            Self::Xsub => "xsub",
        }
    }
}

/// A sub, summed over its callers.
#[derive(Clone, Debug, Default)]
pub struct Sub {
    /// The file with its source.
    pub file: Option<i64>,
    /// First line.
    pub first_line: Option<u32>,
    /// Last line.
    pub last_line: Option<u32>,
    /// The kind of sub.
    pub kind: SubKind,
    /// All calls.
    pub total: Figures,
    /// Calls by file, line and caller, sorted.
    pub callers: Vec<Caller>,
    /// Subs that were merged into this one.
    pub merged: Vec<String>,
}

/// Calls of one caller from one place.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Caller {
    /// File of the calls, if known.
    pub file: Option<i64>,
    /// Line of the calls.
    pub line: Option<u32>,
    /// The calling sub.
    pub by: Option<String>,
    /// Cost of the calls.
    pub figures: Figures,
}

/// Calls from one place, by any caller.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CallSite<'p> {
    /// File of the calls, if known.
    pub file: Option<i64>,
    /// Line of the calls.
    pub line: Option<u32>,
    /// The calling subs, sorted.
    pub by: Vec<&'p str>,
    /// Cost of the calls.
    pub figures: Figures,
}

impl Sub {
    /// Calls by place, sorted by file and line.
    pub fn places(&self) -> impl Iterator<Item = CallSite<'_>> {
        self.callers.chunk_by(|one, other| (one.file, one.line) == (other.file, other.line)).map(|callers| {
            let mut place = CallSite { file: callers[0].file, line: callers[0].line, ..CallSite::default() };
            for caller in callers {
                place.by.extend(caller.by.as_deref());
                place.figures.add(&caller.figures);
            }
            place
        })
    }

    /// Whether the sub was called.
    pub fn is_called(&self) -> bool {
        self.total.count > 0
    }
}

impl File {
    /// Whether this is a string eval.
    pub const fn is_eval(&self) -> bool {
        self.parent.is_some()
    }

    /// Statements at a level, by line.
    pub const fn costs(&self, level: Level) -> &BTreeMap<u32, Cost> {
        match level {
            Level::Block => &self.blocks,
            Level::Line => &self.lines,
            Level::Sub => &self.sub_lines,
        }
    }

    /// All statements.
    pub fn total(&self) -> Cost {
        let mut total = Cost::default();
        self.lines.values().for_each(|cost| total.add(cost));
        total
    }
}

impl Profile {
    /// Whether the profile is empty.
    pub fn is_empty(&self) -> bool {
        self.subs.is_empty() && self.files.values().all(|file| file.lines.is_empty() && file.source.is_empty())
    }

    /// Whether statements are also added up by block and sub.
    pub fn has_blocks(&self) -> bool {
        self.files.values().any(|file| !file.blocks.is_empty() || !file.sub_lines.is_empty())
    }

    /// An index of the profile by file.
    pub fn index(&self) -> Index<'_> {
        Index::of(self)
    }

    /// The ids of the files, most time first.
    pub fn files_by_time(&self) -> Vec<i64> {
        let mut files: Vec<i64> = self.files.keys().copied().collect();
        files.sort_by_cached_key(|id| (std::cmp::Reverse(self.files[id].total().self_ns()), *id));
        files
    }

    /// Called subs, most self time first.
    pub fn subs_by_time(&self) -> Vec<(&str, &Sub)> {
        let called = self.subs.iter().filter(|(_, sub)| sub.is_called());
        let mut subs: Vec<_> = called.map(|(name, sub)| (name.as_str(), sub)).collect();
        subs.sort_by(|(one, a), (other, b)| b.total.excl_ns.cmp(&a.total.excl_ns).then(one.cmp(other)));
        subs
    }

    /// Sets the source of a file that has none.
    pub fn add_source(&mut self, file: i64, text: &str) {
        if let Some(file) = self.files.get_mut(&file).filter(|file| file.source.is_empty()) {
            file.source = (1..).zip(text.lines().map(str::to_owned)).collect();
        }
    }
}
