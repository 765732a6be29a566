//! The descriptor of a format, and the options for opening a file.

use crate::{Error, Limits};

/// A format as plain data.
#[derive(Debug)]
#[non_exhaustive]
pub struct Descriptor {
    /// One lower-case word, the same in crate, page, fixtures, program and finding codes.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// File name extensions, without the dot.
    pub extensions: &'static [&'static str],
    /// Variants that can be written after `ID:`, the default first.
    pub variants: &'static [Variant],
    /// Dialects with a separate id whose files convert to this format record by record.
    pub siblings: &'static [&'static str],
    /// What timestamps mean.
    pub clock: Clock,
    /// How a file has to be read.
    pub access: Access,
    /// The order of the records.
    pub order: Order,
}

/// A format to convert to, in one of its variants.
#[derive(Clone, Copy, Debug)]
pub struct Sibling<'a> {
    /// The format.
    pub format: &'static Descriptor,
    /// The id of one of its variants (default: the first one).
    pub variant: Option<&'a str>,
}

impl Sibling<'_> {
    /// The error if `from` is not a sibling of this format.
    pub fn refused_by(&self, from: &Descriptor) -> Error {
        Error::usage(format!("{} cannot be converted to {} record by record", from.id, self.format.id))
    }
}

impl Descriptor {
    /// A format that is read front to back, with records in order of their start and a clock unrelated to the time of
    /// day.
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

    /// Sets the file name extensions.
    #[must_use]
    pub const fn extensions(self, extensions: &'static [&'static str]) -> Self {
        Self { extensions, ..self }
    }

    /// Sets the variants, the default first.
    #[must_use]
    pub const fn variants(self, variants: &'static [Variant]) -> Self {
        Self { variants, ..self }
    }

    /// Sets the sibling dialects.
    #[must_use]
    pub const fn siblings(self, siblings: &'static [&'static str]) -> Self {
        Self { siblings, ..self }
    }

    /// Sets what timestamps mean.
    #[must_use]
    pub const fn clock(self, clock: Clock) -> Self {
        Self { clock, ..self }
    }

    /// Sets how a file has to be read.
    #[must_use]
    pub const fn access(self, access: Access) -> Self {
        Self { access, ..self }
    }

    /// Sets the order of the records.
    #[must_use]
    pub const fn order(self, order: Order) -> Self {
        Self { order, ..self }
    }

    /// The error for a variant that the writer does not know.
    pub fn unknown_variant(&self, named: &str) -> Error {
        Variant::unknown(self.id, self.variants, named)
    }
}

/// A variant that the writer knows.
#[derive(Debug)]
#[non_exhaustive]
pub struct Variant {
    /// The text after the colon of `ID:VARIANT`.
    pub id: &'static str,
    /// One line for `--help`.
    pub about: &'static str,
}

impl Variant {
    /// A variant with its line for `--help`.
    pub const fn new(id: &'static str, about: &'static str) -> Self {
        Self { id, about }
    }

    /// The error for a variant that a format or target does not have.
    pub fn unknown(owner: &str, known: &[Self], named: &str) -> Error {
        let known: Vec<_> = known.iter().map(|variant| variant.id).collect();
        let has = if known.is_empty() { "has no variants".to_owned() } else { format!("has: {}", known.join(", ")) };
        Error::usage(format!("{owner} has no variant {named:?}; it {has}"))
    }
}

/// What the timestamps of a format mean.
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
    /// The end has to be read before the middle.
    TrailerFirst,
}

/// The order of the timed records of one thread.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Order {
    /// By start.
    Begin,
    /// By end: children before parents.
    End,
    /// In no particular order.
    None,
}

/// Whether a prefix looks like this format.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Sniff {
    /// It is something else.
    No,
    /// It could be.
    Maybe,
    /// It is.
    Yes,
}

/// How to handle problems in a file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Mode {
    /// Read as much as possible and report the rest as findings.
    #[default]
    Lenient,
    /// Refuse whatever the format's tool refuses.
    Strict,
}

/// How thoroughly to check.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Checks {
    /// Whatever a reader notices while reading.
    #[default]
    Usual,
    /// Also checks that take time or memory: nesting, the types of all arguments, sums.
    Thorough,
}

/// How to open a file.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Options {
    /// Lenient or strict.
    pub mode: Mode,
    /// How thoroughly to check.
    pub checks: Checks,
    /// How much of the machine the file may use.
    pub limits: Limits,
}

impl Options {
    /// Strict, with the default limits.
    pub fn strict() -> Self {
        Self::default().with_mode(Mode::Strict)
    }

    /// Sets the mode.
    #[must_use]
    pub fn with_mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Turns on every check that the reader has.
    #[must_use]
    pub fn thorough(self) -> Self {
        Self { checks: Checks::Thorough, ..self }
    }

    /// Whether to run every check. Strict mode always does, because it must refuse whatever the format's tool refuses.
    pub fn is_thorough(&self) -> bool {
        self.checks == Checks::Thorough || self.mode == Mode::Strict
    }
}
