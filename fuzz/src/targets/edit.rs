//! Editing: for any input, the output can be read, and a repaired file is valid.

use traceloom_core::{Codec, Error, ErrorKind, Mode, Options, Result, Sibling, Slice, Source, TimeRange};
use traceloom_open::by_id;

use super::walk::walk;
use crate::{Choices, WIDE_WINDOW, options, shapes};

/// Runs every edit on `bytes`.
pub fn edit<C: Codec>(bytes: &[u8]) {
    let options = options(Mode::Lenient, WIDE_WINDOW);
    let source = Source::bytes(bytes);
    if C::open(source.clone(), &options).is_err() {
        return;
    }
    let mut choices = Choices::of(bytes);
    repair::<C>(&source, &options);
    slice::<C>(&source, &mut choices, &options);
    if let Some(merged) = run(|out| C::merge(&[source.clone(), source.clone()], out, &options)) {
        assert_walks::<C>(&merged, Mode::Lenient, "merge");
    }
    canonical::<C>(&source, &mut choices, &options);
    C::FORMAT.siblings.iter().for_each(|sibling| convert::<C>(&source, sibling, &options));
}

fn repair<C: Codec>(source: &Source, options: &Options) {
    // Repairing the result again may change it: the dialect of a file can depend on its times, and those of an
    // arbitrary input fit more than one. If the format's tool loads no file of a dialect, a repaired file follows the
    // rules of its documentation.
    if let Some(repaired) = run(|out| C::repair(source, out, options)) {
        assert_walks::<C>(&repaired, Mode::Strict, "repair");
    }
}

fn slice<C: Codec>(source: &Source, choices: &mut Choices, options: &Options) {
    let from_ns = choices.below(1 << 20) as i64;
    let ranges = [TimeRange::between(from_ns, from_ns * 2), TimeRange::between(from_ns, from_ns), TimeRange::ALL];
    for range in ranges {
        let slice = Slice { range, threads: Vec::new() };
        if let Some(sliced) = run(|out| C::slice(source, out, &slice, options)) {
            assert_walks::<C>(&sliced, Mode::Lenient, "slice");
        }
    }
}

fn canonical<C: Codec>(source: &Source, choices: &mut Choices, options: &Options) {
    let variants = C::FORMAT.variants;
    let variant = variants.get(choices.below(variants.len() + 1)).map(|variant| variant.id);
    if let Some(clean) = run(|out| C::canonical(source, out, variant, options)) {
        assert_walks::<C>(&clean, Mode::Lenient, "canonical");
    }
}

fn convert<C: Codec>(source: &Source, sibling: &str, options: &Options) {
    let to = Sibling { format: by_id(sibling).expect("a sibling is a format").descriptor(), variant: None };
    if let Some(converted) = run(|out| C::convert_to(source, out, &to, options)) {
        (shapes::of(sibling).assert_walks)(&converted, Mode::Strict, "convert");
    }
}

/// The output of an edit, or `None` if the edit was allowed to refuse.
pub(super) fn run<T>(edit: impl FnOnce(&mut Vec<u8>) -> Result<T>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match edit(&mut out) {
        Ok(_) => Some(out),
        Err(error) => {
            assert!(may_refuse(&error), "an edit ends with: {error}");
            None
        }
    }
}

pub(super) fn may_refuse(error: &Error) -> bool {
    use ErrorKind::{Io, Limit, Unrecognized, Unsupported, Usage};
    matches!(error.kind(), Io(_) | Limit { .. } | Unrecognized(_) | Unsupported(_) | Usage(_))
}

/// A format's tool may refuse an empty file, and then so does the strict reader.
fn says_empty(error: &Error) -> bool {
    const CODES: [&str; 3] = ["easyprofiler.empty-profile", "easyprofiler.no-descriptors", "easyprofiler.no-threads"];
    matches!(error.kind(), ErrorKind::Refused(finding) if CODES.contains(&finding.rule.code))
}

/// Reads the result of an edit to its end.
pub(crate) fn assert_walks<C: Codec>(bytes: &[u8], mode: Mode, edit: &str) {
    let source = Source::bytes(bytes);
    // Damage can make a file of one dialect look like the other; once repaired, it is what it was.
    if C::settle(&source, &Options::default()).is_ok_and(|sibling| sibling.is_some()) {
        return;
    }
    let mut options = options(mode, WIDE_WINDOW).thorough();
    // Base64 joins many records into one text, and each of those may be longer than before.
    options.limits.record_bytes = options.limits.record_bytes.max(bytes.len());
    let reader = C::open(source, &options);
    if reader.as_ref().is_err_and(says_empty) {
        return;
    }
    let reader = reader.unwrap_or_else(|error| panic!("the result of {edit} does not open in {mode:?} mode: {error}"));
    let walked = walk::<C>(reader, mode);
    assert_eq!(walked.error, None, "the result of {edit} is not accepted in {mode:?} mode");
    if let Some(end) = walked.end {
        assert_eq!(end, bytes.len() as u64, "the result of {edit} is not read to its end");
    }
}
