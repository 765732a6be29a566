//! Time ranges are half-open in every format: adjacent ones partition a file, an empty one gives an empty file.

use std::{collections::BTreeSet, path::Path, sync::Mutex};

use traceloom_core::{Amount, Error, ErrorKind, Options, Result, Sample, Severity, Slice, Source, TimeRange};
use traceloom_open::by_id;
use traceloom_testkit::{Moments, SUBJECTS, Subject, each_case};

/// Maximum number of files shown if many are wrong.
const SHOWN: usize = 40;

#[test]
fn adjacent_ranges_partition_every_fixture_and_sample() {
    let divided = Mutex::new(BTreeSet::new());
    each_file(|file| {
        let Ok(all) = file.moments(TimeRange::ALL) else { return Ok(()) };
        for cut in file.cuts() {
            let [before, after] = [TimeRange::new(None, Some(cut)), TimeRange::new(Some(cut), None)];
            let (before, after) = (file.moments(before), file.moments(after));
            let (before, after) = (before.map_err(at(cut))?, after.map_err(at(cut))?);
            if sum(&before, &after) != all {
                return Err(format!("cut at {cut} ns: {before:?} and {after:?} instead of {all:?}"));
            }
            if !before.is_empty() && !after.is_empty() {
                divided.lock().unwrap().insert(file.subject.format().id);
            }
        }
        Ok(())
    });
    let with_times = SUBJECTS.iter().filter(|subject| has_times(**subject, &sample(**subject).bytes));
    let with_times: BTreeSet<_> = with_times.map(|subject| subject.format().id).collect();
    assert_eq!(divided.into_inner().unwrap(), with_times, "a format has no file with moments on both sides");
}

#[test]
fn a_range_between_others_takes_what_they_leave() {
    each_file(|file| {
        let Ok(all) = file.moments(TimeRange::ALL) else { return Ok(()) };
        let cuts = file.cuts();
        for (from, to) in cuts.iter().zip(cuts.iter().skip(2)) {
            let ranges =
                [TimeRange::new(None, Some(*from)), TimeRange::between(*from, *to), TimeRange::new(Some(*to), None)];
            let mut total = Moments::new();
            for range in ranges {
                total = sum(&total, &file.moments(range).map_err(at(*from))?);
            }
            if total != all {
                return Err(format!("cut at {from} and {to} ns: {total:?} instead of {all:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn the_range_of_everything_keeps_everything() {
    each_file(|file| {
        let Ok(read) = file.subject.moments(Source::bytes(file.bytes), &Options::default()) else { return Ok(()) };
        match file.moments(TimeRange::ALL) {
            Ok(sliced) if sliced == read => Ok(()),
            Ok(sliced) => Err(format!("{sliced:?} instead of {read:?}")),
            Err(error) => Err(error.to_string()),
        }
    });
}

#[test]
fn an_empty_range_gives_an_empty_file_that_opens() {
    each_file(|file| {
        let Ok(whole) = file.slice(TimeRange::ALL) else { return Ok(()) };
        for cut in file.cuts() {
            let empty = file.slice(TimeRange::between(cut, cut)).map_err(at(cut))?;
            let source = Source::bytes(empty);
            let options = Options::default();
            let opened = traceloom_open::open(source.clone(), Path::new(""), None, &options).map_err(at(cut))?;
            let (id, found) = (file.subject.format().id, opened.format.descriptor().id);
            if found != id {
                return Err(format!("the empty range at {cut} ns is {found}"));
            }
            let moments = file.subject.moments(source.clone(), &options).map_err(at(cut))?;
            if !moments.is_empty() {
                return Err(format!("the empty range at {cut} ns has {moments:?}"));
            }
            let [known, found] = [&Source::bytes(whole.clone()), &source].map(|source| errors(id, source));
            let usual = file.subject.errors_of_empty_files();
            let new: Vec<_> = found.difference(&known).filter(|code| !usual.contains(code)).collect();
            if !new.is_empty() {
                return Err(format!("the empty range at {cut} ns has {new:?}"));
            }
        }
        Ok(())
    });
}

#[test]
fn only_files_without_times_refuse_a_range() {
    for subject in SUBJECTS {
        let sample = sample(*subject);
        let file = File { subject: *subject, bytes: &sample.bytes };
        let sliced = file.slice(TimeRange::new(None, Some(1_000)));
        assert_eq!(sliced.is_ok(), has_times(*subject, &sample.bytes), "{}: {sliced:?}", sample.file_name);
        assert!(sliced.err().is_none_or(|error| is_refusal(&error)));
    }
}

/// A file of a format.
#[derive(Clone, Copy)]
struct File<'f> {
    subject: &'f dyn Subject,
    bytes: &'f [u8],
}

impl File<'_> {
    fn slice(&self, range: TimeRange) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let slice = Slice { range, threads: Vec::new() };
        let format = by_id(self.subject.format().id)?;
        format.slice(&Source::bytes(self.bytes), &mut out, &slice, &Options::default())?;
        Ok(out)
    }

    /// The records with a single time in a range.
    fn moments(&self, range: TimeRange) -> Result<Moments> {
        self.subject.moments(Source::bytes(self.slice(range)?), &Options::default())
    }

    /// Where to cut: fixed times, and fractions of every duration in the summary.
    fn cuts(&self) -> Vec<i64> {
        let mut cuts = BTreeSet::from([0, 1, 1_500, 2_000_000, 1_000_000_000]);
        let format = by_id(self.subject.format().id).unwrap();
        let info = format.info(&Source::bytes(self.bytes), &Options::default());
        for fact in info.into_iter().flat_map(|(info, _)| info.facts) {
            if let Amount::Nanoseconds(ns) = fact.amount {
                let ns = i64::try_from(ns).unwrap_or(i64::MAX);
                cuts.extend([ns / 3, ns / 2, ns, ns.saturating_add(1)]);
            }
        }
        cuts.into_iter().collect()
    }
}

/// Runs a check over all fixtures with times and over the samples, and fails with all errors.
fn each_file(check: impl Fn(&File<'_>) -> Result<(), String> + Sync) {
    let wrong = Mutex::new(Vec::new());
    let run = |subject: &dyn Subject, name: &str, bytes: &[u8]| {
        if has_times(subject, bytes)
            && let Err(problem) = check(&File { subject, bytes })
        {
            wrong.lock().unwrap().push(format!("{name}: {problem}"));
        }
    };
    for subject in SUBJECTS {
        let sample = sample(*subject);
        run(*subject, sample.file_name, &sample.bytes);
    }
    each_case(|subject, case, bytes| run(subject, &case.name, &bytes));
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong[..wrong.len().min(SHOWN)].join("\n"));
}

fn sample(subject: &dyn Subject) -> Sample {
    by_id(subject.format().id).unwrap().sample().unwrap()
}

fn has_times(subject: &dyn Subject, bytes: &[u8]) -> bool {
    subject.has_times(Source::bytes(bytes), &Options::default()).unwrap_or(false)
}

/// Sums without times cannot be divided, which does not mean that the file is damaged.
fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Usage(_) | ErrorKind::Unsupported(_))
}

/// The codes of all findings of severity error.
fn errors(id: &str, source: &Source) -> BTreeSet<&'static str> {
    let findings = by_id(id).unwrap().check(source, &Options::default()).unwrap();
    let errors = findings.kept().iter().filter(|finding| finding.rule.severity == Severity::Error);
    errors.map(|finding| finding.rule.code).collect()
}

fn at(cut: i64) -> impl Fn(Error) -> String {
    move |error| format!("cut at {cut} ns: {error}")
}

fn sum(one: &Moments, other: &Moments) -> Moments {
    let mut sum = one.clone();
    for (kind, count) in other {
        *sum.entry(kind).or_default() += count;
    }
    sum
}
