//! Compares every format with its goldens and counts how many agree.

use std::{fmt, io, path::PathBuf};

use traceloom_core::{ErrorKind, Options, Result, Source};

use crate::{Case, SUBJECTS, Subject, cases, differences};

/// Maximum number of differences shown per file.
const SHOWN: usize = 5;

/// The number of cases, and how many of them agree.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Score {
    /// Number that agree.
    pub agree: usize,
    /// Number of all.
    pub of: usize,
}

impl Score {
    fn count(&mut self, agrees: bool) {
        self.of += 1;
        self.agree += usize::from(agrees);
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.agree, self.of)
    }
}

/// The result for one format.
#[derive(Debug, Default)]
pub struct Report {
    /// The format's id.
    pub format: &'static str,
    /// Goldens reproduced in full.
    pub goldens: Score,
    /// Strict verdicts that match the format's tool.
    pub verdicts: Score,
    /// Files that are rewritten byte for byte, or with the same contents compressed, among those that open.
    pub rewrites: Score,
    /// What differs, by file.
    pub differences: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, goldens, verdicts, rewrites, differences } = self;
        write!(f, "{format:<14} goldens {goldens}, verdicts {verdicts}, rewrites {rewrites}")?;
        differences.iter().try_for_each(|difference| write!(f, "\n    {difference}"))
    }
}

/// Runs every format over its folders below `roots`.
pub fn conformance(roots: &[PathBuf]) -> io::Result<Vec<Report>> {
    SUBJECTS.iter().map(|subject| report(*subject, roots)).collect()
}

fn report(subject: &dyn Subject, roots: &[PathBuf]) -> io::Result<Report> {
    let mut report = Report { format: subject.format().id, ..Report::default() };
    for case in cases(subject, roots)? {
        let bytes = case.bytes()?;
        report.rewrite(subject, &case, &bytes);
        if let Some(golden) = case.golden()? {
            report.golden(subject, &case, &bytes, &golden);
            report.verdict(subject, &case, &bytes, &golden);
        }
    }
    Ok(report)
}

impl Report {
    fn golden(&mut self, subject: &dyn Subject, case: &Case, bytes: &[u8], golden: &serde_json::Value) {
        let found = match subject.reproduce(Source::bytes(bytes), golden) {
            Ok(ours) => differences(golden, &ours, SHOWN),
            Err(error) => vec![format!(": {error}")],
        };
        self.goldens.count(found.is_empty());
        self.differences.extend(found.into_iter().map(|difference| format!("{}{difference}", case.name)));
    }

    fn verdict(&mut self, subject: &dyn Subject, case: &Case, bytes: &[u8], golden: &serde_json::Value) {
        let accepts = subject.accepts(golden);
        let ours = subject.walk(Source::bytes(bytes), &Options::strict());
        self.verdicts.count(ours.is_ok() == accepts);
        match ours {
            Ok(_) if !accepts => self.differences.push(format!("{}: strict accepts it", case.name)),
            Err(error) if accepts => self.differences.push(format!("{}: strict refuses it: {error}", case.name)),
            _ => {}
        }
    }

    fn rewrite(&mut self, subject: &dyn Subject, case: &Case, bytes: &[u8]) {
        match subject.rewrite(Source::bytes(bytes), &Options::default()) {
            Err(error) if is_unrecognized(&error) => {}
            result => {
                let difference = rewrite_difference(subject, bytes, result);
                self.rewrites.count(difference.is_none());
                self.differences.extend(difference.map(|difference| format!("{}: {difference}", case.name)));
            }
        }
    }
}

fn is_unrecognized(error: &traceloom_core::Error) -> bool {
    matches!(error.kind(), ErrorKind::Unrecognized(_))
}

fn rewrite_difference(subject: &dyn Subject, bytes: &[u8], rewritten: Result<Vec<u8>>) -> Option<String> {
    let rewritten = match rewritten {
        Ok(rewritten) => rewritten,
        Err(error) => return Some(error.to_string()),
    };
    let shared = bytes.iter().zip(&rewritten).take_while(|(one, two)| one == two).count();
    let (was, is) = (bytes.len(), rewritten.len());
    (!subject.is_rewritten(&rewritten, bytes))
        .then(|| format!("rewritten differs at byte {shared}: {was} bytes in, {is} out"))
}
