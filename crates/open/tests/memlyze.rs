//! Memlyze through the interface that all formats share.

use std::{fs, path::Path};

use traceloom_core::{Amount, Info, Options, Records, Source};
use traceloom_memlyze::raw::Packing;
use traceloom_open::{Format, by_id};

fn memlyze() -> &'static dyn Format {
    by_id("memlyze").unwrap()
}

fn fixture(name: &str) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/memlyze").join(name);
    Source::bytes(fs::read(path).unwrap())
}

fn info(source: &Source) -> Info {
    memlyze().info(source, &Options::default()).unwrap().0
}

fn fact<'i>(info: &'i Info, name: &str) -> Option<&'i Amount> {
    info.facts.iter().find(|fact| fact.name == name).map(|fact| &fact.amount)
}

#[test]
fn info_of_a_real_trace_says_what_cannot_be_known() {
    let info = info(&fixture("memlyze-0.1.0/killed.mlyze"));
    let Some(Amount::Text(mode)) = fact(&info, "mode") else { panic!("no mode") };
    assert!(mode.starts_with("growth"), "{mode}");
    assert!(matches!(fact(&info, "cannot_be_known"), Some(Amount::Text(_))));
    for figure in ["frees", "live_at_end", "live_bytes", "peak_bytes", "gc_bytes"] {
        assert_eq!(fact(&info, figure), None, "{figure} would be invented");
    }
    assert_eq!(fact(&info, "growths"), Some(&Amount::Count(4965)));
    assert_eq!(fact(&info, "recorded"), Some(&Amount::Nanoseconds(89_695_400_000)));
}

#[test]
fn info_of_a_trace_by_the_document_finds_the_leak() {
    let sample = memlyze().sample().unwrap();
    let info = info(&Source::bytes(sample.bytes));
    assert_eq!(fact(&info, "live_at_end"), Some(&Amount::Count(134)));
    let stacks = info.tables.iter().find(|table| table.name == "top_stacks").unwrap();
    let leaking: Vec<_> = stacks.rows.iter().filter(|row| row[3] != Amount::Count(0)).collect();
    assert_eq!(leaking.len(), 1);
    assert_eq!(leaking[0][4], "remember shop/cache.py:19".into());
}

#[test]
fn packing_changes_no_fact_but_itself() {
    let plain = Source::bytes(memlyze().sample().unwrap().bytes);
    let mut packed = Vec::new();
    let edited = memlyze().canonical(&plain, &mut packed, Some("lz4"), &Options::default()).unwrap();
    assert!(edited.loss.is_empty(), "{:?}", edited.loss);
    let packed = Source::bytes(packed);
    let reader = traceloom_memlyze::open(packed.clone(), &Options::default()).unwrap();
    assert_eq!(reader.header().packing(), Packing::Blocks);
    let (one, mut two) = (info(&plain), info(&packed));
    assert_eq!(fact(&two, "lz4_blocks"), Some(&Amount::Count(2)));
    two.facts.retain(|fact| fact.name != "lz4_blocks");
    assert_eq!(format!("{one:?}"), format!("{two:?}"));
    let mut kinds = Vec::new();
    let findings = memlyze().dump(&packed, &Options::strict(), &mut |_, _, record| {
        kinds.push(record.kind());
        Ok(true)
    });
    assert!(findings.unwrap().kept().is_empty());
    assert_eq!(kinds.iter().filter(|kind| **kind == "block").count(), 2);
    assert_eq!(kinds.iter().filter(|kind| **kind == "alloc").count(), 4346);
}
