//! What is wrong with a file without ending the read.

use std::{collections::BTreeMap, fmt};

use crate::{Error, Limits, Mode, Position, Result};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Worth knowing, nothing is wrong.
    Note,
    /// Odd or damaged, and the original tool reads the file all the same.
    Warning,
    /// The original tool refuses the file for this; strict mode does too.
    Error,
}

impl Severity {
    /// The word that the program prints.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a finding says about the data that is read.
///
/// It is not the severity: a tool may refuse a file that has everything, and read one that lacks half.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Data {
    /// All that was recorded is read, or can be told from what is read.
    Complete,
    /// Records, names or values are missing, or cannot be trusted.
    Missing,
}

/// One thing that can be wrong, as a row of a format's table of rules.
///
/// `code` is `format.name` and an anchor on the format's page. `message` is a sentence in which
/// `{name}` stands for the value of that name.
#[derive(Debug, Eq, PartialEq)]
pub struct Rule {
    /// Stable name, for programs.
    pub code: &'static str,
    /// What strict mode makes of it.
    pub severity: Severity,
    /// Whether something is missing then.
    pub data: Data,
    /// Sentence for people, with placeholders.
    pub message: &'static str,
}

/// Declares the rules of a format as statics, and the table `RULES` of all of them.
///
/// The data is complete unless a rule says `Missing`.
///
/// ```
/// traceloom_core::rules! { "example":
///     PADDING "padding" Warning "the padding is {found}, not 0";
///     CUT "cut" Warning Missing "the file ends early";
/// }
/// assert_eq!(PADDING.code, "example.padding");
/// assert_eq!(CUT.data, traceloom_core::Data::Missing);
/// assert_eq!(RULES.len(), 2);
/// ```
#[macro_export]
macro_rules! rules {
    (@data) => { $crate::Data::Complete };
    (@data $data:ident) => { $crate::Data::$data };
    ($format:literal: $($name:ident $code:literal $severity:ident $($data:ident)? $message:literal;)*) => {
        $(
            #[doc = $message]
            pub static $name: $crate::Rule = $crate::Rule {
                code: concat!($format, ".", $code),
                severity: $crate::Severity::$severity,
                data: $crate::rules!(@data $($data)?),
                message: $message,
            };
        )*

        /// All rules, in the order of the file.
        pub static RULES: &[&$crate::Rule] = &[$(&$name),*];
    };
}

/// A value that a finding carries.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Value {
    /// A number of the file.
    Unsigned(u64),
    /// A number of the file that may be negative.
    Signed(i64),
    /// A name, or bytes shown as text.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsigned(value) => value.fmt(f),
            Self::Signed(value) => value.fmt(f),
            Self::Text(value) => f.write_str(value),
        }
    }
}

macro_rules! value_from {
    ($($from:ty => $variant:ident as $to:ty),*) => {$(
        impl From<$from> for Value {
            fn from(value: $from) -> Self {
                Self::$variant(<$to>::from(value))
            }
        }
    )*};
}
value_from!(
    u8 => Unsigned as u64, u16 => Unsigned as u64, u32 => Unsigned as u64, u64 => Unsigned as u64,
    i32 => Signed as i64, i64 => Signed as i64, &str => Text as String, String => Text as String
);

impl From<usize> for Value {
    fn from(value: usize) -> Self {
        Self::Unsigned(value as u64)
    }
}

/// A rule that was broken, where, and with which values.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The place.
    pub position: Position,
    /// Values for the placeholders of the rule's message.
    pub values: Vec<(&'static str, Value)>,
}

impl Finding {
    /// A finding without values.
    pub fn new(rule: &'static Rule, position: Position) -> Self {
        Self { rule, position, values: Vec::new() }
    }

    /// Adds a value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    /// The sentence, with the values filled in.
    pub fn message(&self) -> String {
        let mut text = self.rule.message.to_owned();
        for (name, value) in &self.values {
            text = text.replace(&format!("{{{name}}}"), &value.to_string());
        }
        text
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {} [{}]", self.position, self.rule.severity, self.message(), self.rule.code)
    }
}

/// Collects findings in bounded memory.
///
/// Of each code the first [`Limits::findings`] are kept; all are counted.
#[derive(Clone, Debug)]
pub struct Findings {
    mode: Mode,
    keep: usize,
    kept: Vec<Finding>,
    counts: BTreeMap<&'static str, u64>,
    refused: bool,
}

impl Findings {
    /// An empty collection.
    pub fn new(mode: Mode, limits: &Limits) -> Self {
        Self { mode, keep: limits.findings, kept: Vec::new(), counts: BTreeMap::new(), refused: false }
    }

    /// Takes a finding; in strict mode one of severity error comes back as the error.
    #[cold]
    pub fn report(&mut self, finding: Finding) -> Result<()> {
        let count = self.counts.entry(finding.rule.code).or_default();
        *count += 1;
        let first = *count <= self.keep as u64;
        if self.mode == Mode::Strict && finding.rule.severity == Severity::Error {
            self.refused = true;
            return Err(Error::refused(finding));
        }
        if first {
            self.kept.push(finding);
        }
        Ok(())
    }

    /// Whether findings are collected or refuse the file.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether a finding has refused the file: a reader gives no more records then.
    #[inline]
    pub fn has_refused(&self) -> bool {
        self.refused
    }

    /// The findings kept so far, in the order they were made.
    pub fn kept(&self) -> &[Finding] {
        &self.kept
    }

    /// How often each code occurred, the ones that were not kept included.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Adds what another collection holds.
    pub fn absorb(&mut self, other: Findings) {
        for (code, count) in other.counts {
            *self.counts.entry(code).or_default() += count;
        }
        self.kept.extend(other.kept);
    }

    /// Whether data of the file is missing.
    pub fn is_data_missing(&self) -> bool {
        self.kept.iter().any(|finding| finding.rule.data == Data::Missing)
    }

    /// The worst severity, if anything was found.
    pub fn worst(&self) -> Option<Severity> {
        self.kept.iter().map(|finding| finding.rule.severity).max()
    }
}
