//! Dialects, and edits of changed files: nothing panics or hangs.

mod support;

use proptest::prelude::*;
use support::{fixtures, windowed};
use traceloom_core::{Limits, Options, Records, Slice, Sniff, Source};
use traceloom_nytprof::{aggregate, edit, open, pynytprof, raw};

#[test]
fn first_bytes_tell_the_dialect() {
    for (name, bytes) in fixtures() {
        let is_pynytprof = pynytprof::open(Source::bytes(bytes.clone()), &Options::default()).is_ok();
        for len in [400, 512, 600, 4096, 65536] {
            let prefix = &bytes[..len.min(bytes.len())];
            let wanted = match (is_pynytprof, prefix.starts_with(b"NYTProf ")) {
                (_, false) => [Sniff::No, Sniff::No],
                (true, _) => [Sniff::No, Sniff::Yes],
                (false, _) => [Sniff::Yes, Sniff::No],
            };
            let sniffed = [traceloom_nytprof::sniff(prefix), pynytprof::sniff(prefix)];
            assert_eq!(sniffed, wanted, "{name}, {len} bytes");
        }
    }
}

/// Reads a file in every possible way; it only matters that this ends.
fn exercise(bytes: &[u8]) {
    let options = windowed(256);
    for options in [options, Options::strict()] {
        if let Ok(mut reader) = open(Source::bytes(bytes), &options) {
            while let Ok(Some(_)) = reader.next() {}
        }
        if let Ok(mut reader) = pynytprof::open(Source::bytes(bytes), &options) {
            while let Ok(Some(_)) = reader.next() {}
        }
    }
}

fn exercise_edits(bytes: &[u8]) {
    // A changed count may ask for as many statements as the limits allow, which only takes time.
    let limits = Limits::with(|limits| limits.entries = 1 << 16);
    let (source, options) = (Source::bytes(bytes), Options::default().with_limits(limits));
    if let Ok(mut profile) = aggregate::load(source.clone(), &options) {
        profile.merge_evals();
    }
    let _ = edit::repair(&source, std::io::sink(), &options);
    let _ = edit::canonical(&source, std::io::sink(), Some("plain"), &options);
    let _ = edit::merge(&[source.clone(), source.clone()], std::io::sink(), &options);
    let _ = edit::to_pynytprof(&source, std::io::sink(), None, &options);
    let _ = pynytprof::edit::to_nytprof(&source, std::io::sink(), None, &options);
    let _ = pynytprof::edit::canonical(&source, std::io::sink(), None, &options);
}

#[test]
fn edits_of_changed_files_end() {
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random >> 8
    };
    for (_, bytes) in fixtures() {
        for _ in 0..60 {
            let mut bytes = bytes.clone();
            let len = bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(next() as usize % len) {
                *byte = next() as u8;
            }
            exercise_edits(&bytes);
        }
    }
}

/// A compressed profile with `count` string evals, each run once.
fn evals(count: u32) -> Vec<u8> {
    let mut records = b"P\x01\x01\0\0\x10\x40\xfc\x54\xd9\x41@\x01\0\0\x12\0\0'\x05/x.pl".to_vec();
    for number in 1..=count {
        let name = format!("(eval {number})[/x.pl:3]");
        let mut fid = Vec::new();
        raw::put_integer(number + 1, &mut fid);
        records.extend([&b"@"[..], &fid, b"\x01\x03\x02\0\0'", &[name.len() as u8], name.as_bytes()].concat());
        records.extend([&b"+\x05"[..], &fid, b"\x01"].concat());
    }
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, &records).unwrap();
    [b"NYTProf 5 0\n:nv_size=8\n:ticks_per_sec=10000000\nz", &encoder.finish().unwrap()[..]].concat()
}

/// Many evals are many files, and compress well: what is kept of them is more than a few times the file.
#[test]
fn very_many_string_evals_are_read() {
    let bytes = evals(150_000);
    let source = Source::bytes(bytes.as_slice());
    let profile = aggregate::load(source.clone(), &Options::default()).unwrap();
    assert_eq!(profile.stmts_measured, 150_000);
    edit::repair(&source, std::io::sink(), &Options::default()).unwrap();
    edit::slice(&source, std::io::sink(), &Slice::default(), &Options::default()).unwrap();
}

#[test]
fn a_lie_about_a_length_costs_no_memory() {
    let mut bytes = b"NYTProf 5 0\n:nv_size=8\n:ticks_per_sec=10000000\n@\x01\0\0\0\0\0'\xff\xff\xff\xff\xff".to_vec();
    bytes.extend([b'x'; 100]);
    exercise(&bytes);
    exercise_edits(&bytes);
}

proptest! {
    #[test]
    fn any_bytes_behind_the_magic_end(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for head in [&b"NYTProf 5 0\n"[..], b"NYTProf 5 0\nP\x01\x01\0\0\x10\x40\xfc\x54\xd9\x41", b"NYTPROF\0\x05\0\0\0\0\0\0\0"] {
            let bytes = [head, &bytes].concat();
            exercise(&bytes);
            exercise_edits(&bytes);
        }
    }
}
