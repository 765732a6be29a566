//! Types for the edits of all formats: the part of a trace to keep, and the losses.

use std::collections::BTreeMap;

use crate::{Findings, TimeRange};

/// A part of a trace.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Slice {
    /// Range to keep, in nanoseconds from the trace's origin.
    pub range: TimeRange,
    /// Threads to keep, by number or name; empty keeps all.
    pub threads: Vec<String>,
}

impl Slice {
    /// Whether the thread with this number and name is kept.
    pub fn keeps_thread(&self, id: u64, name: &[u8]) -> bool {
        let matches = |wanted: &String| wanted.as_bytes() == name || wanted.parse() == Ok(id);
        self.threads.is_empty() || self.threads.iter().any(matches)
    }
}

/// Data that an output could not hold: each kind of loss, how often it occurred, and one example.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Loss {
    entries: BTreeMap<&'static str, (u64, String)>,
}

impl Loss {
    /// The kind of loss for problems that an edit could not fix: the format's tool still refuses the output.
    pub const REMAINING: &'static str = "problems that remain in the output";

    /// Whether the format's tool still refuses the output.
    pub fn has_remaining(&self) -> bool {
        self.entries.contains_key(Self::REMAINING)
    }

    /// Counts one loss; only the first example is kept.
    pub fn lose(&mut self, what: &'static str, example: impl FnOnce() -> String) {
        self.lose_many(what, 1, example);
    }

    /// Counts several losses of one kind at once.
    pub fn lose_many(&mut self, what: &'static str, count: u64, example: impl FnOnce() -> String) {
        if count == 0 {
            return;
        }
        let (sum, _) = self.entries.entry(what).or_insert_with(|| (0, example()));
        *sum = sum.saturating_add(count);
    }

    /// Adds the losses of `other`.
    pub fn absorb(&mut self, other: &Self) {
        for (what, count, example) in other.entries() {
            self.lose_many(what, count, || example.to_owned());
        }
    }

    /// Each kind of loss, its count, and an example.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, u64, &str)> {
        self.entries.iter().map(|(what, (count, example))| (*what, *count, example.as_str()))
    }

    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// The result of an edit.
#[derive(Debug)]
pub struct Edited {
    /// Problems of the input.
    pub findings: Findings,
    /// Data that the output does not hold.
    pub loss: Loss,
}
