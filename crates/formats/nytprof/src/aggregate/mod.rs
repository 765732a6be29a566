//! The sums that Devel::NYTProf's loader computes from a stream: per line, block and sub, per call site, per run.

mod evals;
mod lines;
mod load;
mod tree;

use std::{collections::BTreeMap, sync::Arc};

use traceloom_core::{Options, Result, Source};

pub use self::{
    load::Loader,
    tree::{CallTree, CallTreeBuilder},
};

use crate::{
    raw::{DEFAULT_TICKS_PER_SEC, FidFlags},
    read,
};

/// A name, shared by everything that refers to it.
pub type Name = Arc<[u8]>;

/// Loads a profile like Devel::NYTProf without eval merging; [`Profile::merge_evals`] does the rest.
pub fn load(source: Source, options: &Options) -> Result<Profile> {
    let mut reader = read::open(source, options)?;
    load::from_reader(&mut reader)
}

/// Loads the remaining records of a reader, which keeps its findings.
pub fn from_reader(reader: &mut crate::Reader) -> Result<Profile> {
    load::from_reader(reader)
}

/// A loaded profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Attributes of the run; for a repeated one, the last value.
    pub attributes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Options of the profiler.
    pub options: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Ticks per second, after the last statement.
    pub ticks_per_sec: Option<u32>,
    /// Files and evals by number.
    pub files: BTreeMap<u32, File>,
    /// Subs by name.
    pub subs: BTreeMap<Name, Sub>,
    /// Whether statements have block and sub lines.
    pub has_blocks: bool,
    /// Number of statements.
    pub stmts_measured: u64,
    /// Number of statements that were already counted.
    pub stmts_discounted: u64,
    /// Seconds in statements.
    pub stmts_seconds: f64,
    /// Number of sub calls.
    pub sub_calls: u64,
    /// Start of the last process, in seconds since 1970.
    pub start_time: Option<f64>,
    /// End of the last process, in seconds since 1970.
    pub end_time: Option<f64>,
    /// Seconds from start to end, summed over all processes.
    pub duration: f64,
    /// Whether every process that started has ended.
    pub is_complete: bool,
}

impl Profile {
    /// Seconds profiled, without the profiler's overhead; `None` if no process ended.
    pub fn active_seconds(&self) -> Option<f64> {
        let overhead = self.attributes.get(&b"cumulative_overhead_ticks"[..]);
        let overhead = overhead.and_then(|ticks| std::str::from_utf8(ticks).ok()?.trim().parse::<f64>().ok());
        let per_second = self.ticks_per_sec.filter(|ticks| *ticks > 0).unwrap_or(DEFAULT_TICKS_PER_SEC);
        self.end_time.map(|_| self.duration - overhead.unwrap_or(0.0) / f64::from(per_second))
    }

    /// Calls made by each file, by line and name of the sub called.
    pub fn calls_by_file(&self) -> BTreeMap<u32, BTreeMap<(u32, &Name), &Calls>> {
        let mut by_file: BTreeMap<u32, BTreeMap<_, _>> = BTreeMap::new();
        for (name, sub) in &self.subs {
            for calls in &sub.callers {
                by_file.entry(calls.fid).or_default().insert((calls.line, name), calls);
            }
        }
        by_file
    }

    /// Merges string evals that differ only in their number, as in reports.
    pub fn merge_evals(&mut self) {
        evals::merge(self);
    }
}

/// A file or string eval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct File {
    /// Path, or `(eval N)[file:line]`.
    pub name: Vec<u8>,
    /// For an eval: the file that contains it.
    pub eval_fid: Option<u32>,
    /// For an eval: the line that contains it.
    pub eval_line: u32,
    /// Flags of the file.
    pub flags: FidFlags,
    /// Size in bytes.
    pub size: u32,
    /// Time of the last change.
    pub mtime: u32,
    /// String evals in it, in the order of the stream.
    pub evals: Vec<u32>,
    /// Evals whose sums were added to this one's.
    pub merged_fids: Vec<u32>,
    /// The stored source.
    pub source: SourceDigest,
    /// Statements by line, sorted.
    pub lines: Vec<(u32, Line)>,
    /// Statements by first line of the block, sorted.
    pub blocks: Vec<(u32, Line)>,
    /// Statements by first line of the sub, sorted.
    pub sub_lines: Vec<(u32, Line)>,
    /// Subs whose source is here, sorted.
    pub subs_defined: Vec<Name>,
}

impl File {
    /// Whether it is a string eval.
    pub const fn is_eval(&self) -> bool {
        self.eval_fid.is_some()
    }

    /// Whether it represents no source at all.
    pub const fn is_fake(&self) -> bool {
        self.flags.contains(FidFlags::IS_FAKE)
    }

    /// Whether it is a file on disk.
    pub const fn is_file(&self) -> bool {
        !self.is_fake() && !self.is_eval() && !self.flags.contains(FidFlags::IS_EVAL)
    }

    /// Statements of one line.
    pub fn line(&self, number: u32) -> Option<Line> {
        let at = self.lines.binary_search_by_key(&number, |(line, _)| *line).ok()?;
        self.lines.get(at).map(|(_, line)| *line)
    }

    /// Statements and seconds summed over all lines.
    pub fn total(&self) -> Line {
        self.lines.iter().fold(Line::default(), |sum, (_, line)| Line {
            seconds: sum.seconds + line.seconds,
            count: sum.count + line.count,
        })
    }
}

/// Statements of a line, block or sub.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line {
    /// Seconds in them.
    pub seconds: f64,
    /// Number of statements.
    pub count: i64,
}

/// Calls to a sub from one call site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    /// File of the calls.
    pub fid: u32,
    /// Line of the calls.
    pub line: u32,
    /// Number of calls.
    pub count: u64,
    /// Total seconds in the sub, of outermost calls.
    pub incl_seconds: f64,
    /// Self seconds in the sub.
    pub excl_seconds: f64,
    /// Total seconds in the sub, of recursive calls.
    pub reci_seconds: f64,
    /// Maximum recursion depth.
    pub depth: u32,
    /// Names of the calling subs, sorted.
    pub by: Vec<Name>,
}

/// A sub, summed over its callers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sub {
    /// File with its source.
    pub fid: Option<u32>,
    /// First line; 0 if it is not written in Perl, `None` if the file does not say.
    pub first_line: Option<u32>,
    /// Last line.
    pub last_line: Option<u32>,
    /// Number of calls.
    pub calls: u64,
    /// Total seconds, of outermost calls.
    pub incl_seconds: f64,
    /// Self seconds.
    pub excl_seconds: f64,
    /// Total seconds, of recursive calls.
    pub reci_seconds: f64,
    /// Maximum recursion depth.
    pub depth: u32,
    /// Calls, by file and line.
    pub callers: Vec<Calls>,
    /// Subs whose sums were added to this one's.
    pub merged: Vec<Name>,
}

/// The language of a sub.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum SubKind {
    /// A Perl operator, timed like a sub.
    Opcode,
    /// Perl.
    Perl,
    /// C.
    Xsub,
}

impl SubKind {
    /// Devel::NYTProf's word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Opcode => "opcode",
            Self::Perl => "perl",
            Self::Xsub => "xsub",
        }
    }
}

impl Sub {
    /// The language of the sub with this name.
    pub fn kind(&self, name: &[u8]) -> SubKind {
        let no_lines = self.first_line.unwrap_or(0) == 0 && self.last_line.unwrap_or(0) == 0;
        match (self.first_line, self.last_line) {
            _ if no_lines && is_opcode(name) => SubKind::Opcode,
            (Some(0), last) if last.unwrap_or(0) == 0 => SubKind::Xsub,
            _ => SubKind::Perl,
        }
    }
}

/// `CORE::op`, or `package::CORE:op`.
fn is_opcode(name: &[u8]) -> bool {
    let is_word = |word: &[u8]| !word.is_empty() && word.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_');
    let after = |prefix: &[u8]| {
        let at = name.windows(prefix.len()).rposition(|part| part == prefix)?;
        name.get(at + prefix.len()..)
    };
    name.strip_prefix(b"CORE::").is_some_and(is_word) || after(b"::CORE:").is_some_and(is_word)
}

/// A digest of a file's source, enough to recognize equal evals.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SourceDigest {
    /// Number, length and byte sum of each line, until all are known.
    lines: Vec<(u32, u32, u32)>,
    count: u32,
    bytes: u64,
    sum: u32,
}

impl SourceDigest {
    /// The number of the last line.
    pub fn line_count(&self) -> u32 {
        self.count
    }

    /// Adds a line; line 0 is not source.
    fn add(&mut self, line: u32, text: &[u8]) {
        let sum = text.iter().fold(0u32, |sum, byte| sum.wrapping_add((*byte).into()));
        if line > 0 {
            push(&mut self.lines, (line, u32::try_from(text.len()).unwrap_or(u32::MAX), sum));
        }
    }

    /// Sums the lines; the last one counts if a line was repeated. Lines are joined by newlines.
    fn settle(&mut self) {
        let mut lines = std::mem::take(&mut self.lines);
        lines.sort_by_key(|(line, ..)| *line);
        self.count = lines.last().map_or(0, |(line, ..)| *line);
        let joints = self.count.saturating_sub(1);
        (self.bytes, self.sum) = (joints.into(), joints.wrapping_mul(b'\n'.into()));
        for same in lines.chunk_by(|(a, ..), (b, ..)| a == b) {
            if let Some((_, length, sum)) = same.last() {
                self.bytes += u64::from(*length);
                self.sum = self.sum.wrapping_add(*sum);
            }
        }
    }

    /// Lines, bytes and byte sum; `None` if the source is false in Perl.
    fn key(&self) -> Option<(u32, u64, u32)> {
        let is_false = self.bytes == 0 || (self.bytes == 1 && self.sum == u32::from(b'0'));
        (!is_false).then_some((self.count, self.bytes, self.sum))
    }
}

/// Appends to a list that usually stays very short, because each of many evals may have one.
fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() == list.capacity() {
        list.reserve_exact(1 + list.len() / 2);
    }
    list.push(item);
}
