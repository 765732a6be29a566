//! A check, a strict read, a repair and a merge never contradict each other about whether a file is valid.

use std::{fs, path::Path, sync::Mutex, thread};

use traceloom_core::{Edited, Options, Result, Severity, Source};
use traceloom_open::by_id;
use traceloom_testkit::{EasyProfiler, Noise, SUBJECTS, Subject, cases, default_roots, each_case, fixture};

#[test]
fn check_and_strict_agree_on_every_fixture_and_on_damaged_copies() {
    nothing_is_wrong(contradiction);
}

#[test]
fn repairs_are_fine_or_say_so_and_repairing_them_again_changes_nothing() {
    nothing_is_wrong(broken_repair);
}

/// No fixture and no damaged copy of one has this problem.
fn nothing_is_wrong(problem: fn(&dyn Subject, Vec<u8>) -> Option<String>) {
    let wrong = Mutex::new(Vec::new());
    each_case(|subject, case, bytes| {
        for (what, damaged) in damaged(&bytes) {
            if let Some(problem) = problem(subject, damaged) {
                wrong.lock().unwrap().push(format!("{} {what}: {problem}", case.name));
            }
        }
    });
    report(&wrong.into_inner().unwrap());
}

fn report(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} files:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
}

#[test]
fn merged_files_are_fine_or_say_so() {
    let wrong = Mutex::new(Vec::new());
    for subject in SUBJECTS {
        let files = mergeable(*subject);
        let waiting = Mutex::new(pairs(&files));
        let next = || waiting.lock().unwrap().pop();
        let work = || {
            while let Some([(one, first), (other, second)]) = next() {
                if let Ok(Some(lie)) = broken_merge(*subject, [first, second]) {
                    wrong.lock().unwrap().push(format!("{one} and {other}: {lie}"));
                }
            }
        };
        thread::scope(|scope| {
            scope.spawn(work);
            work();
        });
    }
    report(&wrong.into_inner().unwrap());
    // The merge of these was once said to be fine, and was not.
    let names = ["f5f7357c22e312c1-v010_basic.prof", "syn_clamp_to_begin.prof"];
    let pair = names.map(|name| fs::read(fixture(Path::new("easyprofiler").join(name))).unwrap());
    let [first, second] = pair.each_ref().map(|bytes| Source::bytes(bytes.as_slice()));
    for pair in [[&first, &second], [&second, &first]] {
        assert_eq!(broken_merge(&EasyProfiler, pair).unwrap(), None, "{names:?}");
    }
}

/// The files of a format, each with a damaged copy if it is small.
fn mergeable(subject: &dyn Subject) -> Vec<Named> {
    let mut files = Vec::new();
    for case in cases(subject, &default_roots()).unwrap() {
        let bytes = case.bytes().unwrap();
        let damaged = is_small(&bytes).then(|| damage(&bytes, &mut Noise::new(bytes.len() as u64)));
        files.push((case.name.clone(), Source::bytes(bytes)));
        files.extend(damaged.map(|(what, bytes)| (format!("{} {what}", case.name), Source::bytes(bytes))));
    }
    files
}

/// A file and its name.
type Named = (String, Source);

/// Each file with the one after it, and small files with all others: the same number of them for each file.
fn pairs(files: &[Named]) -> Vec<[&Named; 2]> {
    let mut pairs: Vec<_> = files.windows(2).map(|pair| [&pair[0], &pair[1]]).collect();
    let small: Vec<_> = files.iter().filter(|(_, source)| source.len().unwrap() <= MAX_DAMAGED_BYTES as u64).collect();
    let step = small.len().div_ceil(MAX_PARTNERS).max(1);
    for (at, file) in small.iter().enumerate() {
        pairs.extend(small.iter().skip(at % step).step_by(step).map(|other| [*file, *other]));
    }
    pairs
}

/// What is wrong with the merge of two files, unless they cannot be merged.
fn broken_merge(subject: &dyn Subject, pair: [&Source; 2]) -> Result<Option<String>> {
    let merge =
        |out: &mut Vec<u8>| by_id(subject.format().id)?.merge(&pair.map(Source::clone), out, &Options::default());
    outcome(subject, merge).map(|(_, lie)| lie)
}

/// What is wrong with the repair of a file; files that are not of the format are not repaired.
fn broken_repair(subject: &dyn Subject, bytes: Vec<u8>) -> Option<String> {
    let repair = |bytes: &[u8]| {
        let source = Source::bytes(bytes);
        outcome(subject, |out| by_id(subject.format().id)?.repair(&source, out, &Options::default()))
    };
    let (repaired, lie) = repair(&bytes).ok()?;
    match repair(&repaired) {
        _ if lie.is_some() => lie,
        Ok((again, _)) if again == repaired => None,
        Ok(_) => Some("repairing it again changes it".to_owned()),
        Err(error) => Some(format!("cannot be repaired again: {error}")),
    }
}

/// The output of an edit, and the contradiction if the edit reports less or more than a strict read does.
fn outcome(
    subject: &dyn Subject,
    edit: impl FnOnce(&mut Vec<u8>) -> Result<Edited>,
) -> Result<(Vec<u8>, Option<String>)> {
    let mut out = Vec::new();
    let is_fine = !edit(&mut out)?.loss.has_remaining();
    let read = subject.drain(Source::bytes(out.clone()), &Options::strict());
    let lie = (is_fine != read.is_ok()).then(|| format!("said to be fine: {is_fine}, and a strict read says {read:?}"));
    Ok((out, lie))
}

/// A file, its first half, and copies with small damage.
fn damaged(bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let at = bytes.len() * 2 / 3;
    let mut changed = bytes.to_vec();
    changed.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 0x55);
    let without = [bytes.get(..at).unwrap_or_default(), bytes.get(at + 1..).unwrap_or_default()].concat();
    let half = bytes.get(..bytes.len() / 2).unwrap_or_default().to_vec();
    let mut files = vec![
        ("whole".to_owned(), bytes.to_vec()),
        ("cut in half".to_owned(), half),
        ("without a byte".to_owned(), without),
        ("with another byte".to_owned(), changed),
    ];
    let mut noise = Noise::new(bytes.len() as u64);
    let number = if is_small(bytes) { DAMAGES } else { 0 };
    files.extend((0..number).map(|_| damage(bytes, &mut noise)));
    files
}

/// Number of other damages per file, and the size of files that get them: the same as in larger ones.
const DAMAGES: usize = 24;
const MAX_DAMAGED_BYTES: usize = 8 << 10;

/// Maximum number of other files that a small file is merged with.
const MAX_PARTNERS: usize = 100;

fn is_small(bytes: &[u8]) -> bool {
    (1..=MAX_DAMAGED_BYTES).contains(&bytes.len())
}

/// A copy with one range zeroed, lost, repeated or overwritten.
fn damage(bytes: &[u8], noise: &mut Noise) -> (String, Vec<u8>) {
    let start = noise.below(bytes.len());
    let longest = if noise.below(2) == 0 { 8 } else { 100 };
    let end = (start + 1 + noise.below(longest)).min(bytes.len());
    let range = bytes.get(start..end).unwrap_or_default();
    let (what, new) = match noise.below(4) {
        0 => ("zeroed", vec![0; range.len()]),
        1 => ("lost", Vec::new()),
        2 => ("repeated", [range, range].concat()),
        _ => ("overwritten", (0..range.len()).map(|_| noise.number() as u8).collect()),
    };
    let mut damaged = bytes.to_vec();
    damaged.splice(start..end, new);
    (format!("with {start}..{end} {what}"), damaged)
}

/// The two results, if they differ; a file that is not of the format is not judged.
fn contradiction(subject: &dyn Subject, bytes: Vec<u8>) -> Option<String> {
    let (source, options) = (Source::bytes(bytes), Options::default());
    let findings = by_id(subject.format().id).ok()?.check(&source, &options).ok()?;
    let errors = findings.kept().iter().filter(|finding| finding.severity == Severity::Error);
    let errors: Vec<_> = errors.map(|finding| finding.rule.code).collect();
    match subject.drain(source, &Options::strict()) {
        Ok(_) => errors.first().map(|error| format!("check finds {error}, strict accepts the file")),
        Err(error) if errors.is_empty() => Some(format!("check finds no error, strict stops: {error}")),
        Err(_) => None,
    }
}
