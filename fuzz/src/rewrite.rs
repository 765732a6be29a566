//! Rewriting: what was read comes out byte for byte.

use std::borrow::Cow;

use traceloom_core::{ErrorKind, Mode, Source};

use crate::{
    Format, WIDE_WINDOW, options,
    walk::{assert_expected, walk},
};

/// Reads `bytes`, writes them, and reads the result.
pub fn rewrite<F: Format>(bytes: &[u8]) {
    let options = options(Mode::Lenient, WIDE_WINDOW);
    let source = Source::bytes(bytes);
    if F::open(source.clone(), &options).is_err() {
        return;
    }
    F::show(&source, &options);
    let written = match F::SUBJECT.rewrite(source, &options) {
        Ok(written) => written,
        Err(error) => {
            assert_expected(&error, Mode::Lenient);
            // Opening has recognised the file, so only a limit may stop the walk.
            assert!(!matches!(error.kind(), ErrorKind::Unrecognized(_)), "unrecognised after opening: {error}");
            return;
        }
    };
    if let (Cow::Owned(kept), mut again) = (F::SUBJECT.kept(bytes), F::SUBJECT.kept(&written)) {
        // Of damaged data a reader may get more than we do here.
        again.to_mut().truncate(kept.len());
        // The same contents can be compressed in more than one way, so that the walks may differ.
        return assert_same(&again, &kept);
    }
    assert_same(&written, bytes);
    let open = |bytes: &[u8]| F::open(Source::bytes(bytes), &options).expect("what was opened once opens again");
    let [first, second] = [bytes, &written].map(|bytes| walk::<F>(open(bytes), Mode::Lenient));
    assert_eq!(first, second, "equal bytes read differently");
}

/// Fails with the place where the bytes part; a dump of both would bury it.
fn assert_same(written: &[u8], read: &[u8]) {
    let same = written.iter().zip(read).take_while(|(written, read)| written == read).count();
    let (written_len, read_len) = (written.len(), read.len());
    assert!(written == read, "rewriting changes byte {same}: {read_len} bytes were read, {written_len} written");
}
