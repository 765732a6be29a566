//! A profile as reports show it.

use std::collections::BTreeMap;

use super::Index;

/// What one trace knows about its lines and subs.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The trace.
    pub trace_id: u64,
    /// Where it was.
    pub path: String,
    /// Its format.
    pub format: String,
    /// What the file says about itself.
    pub attributes: BTreeMap<String, String>,
    /// Files and string evals by their number; a negative one stands for what belongs to no file.
    pub files: BTreeMap<i64, File>,
    /// Subs by name.
    pub subs: BTreeMap<String, Sub>,
}

/// A source file or a string eval.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// Path or name.
    pub name: String,
    /// Of an eval: the file and the line that it was called from.
    pub parent: Option<(i64, u32)>,
    /// Flags, as a number of the format.
    pub flags: Option<u64>,
    /// Source text by line.
    pub source: BTreeMap<u32, String>,
    /// Statements by line.
    pub lines: BTreeMap<u32, Cost>,
    /// Statements by first line of the block.
    pub blocks: BTreeMap<u32, Cost>,
    /// Statements by first line of the sub.
    pub sub_lines: BTreeMap<u32, Cost>,
    /// String evals in it.
    pub evals: Vec<i64>,
    /// Evals whose figures were added to those of this one.
    pub merged: Vec<i64>,
}

/// By what statements are added up.
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
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Block => "block",
            Self::Line => "line",
            Self::Sub => "sub",
        }
    }
}

/// What statements cost.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Cost {
    /// How often one ran.
    pub count: u64,
    /// Time; with what was called, where the profiler tells these apart.
    pub incl_ns: i64,
    /// Time without what was called.
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

    /// The time that is its own, where that is known.
    pub fn own_ns(&self) -> i64 {
        self.excl_ns.unwrap_or(self.incl_ns)
    }
}

/// What calls cost.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Figures {
    /// Calls.
    pub count: u64,
    /// Time in the sub and what it called, of outermost calls.
    pub incl_ns: i64,
    /// Time in the sub alone.
    pub excl_ns: i64,
    /// Time in the sub and what it called, of recursive calls.
    pub recursive_ns: i64,
    /// Deepest recursion.
    pub depth: u64,
}

impl Figures {
    pub(super) fn add(&mut self, other: &Self) {
        self.recursive_ns = self.recursive_ns.saturating_add(other.recursive_ns);
        self.add_but_recursion(other);
    }

    /// Recursive times of evals that were merged overlap, so the larger one is kept, as the original does.
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

/// What a sub is written in.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum SubKind {
    /// An operator of the interpreter, timed like a sub.
    Opcode,
    /// The language of the program.
    #[default]
    Perl,
    /// Something that has no source lines.
    Xsub,
}

impl SubKind {
    /// From the word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Opcode, Self::Perl, Self::Xsub].into_iter().find(|kind| kind.as_str() == word)
    }

    /// The word that the original uses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opcode => "opcode",
            Self::Perl => "perl",
            Self::Xsub => "xsub",
        }
    }
}

/// A sub, added up over its callers.
#[derive(Clone, Debug, Default)]
pub struct Sub {
    /// The file with its source.
    pub file: Option<i64>,
    /// First line.
    pub first_line: Option<u32>,
    /// Last line.
    pub last_line: Option<u32>,
    /// What it is written in.
    pub kind: SubKind,
    /// All calls.
    pub total: Figures,
    /// Calls by file, line and caller, sorted.
    pub callers: Vec<Caller>,
    /// Subs whose figures were added to those of this one.
    pub merged: Vec<String>,
}

/// Calls of one caller from one place.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Caller {
    /// File of the calls, where it is known.
    pub file: Option<i64>,
    /// Line of the calls.
    pub line: Option<u32>,
    /// The calling sub.
    pub by: Option<String>,
    /// What they cost.
    pub figures: Figures,
}

/// Calls from one place, whoever called.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Place<'p> {
    /// File of the calls, where it is known.
    pub file: Option<i64>,
    /// Line of the calls.
    pub line: Option<u32>,
    /// The calling subs, sorted.
    pub by: Vec<&'p str>,
    /// What they cost.
    pub figures: Figures,
}

impl Sub {
    /// Calls by place, sorted by file and line.
    pub fn places(&self) -> impl Iterator<Item = Place<'_>> {
        self.callers.chunk_by(|one, other| (one.file, one.line) == (other.file, other.line)).map(|callers| {
            let mut place = Place { file: callers[0].file, line: callers[0].line, ..Place::default() };
            for caller in callers {
                place.by.extend(caller.by.as_deref());
                place.figures.add(&caller.figures);
            }
            place
        })
    }

    /// Whether it was called.
    pub fn is_called(&self) -> bool {
        self.total.count > 0
    }
}

impl File {
    /// Whether it is a string eval.
    pub const fn is_eval(&self) -> bool {
        self.parent.is_some()
    }

    /// Statements by line of a level.
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
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.subs.is_empty() && self.files.values().all(|file| file.lines.is_empty() && file.source.is_empty())
    }

    /// Whether statements are also added up by block and sub.
    pub fn has_blocks(&self) -> bool {
        self.files.values().any(|file| !file.blocks.is_empty() || !file.sub_lines.is_empty())
    }

    /// The same, seen from the files.
    pub fn index(&self) -> Index<'_> {
        Index::of(self)
    }

    /// The ids of the files, the most time first.
    pub fn files_by_time(&self) -> Vec<i64> {
        let mut files: Vec<i64> = self.files.keys().copied().collect();
        files.sort_by_cached_key(|id| (std::cmp::Reverse(self.files[id].total().own_ns()), *id));
        files
    }

    /// Subs that were called, the most self time first.
    pub fn subs_by_time(&self) -> Vec<(&str, &Sub)> {
        let called = self.subs.iter().filter(|(_, sub)| sub.is_called());
        let mut subs: Vec<_> = called.map(|(name, sub)| (name.as_str(), sub)).collect();
        subs.sort_by(|(one, a), (other, b)| b.total.excl_ns.cmp(&a.total.excl_ns).then(one.cmp(other)));
        subs
    }

    /// Gives a file its source where none was stored.
    pub fn add_source(&mut self, file: i64, text: &str) {
        if let Some(file) = self.files.get_mut(&file).filter(|file| file.source.is_empty()) {
            file.source = (1..).zip(text.lines().map(str::to_owned)).collect();
        }
    }
}
