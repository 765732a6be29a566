//! Editing: whatever comes in, what goes out can be read, and a repaired file is a good one.

use traceloom_bytes::{Edited, Error, ErrorKind, Mode, Options, Result, Slice, Source};

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
    if let Some(merged) = run(|out| F::merge(&[source.clone(), source.clone()], out, &options)) {
        assert_walks::<F>(&merged, Mode::Lenient, "merge");
    }
    canonical::<F>(&source, bytes, &options);
    F::convert(&source, &options);
}

/// Checks what comes out of a conversion to the format `To`.
pub(crate) fn converted<To: Format>(convert: impl FnOnce(&mut Vec<u8>) -> Result<Edited>) {
    if let Some(converted) = run(convert) {
        assert_walks::<To>(&converted, Mode::Strict, "convert");
    }
}

fn repair<F: Format>(source: &Source, options: &Options) {
    // Repairing the result again may well change it: which dialect a file is in can hang on its times,
    // and those of an arbitrary input fit more than one.
    if let Some(repaired) = run(|out| F::repair(source, out, options)) {
        assert_walks::<F>(&repaired, Mode::Strict, "repair");
    }
}

fn slice<F: Format>(source: &Source, bytes: &[u8], options: &Options) {
    let from_ns = choice(bytes, 1 << 20) as i64;
    let slice = Slice { from_ns: Some(from_ns), to_ns: Some(from_ns.saturating_mul(2)), threads: Vec::new() };
    for slice in [slice, Slice::default()] {
        if let Some(sliced) = run(|out| F::slice(source, out, &slice, options)) {
            assert_walks::<F>(&sliced, Mode::Lenient, "slice");
        }
    }
}

fn canonical<F: Format>(source: &Source, bytes: &[u8], options: &Options) {
    let variants = F::FORMAT.variants;
    let variant = variants.get(choice(bytes, variants.len() + 1)).map(|variant| variant.id);
    if let Some(clean) = run(|out| F::canonical(source, out, variant, options)) {
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
    let reader = F::open(Source::bytes(bytes), &options(mode, WIDE_WINDOW));
    let reader = reader.unwrap_or_else(|error| panic!("the result of {edit} does not open in {mode:?} mode: {error}"));
    let walked = walk::<F>(reader, mode);
    assert_eq!(walked.error, None, "the result of {edit} is not accepted in {mode:?} mode");
    if let Some(end) = walked.end {
        assert_eq!(end, bytes.len() as u64, "the result of {edit} is not read to its end");
    }
}
