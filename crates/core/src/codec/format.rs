//! What every format tells about itself, and how a file is to be opened.

use crate::{Error, Limits};

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
    /// Dialects that have an id of their own and whose files convert to this one record by record.
    pub siblings: &'static [&'static str],
    /// What the times mean.
    pub clock: Clock,
    /// How the file has to be read.
    pub access: Access,
    /// The order of the records.
    pub order: Order,
}

impl Descriptor {
    /// A format that is read front to back and whose records come by begin, on a clock of its own.
    pub const fn new(id: &'static str, name: &'static str) -> Self {
        Self {
            id,
            name,
            extensions: &[],
            variants: &[],
            siblings: &[],
            clock: Clock::Monotonic,
            access: Access::Sequential,
            order: Order::Begin,
        }
    }

    /// The same with these file name endings.
    #[must_use]
    pub const fn extensions(self, extensions: &'static [&'static str]) -> Self {
        Self { extensions, ..self }
    }

    /// The same with these layouts, the default first.
    #[must_use]
    pub const fn variants(self, variants: &'static [Variant]) -> Self {
        Self { variants, ..self }
    }

    /// The same with these sibling dialects.
    #[must_use]
    pub const fn siblings(self, siblings: &'static [&'static str]) -> Self {
        Self { siblings, ..self }
    }

    /// The same with this meaning of times.
    #[must_use]
    pub const fn clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// The same, read in this way.
    #[must_use]
    pub const fn access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// The same with records in this order.
    #[must_use]
    pub const fn order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// The error for a layout that the writer does not know.
    pub fn unknown_variant(&self, named: &str) -> Error {
        let known: Vec<_> = self.variants.iter().map(|variant| variant.id).collect();
        Error::usage(format!("{} has no variant {named:?}; it has: {}", self.id, known.join(", ")))
    }
}

/// A layout that the writer knows.
#[derive(Debug)]
pub struct Variant {
    /// What stands after the colon of `ID:VARIANT`.
    pub id: &'static str,
    /// One line for `--help`.
    pub about: &'static str,
}

impl Variant {
    /// A layout with its line for `--help`.
    pub const fn new(id: &'static str, about: &'static str) -> Self {
        Self { id, about }
    }
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

/// How closely to look.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Checks {
    /// Whatever a reader notices on its way.
    #[default]
    Usual,
    /// Also what takes time or memory to notice: nesting, the types of all arguments, sums.
    Thorough,
}

/// How to open a file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Lenient or strict.
    pub mode: Mode,
    /// How closely to look.
    pub checks: Checks,
    /// What the file may use of the machine.
    pub limits: Limits,
}

impl Options {
    /// Strict, with the default limits.
    pub fn strict() -> Self {
        Self::default().with_mode(Mode::Strict)
    }

    /// The same in this mode.
    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// The same with these limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same with every check that the reader has.
    #[must_use]
    pub fn thorough(self) -> Self {
        Self { checks: Checks::Thorough, ..self }
    }

    /// Whether to look closely: strict mode always does, since the original tool has the last word there.
    pub fn is_thorough(&self) -> bool {
        self.checks == Checks::Thorough || self.mode == Mode::Strict
    }
}
