//! Files in the forms of the circulating description are read completely.

use std::{collections::BTreeSet, fs, path::PathBuf};

use traceloom_core::{Options, Source};
use traceloom_testkit::{
    EasyProfiler, Subject,
    document::{Contents, forms},
};

#[test]
fn every_form_is_read_in_full_with_its_own_findings() {
    let mut wrong = Vec::new();
    for form in forms() {
        let (contents, codes) = Contents::read(Source::bytes(form.bytes)).unwrap();
        if contents != form.contents {
            wrong.push(format!("{}: {codes:?}\n  expected {:?}\n  found    {contents:?}", form.name, form.contents));
        } else if codes != form.codes {
            wrong.push(format!("{}: expected {:?}, found {codes:?}", form.name, form.codes));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_form_comes_out_byte_for_byte() {
    for form in forms() {
        let rewritten = EasyProfiler.rewrite(Source::bytes(form.bytes.clone()), &Options::default()).unwrap();
        assert_eq!(rewritten, form.bytes, "{}", form.name);
    }
}

#[test]
fn the_fixtures_are_the_forms() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/easyprofiler/document");
    if std::env::var_os("TRACELOOM_BLESS").is_some() {
        forms().iter().for_each(|form| fs::write(folder.join(form.name).with_extension("prof"), &form.bytes).unwrap());
    }
    let mut expected = BTreeSet::new();
    for form in forms() {
        let path = folder.join(form.name).with_extension("prof");
        assert_eq!(fs::read(&path).ok(), Some(form.bytes), "{}", form.name);
        expected.insert(path);
    }
    let found: BTreeSet<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(found, expected);
}
