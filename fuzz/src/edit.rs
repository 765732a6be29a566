//! Editing: whatever comes in, what goes out can be read, and a repaired file is a good one.

use traceloom_core::{Edited, Error, ErrorKind, Mode, Options, Result, Slice, Source, TimeRange};
use traceloom_open::by_id;

use crate::{Format, WIDE_WINDOW, choice, options, walk::walk};

/// Runs every edit on `bytes`.
pub fn edit<F: Format>(bytes: &[u8]) {
    let options = options(Mode::Lenient, WIDE_WINDOW);
    let source = Source::bytes(bytes);
    if F::open(source.clone(), &options).is_err() {
        return;
    }
    repair::<F>(&source, &options);
    slice::<F>(&source, bytes, &options);
    if let Some(merged) = run(|out| format::<F>().merge(&[source.clone(), source.clone()], out, &options)) {
        assert_walks::<F>(&merged, Mode::Lenient, "merge");
    }
    canonical::<F>(&source, bytes, &options);
    F::convert(&source, &options);
}

/// The format as the program knows it.
fn format<F: Format>() -> &'static dyn traceloom_open::Format {
    by_id(F::SUBJECT.format().id).expect("every subject is in the list of formats")
}

/// Checks what comes out of a conversion to the format `To`.
pub(crate) fn converted<To: Format>(convert: impl FnOnce(&mut Vec<u8>) -> Result<Edited>) {
    if let Some(converted) = run(convert) {
        assert_walks::<To>(&converted, Mode::Strict, "convert");
    }
}

fn repair<F: Format>(source: &Source, options: &Options) {
    // Repairing the result again may well change it: which dialect a file is in can hang on its times,
    // and those of an arbitrary input fit more than one. Where the original loads no file of a dialect, its
    // document has the rules that a repaired one keeps.
    if let Some(repaired) = run(|out| format::<F>().repair(source, out, options)) {
        assert_walks::<F>(&repaired, Mode::Strict, "repair");
    }
}

fn slice<F: Format>(source: &Source, bytes: &[u8], options: &Options) {
    let from_ns = choice(bytes, 1 << 20) as i64;
    let slice = Slice { range: TimeRange::between(from_ns, from_ns.saturating_mul(2)), threads: Vec::new() };
    for slice in [slice, Slice::default()] {
        if let Some(sliced) = run(|out| format::<F>().slice(source, out, &slice, options)) {
            assert_walks::<F>(&sliced, Mode::Lenient, "slice");
        }
    }
}

fn canonical<F: Format>(source: &Source, bytes: &[u8], options: &Options) {
    let variants = F::SUBJECT.format().variants;
    let variant = variants.get(choice(bytes, variants.len() + 1)).map(|variant| variant.id);
    if let Some(clean) = run(|out| format::<F>().canonical(source, out, variant, options)) {
        assert_walks::<F>(&clean, Mode::Lenient, "canonical");
    }
}

/// The output of an edit, or nothing where the edit had a right to refuse.
fn run(edit: impl FnOnce(&mut Vec<u8>) -> Result<Edited>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    match edit(&mut out) {
        Ok(_) => Some(out),
        Err(error) => {
            assert!(may_refuse(&error), "an edit ends with: {error}");
            None
        }
    }
}

fn may_refuse(error: &Error) -> bool {
    use ErrorKind::{Io, Limit, Unrecognized, Usage};
    matches!(error.kind(), Io(_) | Limit { .. } | Unrecognized(_) | Usage(_))
}

fn assert_walks<F: Format>(bytes: &[u8], mode: Mode, edit: &str) {
    // Damage can make a file of one dialect look like one of the other; without it, it is what it was.
    if F::is_sibling(bytes) {
        return;
    }
    let mut options = options(mode, WIDE_WINDOW);
    // Base64 makes one text of what were many records, and each of those may be longer than it was.
    options.limits.record_bytes = options.limits.record_bytes.max(bytes.len());
    let reader = F::open(Source::bytes(bytes), &options);
    let reader = reader.unwrap_or_else(|error| panic!("the result of {edit} does not open in {mode:?} mode: {error}"));
    let walked = walk::<F>(reader, mode);
    assert_eq!(walked.error, None, "the result of {edit} is not accepted in {mode:?} mode");
    if let Some(end) = walked.end {
        assert_eq!(end, bytes.len() as u64, "the result of {edit} is not read to its end");
    }
}
