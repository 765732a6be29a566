//! Tests only for NYTProf and Pynytprof files.

use traceloom_core::{Edited, Options, Records, Result, Source};
use traceloom_nytprof::{edit, open, pynytprof};
use traceloom_testkit::{Case, Nytprof, Pynytprof, cases, default_roots};

fn edited(edit: impl FnOnce(&mut Vec<u8>) -> Result<Edited>) -> Vec<u8> {
    let mut out = Vec::new();
    edit(&mut out).unwrap();
    out
}

/// Fails unless Devel::NYTProf would load the file.
fn assert_loads(bytes: Vec<u8>, case: &Case) {
    let reader = open(Source::bytes(bytes), &Options::strict());
    let mut reader = reader.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    while reader.next().unwrap_or_else(|error| panic!("{}: {error}", case.name)).is_some() {}
}

fn assert_keeps_the_document(bytes: Vec<u8>, case: &Case) {
    let reader = pynytprof::open(Source::bytes(bytes), &Options::strict());
    let mut reader = reader.unwrap_or_else(|error| panic!("{}: {error}", case.name));
    while reader.next().unwrap_or_else(|error| panic!("{}: {error}", case.name)).is_some() {}
}

/// Every repaired file can be loaded, and can be converted.
#[test]
fn every_profile_can_be_repaired_and_converted() {
    let options = Options::default();
    for case in cases(&Nytprof, &default_roots()).unwrap() {
        let source = Source::bytes(case.bytes().unwrap());
        if open(source.clone(), &options).is_err() {
            continue;
        }
        assert_loads(edited(|out| edit::repair(&source, out, &options)), &case);
        assert_keeps_the_document(edited(|out| edit::to_pynytprof(&source, out, None, &options)), &case);
    }
}

#[test]
fn every_pynytprof_file_can_be_repaired_and_converted() {
    let options = Options::default();
    for case in cases(&Pynytprof, &default_roots()).unwrap() {
        let source = Source::bytes(case.bytes().unwrap());
        assert_keeps_the_document(edited(|out| pynytprof::edit::repair(&source, out, &options)), &case);
        assert_loads(edited(|out| pynytprof::edit::to_nytprof(&source, out, None, &options)), &case);
    }
}
