//! Every variant of each of Traceloom's formats, written from traces of the other formats.

mod common;

use std::{collections::BTreeSet, path::Path};

use traceloom_core::{Options as Reading, Records, Slice, Source, TimeRange};
use traceloom_mapping::{FORMATS, Trace};
use traceloom_passes::{Options, Target, write};

/// A trace with spans of threads and one with call stacks, so that no format is only converted to itself.
fn others(target: &str) -> Vec<Trace> {
    let files = [
        ("easyprofiler", "v210_nested_threads.prof"),
        ("nytprof", "devel-nytprof-6.12/recurse-calls2.nytprof"),
        ("cnanolog", "head_types.clog"),
        ("memlyze", "memlyze-0.1.0-encoder/api_medium.mlyze"),
        ("wtf", "wtf-js/js-mix.wtf-trace"),
    ];
    let others = files.iter().filter(|(format, _)| !target.ends_with(format));
    others.map(|(format, file)| common::trace(&common::fixture(Path::new(format).join(file)))).collect()
}

fn written(target: &Target, trace: &Trace, variant: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = Options { variant: Some(variant.to_owned()), ..Options::default() };
    let loss = write(target, trace, &options, &mut bytes);
    loss.unwrap_or_else(|error| panic!("{} as {}:{variant}: {error}", trace.format(), target.id));
    bytes
}

/// The variant of a file, as detected by its reader.
fn variant_of(format: &str, bytes: &[u8]) -> String {
    let (source, options) = (Source::bytes(bytes), Reading::strict());
    match format {
        "cnanolog" => {
            let reader = traceloom_cnanolog::open(source, &options).unwrap();
            let is_document = reader.dictionary().unwrap().slots() == traceloom_cnanolog::raw::SLOTS_DOCUMENT;
            if is_document { "document" } else { "1.0.7" }.to_owned()
        }
        "easyprofiler" => traceloom_easyprofiler::open(source, &options).unwrap().header().version.to_string(),
        "memlyze" => {
            let packing = traceloom_memlyze::open(source, &options).unwrap().header().packing();
            if packing == traceloom_memlyze::raw::Packing::Plain { "1" } else { "lz4" }.to_owned()
        }
        "nytprof" => {
            let mut reader = traceloom_nytprof::open(source, &options).unwrap();
            let mut variant = "plain".to_owned();
            while let Some(located) = reader.next().unwrap() {
                if let traceloom_nytprof::Record::Comment(text) = located.record {
                    variant = level(text).unwrap_or(variant);
                }
            }
            variant
        }
        "pynytprof" => {
            let mut reader = traceloom_nytprof::pynytprof::open(source, &options).unwrap();
            let mut variant = "document".to_owned();
            while let Some(located) = reader.next().unwrap() {
                if let traceloom_nytprof::pynytprof::Record::Comment(text) = located.record {
                    variant = level(text).unwrap_or(variant);
                }
            }
            variant
        }
        "wtf" => {
            use traceloom_wtf::Container;
            let is_readable = String::from_utf8_lossy(bytes).contains("\"events\"");
            match traceloom_wtf::open(source, &options).unwrap().header().container {
                Container::Binary => "binary",
                Container::Json if is_readable => "json-events",
                Container::Json => "json",
                Container::JsonPartial => "json-partial",
                other => panic!("nobody asked for {other:?}"),
            }
            .to_owned()
        }
        other => panic!("{other} has no case"),
    }
}

/// The variant named in a comment about compression.
fn level(comment: &[u8]) -> Option<String> {
    let rest = std::str::from_utf8(comment).ok()?.strip_prefix("Compressed at level ")?;
    Some(format!("zlib{}", rest.split(' ').next()?))
}

#[test]
fn every_variant_is_what_its_own_reader_finds() {
    let mut seen = BTreeSet::new();
    for mapping in FORMATS {
        let target = mapping.target;
        assert_eq!(target.id, mapping.format.id);
        assert!(target.variants.len() > 1, "{} has variants", target.id);
        for variant in target.variants {
            for trace in others(target.id) {
                let bytes = written(target, &trace, variant.id);
                let source = Source::bytes(bytes.clone());
                let opened = traceloom_open::open(source, "written".as_ref(), None, &Reading::default()).unwrap();
                assert_eq!(opened.format.descriptor().id, target.id, "{} as {}", trace.format(), variant.id);
                // The plain name of a compression means its default level.
                let expected = if variant.id == "zlib" { "zlib6" } else { variant.id };
                assert_eq!(variant_of(target.id, &bytes), expected, "{} as {}", trace.format(), target.id);
                seen.insert((target.id, variant.id));
            }
        }
    }
    assert_eq!(seen.len(), 6 + 12 + 12 + 2 + 2 + 4, "{seen:?}");
}

#[test]
fn an_older_version_reports_the_losses_of_both_steps() {
    let target = FORMATS.iter().find(|mapping| mapping.format.id == "easyprofiler").unwrap().target;
    let trace = common::trace(&common::fixtures().join("wtf/wtf-js/js-mix.wtf-trace"));
    let lost = |variant: &str| -> BTreeSet<&'static str> {
        let options = Options { variant: Some(variant.to_owned()), ..Options::default() };
        let loss = write(target, &trace, &options, &mut Vec::new()).unwrap();
        loss.entries().map(|(what, ..)| what).collect()
    };
    let (latest, first) = (lost("2.1.0"), lost("0.1.0"));
    assert!(!latest.is_empty() && first.is_superset(&latest), "{latest:?} {first:?}");
    assert!(first.contains("the process id"), "{first:?}");
}

/// A statement can hold only so many ticks, and a call may last 292 years.
#[test]
fn a_long_call_does_not_make_a_long_profile() {
    let trace = common::trace(Path::new("tests/nytprof/call-of-292-years.nytprof"));
    let slice = Slice { range: TimeRange::between(0, 10_000_000_000), threads: Vec::new() };
    let target = FORMATS.iter().find(|mapping| mapping.format.id == "nytprof").unwrap().target;
    let mut bytes = Vec::new();
    write(target, &trace, &Options { slice, ..Options::default() }, &mut bytes).expect("it is written");
    assert!(bytes.len() < 1 << 20, "{} bytes", bytes.len());
}
