//! The requirements for every format, over `fixtures/` and the folder named by `TRACELOOM_CORPUS`.

use traceloom_core::{ErrorKind, Limits, Mode, Options, Sniff, Source};
use traceloom_open::by_id;
use traceloom_testkit::{
    Digest, Noise, SUBJECTS, Subject, conformance, default_roots, differences, each_case, sources, strays,
};

/// All prefixes up to this length are tried.
const EVERY_PREFIX: usize = 2 << 10;
/// Number of longer prefixes that are tried.
const SAMPLED_PREFIXES: usize = 96;
/// Number of single-byte changes tried per file.
const CHANGES: usize = 100;

#[test]
fn goldens_verdicts_and_rewrites_agree() {
    for report in conformance(&default_roots()).unwrap() {
        assert!(report.differences.is_empty(), "{report}");
        assert!(report.goldens.of > 0 && report.rewrites.of > 0, "{report}");
    }
}

#[test]
fn a_changed_golden_is_noticed() {
    each_case(|subject, case, bytes| {
        let Some(golden) = case.golden().unwrap() else { return };
        let ours = subject.reproduce(Source::bytes(bytes), &golden).unwrap();
        let leaves = leaves(&golden);
        let mut noise = Noise::new(leaves as u64);
        for _ in 0..8 {
            let mut changed = golden.clone();
            change_leaf(&mut changed, &mut noise.below(leaves));
            assert!(!differences(&changed, &ours, 1).is_empty(), "{}", case.name);
        }
    });
}

#[test]
fn the_list_of_files_is_the_folder() {
    for subject in SUBJECTS {
        assert_eq!(strays(*subject, &default_roots()).unwrap(), Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn an_unknown_variant_is_refused_with_the_list_of_known_ones() {
    for subject in SUBJECTS {
        let format = by_id(subject.format().id).unwrap();
        let source = Source::bytes(format.sample().unwrap().bytes);
        let written = format.canonical(&source, &mut Vec::new(), Some("nonsense"), &Options::default());
        let message = written.unwrap_err().to_string();
        let known: Vec<&str> = subject.format().variants.iter().map(|variant| variant.id).collect();
        let expected = format!("{} has no variant \"nonsense\"; it has: {}", subject.format().id, known.join(", "));
        assert!(message.contains(&expected), "{message}");
    }
}

#[test]
fn one_field_changes_its_own_bytes_only() {
    each_case(|subject, case, bytes| {
        let Ok(edits) = subject.edits(&bytes) else { return };
        for edit in edits {
            assert_eq!(edit.bytes.len(), bytes.len(), "{}: {}", case.name, edit.field);
            let differing: Vec<_> = (0..bytes.len()).filter(|at| bytes[*at] != edit.bytes[*at]).collect();
            assert!(!differing.is_empty(), "{}: {} did not change", case.name, edit.field);
            let outside: Vec<_> = differing.iter().filter(|at| !edit.place.contains(at)).collect();
            assert!(outside.is_empty(), "{}: {} changed bytes {outside:?}", case.name, edit.field);
        }
    });
}

#[test]
fn every_window_and_source_gives_the_same() {
    each_case(|subject, case, bytes| {
        for mode in [Mode::Lenient, Mode::Strict] {
            let expected = walk(subject, Source::bytes(bytes.clone()), &windowed(mode, 256 << 10));
            for window in [1, 7, 64, 4 << 10, 64 << 10] {
                let found = walk(subject, Source::bytes(bytes.clone()), &windowed(mode, window));
                assert_same(&expected, &found, &format!("{}: window {window}", case.name));
            }
            let options = Options::default().with_mode(mode);
            for (name, source) in [
                ("one byte", sources::one_byte(bytes.clone())),
                ("three bytes", sources::short_reads(bytes.clone(), 3)),
                ("file", Source::open(&case.input, &options.limits).unwrap()),
            ] {
                assert_same(&expected, &walk(subject, source, &options), &format!("{}: {name}", case.name));
            }
        }
    });
}

#[test]
fn huge_numbers_are_survived_in_files_as_in_memory() {
    each_case(|subject, case, bytes| {
        if bytes.len() > 256 << 10 {
            return;
        }
        for at in (0..bytes.len().min(128)).step_by(8) {
            let mut changed = bytes.clone();
            changed.iter_mut().skip(at).take(8).for_each(|byte| *byte = 0xff);
            let options = Options::default();
            let file = Source::spool(changed.as_slice(), &options.limits).unwrap();
            let expected = walk(subject, Source::bytes(changed), &options);
            assert_same(&expected, &walk(subject, file, &options), &format!("{}: bytes at {at}", case.name));
        }
    });
}

#[test]
fn every_prefix_is_survived() {
    each_case(|subject, case, bytes| {
        let mut noise = Noise::new(bytes.len() as u64);
        let all = 0..bytes.len().min(EVERY_PREFIX);
        let beyond = bytes.len().saturating_sub(EVERY_PREFIX);
        let sampled = SAMPLED_PREFIXES.min(beyond);
        let sampled = (0..sampled).map(|_| EVERY_PREFIX + noise.below(beyond)).collect::<Vec<_>>();
        for len in all.chain(sampled) {
            survive(subject, &bytes[..len], &format!("{}: first {len} bytes", case.name));
        }
    });
}

#[test]
fn single_byte_changes_are_survived() {
    each_case(|subject, case, bytes| {
        let mut noise = Noise::new(!(bytes.len() as u64));
        for _ in 0..if bytes.is_empty() { 0 } else { CHANGES } {
            let (at, change) = (noise.below(bytes.len()), noise.number());
            let mut changed = bytes.clone();
            changed[at] = match change % 4 {
                0 => 0,
                1 => 0xff,
                2 => changed[at] ^ 1 << (change >> 8 & 7),
                _ => (change >> 8) as u8,
            };
            let name = format!("{}: byte {at} is {:#04x}", case.name, changed[at]);
            for mode in [Mode::Lenient, Mode::Strict] {
                let [small, large] = [1, 256 << 10].map(|window| windowed(mode, window));
                let small = walk(subject, Source::bytes(changed.clone()), &small);
                assert_same(&small, &walk(subject, Source::bytes(changed.clone()), &large), &name);
            }
            survive(subject, &changed, &name);
        }
    });
}

#[test]
fn a_failing_disk_is_an_error_not_a_finding() {
    each_case(|subject, case, bytes| {
        if walk(subject, Source::bytes(bytes.clone()), &Options::default()).is_err() {
            return;
        }
        let mut noise = Noise::new(bytes.len() as u64);
        let sampled = (0..64).map(|_| noise.below(bytes.len()));
        for at in [0, 1, bytes.len() / 2, bytes.len() - 1].into_iter().chain(sampled) {
            let source = sources::fails_at(bytes.clone(), at as u64);
            let error = subject.walk(source, &windowed(Mode::Lenient, 64)).expect_err(&case.name);
            assert!(matches!(error.kind(), ErrorKind::Io(_)), "{}: fails at {at}: {error}", case.name);
        }
    });
}

#[test]
fn a_shrinking_file_reads_as_a_short_one() {
    each_case(|subject, case, bytes| {
        for eighth in 0..8 {
            let end = bytes.len() * eighth / 8;
            let options = windowed(Mode::Lenient, 64);
            let shrunk = walk(subject, sources::shrinks_to(bytes.clone(), end as u64), &options);
            let short = walk(subject, Source::bytes(&bytes[..end]), &options);
            let entries = |outcome: Result<Digest, String>| outcome.map(|digest| digest.entries);
            assert_eq!(entries(shrunk), entries(short), "{}: shrinks to {end}", case.name);
        }
    });
}

#[test]
fn each_file_is_recognized_by_one_format_only() {
    each_case(|subject, case, bytes| {
        let sure = subject.sniff(&bytes);
        let golden = case.golden().unwrap();
        if golden.is_some_and(|golden| subject.accepts(&golden)) {
            assert_eq!(sure, Sniff::Yes, "{}", case.name);
        } else if subject.walk(Source::bytes(bytes.clone()), &Options::default()).is_ok() {
            assert_ne!(sure, Sniff::No, "{}", case.name);
        }
        for other in SUBJECTS.iter().filter(|other| other.format().id != subject.format().id) {
            let claimed = other.sniff(&bytes);
            let id = other.format().id;
            assert!(claimed == Sniff::No || claimed < sure, "{}: {id} claims it too", case.name);
        }
    });
}

fn windowed(mode: Mode, window_bytes: usize) -> Options {
    Options::default().with_mode(mode).with_limits(Limits::with(|limits| limits.window_bytes = window_bytes))
}

fn walk(subject: &dyn Subject, source: Source, options: &Options) -> Result<Digest, String> {
    subject.walk(source, options).map_err(|error| error.to_string())
}

fn assert_same(expected: &Result<Digest, String>, found: &Result<Digest, String>, name: &str) {
    if let (Ok(expected), Ok(found)) = (expected, found) {
        assert_eq!(expected.first_difference(found), None, "{name}");
    }
    assert_eq!(expected, found, "{name}");
}

/// Damaged bytes give findings or an error, and are rewritten unchanged.
fn survive(subject: &dyn Subject, bytes: &[u8], name: &str) {
    match subject.walk(Source::bytes(bytes), &Options::default()) {
        Ok(digest) if digest.findings.is_empty() => {
            let strict = walk(subject, Source::bytes(bytes), &Options::strict());
            assert!(strict.is_ok(), "{name}: nothing is found, and yet strict says {strict:?}");
        }
        Ok(_) => {}
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Unrecognized(_) | ErrorKind::Limit { .. }), "{name}: {error}");
            return;
        }
    }
    let rewritten = subject.rewrite(Source::bytes(bytes), &Options::default());
    let is_same = rewritten.is_ok_and(|rewritten| subject.is_rewritten(&rewritten, bytes));
    assert!(is_same, "{name}: rewriting changes it");
}

fn leaves(value: &serde_json::Value) -> usize {
    match value {
        serde_json::Value::Array(items) => items.iter().map(leaves).sum(),
        serde_json::Value::Object(items) => items.values().map(leaves).sum(),
        _ => 1,
    }
}

/// Replaces the leaf at which `left` reaches 0.
fn change_leaf(value: &mut serde_json::Value, left: &mut usize) {
    match value {
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| change_leaf(item, left)),
        serde_json::Value::Object(items) => items.iter_mut().for_each(|(_, item)| change_leaf(item, left)),
        leaf => {
            if *left == 0 {
                *leaf = "changed".into();
            }
            *left = left.wrapping_sub(1);
        }
    }
}
