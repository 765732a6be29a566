//! What every format tells about itself, and the one way to walk its records.

use crate::{Describe, Findings, Limits, Located, Result};

/// A format as plain data.
#[derive(Debug)]
pub struct Descriptor {
    /// One lower-case word, the same in crate, page, fixtures, program and finding codes.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// File name endings, without the dot.
    pub extensions: &'static [&'static str],
    /// What can be written after `ID:`, the default first.
    pub variants: &'static [Variant],
    /// What the times mean.
    pub clock: Clock,
    /// How the file has to be read.
    pub access: Access,
    /// The order of the records.
    pub order: Order,
}

/// A layout that the writer knows.
#[derive(Debug)]
pub struct Variant {
    /// What stands after the colon of `ID:VARIANT`.
    pub id: &'static str,
    /// One line for `--help`.
    pub about: &'static str,
}

/// What the times of a format mean.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Clock {
    /// A counter with a frequency, unrelated to the time of day.
    Monotonic,
    /// The time of day.
    Wall,
}

/// How a file of a format has to be read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// Front to back.
    Sequential,
    /// The end is needed before the middle.
    TrailerFirst,
}

/// The order of the timed records of one thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Order {
    /// By begin.
    Begin,
    /// By end: children before parents.
    End,
    /// As they happened to be written.
    None,
}

/// Whether a prefix looks like a format.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Sniff {
    /// It is something else.
    No,
    /// It could be.
    Maybe,
    /// It is.
    Yes,
}

/// How to take what is wrong.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// Read what can be read and report the rest.
    #[default]
    Lenient,
    /// Refuse what the original tool refuses.
    Strict,
}

/// How to open a file.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Lenient or strict.
    pub mode: Mode,
    /// What the file may use of the machine.
    pub limits: Limits,
}

impl Options {
    /// Strict, with the default limits.
    pub fn strict() -> Self {
        Self { mode: Mode::Strict, ..Self::default() }
    }
}

/// A reader of any format: lends one record per call.
///
/// `next* (None | Err)`: both are final. Findings may be looked at whenever no record is lent.
pub trait Records {
    /// A record, borrowed from the window.
    type Record<'a>: Describe
    where
        Self: 'a;

    /// The next record with its place.
    fn next(&mut self) -> Result<Option<Located<Self::Record<'_>>>>;

    /// What was found so far.
    fn findings(&self) -> &Findings;

    /// What was found, when the walk is over.
    fn into_findings(self) -> Findings;
}
