//! Whole, cut and damaged files: what can be read comes out again byte for byte, whatever the window.

mod support;

use std::fs;

use support::traces;
use traceloom_bytes::{Limits, Options, Records, Result, Source};
use traceloom_wtf::derive::Tree;

fn rewrite(bytes: &[u8], limits: &Limits) -> Result<Vec<u8>> {
    let options = Options { limits: limits.clone(), ..Options::default() };
    let mut reader = traceloom_wtf::open(Source::bytes(bytes), &options)?;
    let mut writer = traceloom_wtf::create(Vec::new(), reader.header())?;
    while let Some(located) = reader.next()? {
        writer.write(&located.record)?;
    }
    writer.finish()
}

fn all_bytes() -> impl Iterator<Item = (String, Vec<u8>)> {
    traces().into_iter().map(|(name, path)| (name, fs::read(path).unwrap()))
}

fn check(name: &str, bytes: &[u8]) {
    if let Ok(written) = rewrite(bytes, &Limits::default()) {
        assert!(written == bytes, "{name}: {} bytes became {}", bytes.len(), written.len());
    }
}

#[test]
fn every_file_that_opens_is_rewritten_byte_for_byte() {
    let mut opened = 0;
    for (name, bytes) in all_bytes() {
        let opens = traceloom_wtf::open(Source::bytes(bytes.clone()), &Options::default()).is_ok();
        assert_eq!(rewrite(&bytes, &Limits::default()).is_ok(), opens, "{name}");
        opened += usize::from(opens);
        check(&name, &bytes);
    }
    assert!(opened >= 80, "{opened} files open");
}

/// The window is an affair of the reader: nothing that it tells depends on it.
#[test]
fn records_and_findings_do_not_depend_on_the_window() {
    let tell = |bytes: &[u8], window_bytes: usize| -> Option<Vec<String>> {
        let limits = Limits { window_bytes, ..Limits::default() };
        let options = Options { limits, ..Options::default() };
        let mut reader = traceloom_wtf::open(Source::bytes(bytes), &options).ok()?;
        let mut told = Vec::new();
        while let Some(located) = reader.next().unwrap() {
            told.push(format!("{located:?}"));
        }
        told.extend(reader.into_findings().kept().iter().map(|finding| finding.to_string()));
        Some(told)
    };
    for (name, bytes) in all_bytes() {
        let expected = tell(&bytes, 65536);
        for window in [1, 7, 64, 4096] {
            assert!(tell(&bytes, window) == expected, "{name} at a window of {window}");
        }
    }
}

#[test]
fn every_prefix_is_survived() {
    for (name, bytes) in all_bytes() {
        for len in 0..bytes.len().min(4096) {
            check(&name, &bytes[..len]);
        }
    }
}

#[test]
fn damaged_files_are_survived() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize
    };
    for (name, bytes) in all_bytes() {
        if bytes.is_empty() {
            continue;
        }
        for round in 0..150 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + round % 3 {
                let at = next() % damaged.len();
                damaged[at] = if round % 2 == 0 { next() as u8 } else { damaged[at] ^ 1 << (next() % 8) };
            }
            if round % 10 == 0 {
                let at = next() % damaged.len();
                damaged.drain(at..(at + 1 + next() % 40).min(bytes.len()));
            }
            check(&name, &damaged);
            let _ = Tree::build(&Source::bytes(damaged), &Options::default(), true);
        }
    }
}
