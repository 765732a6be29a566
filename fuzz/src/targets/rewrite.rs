//! Rewriting: the output equals the input byte for byte.

use std::borrow::Cow;

use traceloom_core::{Codec, ErrorKind, Mode, Source};
use traceloom_testkit::SUBJECTS;

use super::walk::{assert_expected, walk};
use crate::{WIDE_WINDOW, options, shapes};

/// Reads `bytes`, writes them, and reads the result.
pub fn rewrite<C: Codec>(bytes: &[u8]) {
    let options = options(Mode::Lenient, WIDE_WINDOW);
    let source = Source::bytes(bytes);
    if C::open(source.clone(), &options).is_err() {
        return;
    }
    (shapes::of(C::FORMAT.id).show)(&source, &options);
    let mut written = Vec::new();
    if let Err(error) = C::rewrite(&source, &mut written, &options) {
        assert_expected(&error, Mode::Lenient);
        // Opening has accepted the file, so only a limit may stop the walk.
        assert!(!matches!(error.kind(), ErrorKind::Unrecognized(_)), "unrecognized after opening: {error}");
        return;
    }
    let subject = SUBJECTS.iter().find(|subject| subject.format().id == C::FORMAT.id).expect("every format is tested");
    if let (Cow::Owned(kept), mut again) = (subject.kept(bytes), subject.kept(&written)) {
        // A reader may recover more from damaged data than `kept` does.
        again.to_mut().truncate(kept.len());
        // The same contents can be compressed in more than one way, so the walks may differ.
        return assert_same(&again, &kept);
    }
    assert_same(&written, bytes);
    let open = |bytes: &[u8]| C::open(Source::bytes(bytes), &options).expect("what was opened once opens again");
    let [first, second] = [bytes, &written].map(|bytes| walk::<C>(open(bytes), Mode::Lenient));
    assert_eq!(first, second, "equal bytes read differently");
}

/// Fails with the position of the first difference; a dump of both would hide it.
fn assert_same(written: &[u8], read: &[u8]) {
    let same = written.iter().zip(read).take_while(|(written, read)| written == read).count();
    let (written_len, read_len) = (written.len(), read.len());
    assert!(written == read, "rewriting changes byte {same}: {read_len} bytes were read, {written_len} written");
}
