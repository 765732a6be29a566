//! Problems of a file that do not end the read.

use std::{collections::BTreeMap, fmt};

use crate::{Error, Limits, Mode, Position, Result};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Worth knowing, but not a problem.
    Note,
    /// Odd or damaged, but the format's tool still reads the file.
    Warning,
    /// The format's tool refuses the file because of this, and so does strict mode.
    Error,
}

impl Severity {
    /// The word that the program prints for the severity.
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

/// Whether a finding means that data is missing.
///
/// This is independent of the severity: a tool may refuse a file that is complete, and accept one that lacks half its
/// data.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Data {
    /// Everything that was recorded is read, or can be derived from what is read.
    Complete,
    /// Records, names or values are missing, or cannot be trusted.
    Missing,
}

/// One possible problem: a row in a format's table of rules.
///
/// `code` is `format.name` and an anchor on the format's page. `message` is a sentence in which `{name}` is replaced by
/// the value with that name.
#[derive(Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Rule {
    /// Stable name, for programs.
    pub code: &'static str,
    /// How severe the problem is; strict mode refuses the file on an error.
    pub severity: Severity,
    /// Whether data is missing when the rule is broken.
    pub data: Data,
    /// Sentence for people, with placeholders.
    pub message: &'static str,
}

impl Rule {
    /// A rule; the macro [`rules!`](crate::rules) declares those of a format.
    pub const fn new(code: &'static str, severity: Severity, data: Data, message: &'static str) -> Self {
        Self { code, severity, data, message }
    }
}

/// Declares the rules of a format as statics, and the table `RULES` of all of them.
///
/// Data counts as complete unless a rule says `Missing`.
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
            pub static $name: $crate::Rule = $crate::Rule::new(
                concat!($format, ".", $code),
                $crate::Severity::$severity,
                $crate::rules!(@data $($data)?),
                $message,
            );
        )*

        /// All rules, in the order in which they are declared.
        pub static RULES: &[&$crate::Rule] = &[$(&$name),*];
    };
}

/// A value that a finding carries.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Value {
    /// An unsigned number from the file.
    Unsigned(u64),
    /// A signed number from the file.
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

/// A broken rule, with its position and values.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// The rule that was broken.
    pub rule: &'static Rule,
    /// That of the rule, or less if the format's tool accepts the file nevertheless.
    pub severity: Severity,
    /// Where it was broken.
    pub position: Position,
    /// Values for the placeholders of the rule's message.
    pub values: Vec<(&'static str, Value)>,
}

impl Finding {
    /// A finding without values.
    pub fn new(rule: &'static Rule, position: Position) -> Self {
        Self { rule, severity: rule.severity, position, values: Vec::new() }
    }

    /// Adds a value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    /// Sets the position.
    #[must_use]
    pub fn at(self, position: Position) -> Self {
        Self { position, ..self }
    }

    /// At most a warning: the format's tool does not look there, or accepts the file nevertheless.
    #[must_use]
    pub fn tolerated(self) -> Self {
        Self { severity: self.severity.min(Severity::Warning), ..self }
    }

    /// The message, with the values filled in.
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
        write!(f, "{}: {}: {} [{}]", self.position, self.severity, self.message(), self.rule.code)
    }
}

/// Collects findings in bounded memory.
///
/// For each code, the first [`Limits::findings`] are kept; all are counted.
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

    /// Adds a finding; in strict mode, a finding of severity error is returned as the error.
    #[cold]
    pub fn report(&mut self, finding: Finding) -> Result<()> {
        let count = self.counts.entry(finding.rule.code).or_default();
        *count += 1;
        let first = *count <= self.keep as u64;
        if self.mode == Mode::Strict && finding.severity == Severity::Error {
            self.refused = true;
            return Err(Error::refused(finding));
        }
        if first {
            self.kept.push(finding);
        }
        Ok(())
    }

    /// Whether findings are collected, or an error refuses the file.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether a finding has refused the file; the reader then returns no more records.
    #[inline]
    pub fn has_refused(&self) -> bool {
        self.refused
    }

    /// The findings kept so far, in the order in which they were reported.
    pub fn kept(&self) -> &[Finding] {
        &self.kept
    }

    /// How often each code occurred, including occurrences that were not kept.
    pub fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.counts
    }

    /// Number of findings, including those that were not kept.
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Adds the findings of another collection.
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
        self.kept.iter().map(|finding| finding.severity).max()
    }

    /// Makes every error a warning, for a file that the format's tool accepts; see [`Finding::tolerated`].
    #[must_use]
    pub fn tolerated(mut self) -> Self {
        self.kept = self.kept.into_iter().map(Finding::tolerated).collect();
        self
    }
}
