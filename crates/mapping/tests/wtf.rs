//! Web Tracing Framework files as tables.

mod common;
#[path = "wtf/golden.rs"]
mod golden;
#[path = "wtf/made.rs"]
mod made;
#[path = "wtf/rows.rs"]
mod rows;

use std::path::{Path, PathBuf};

use arrow_array::{Array, ArrayRef, DictionaryArray, RecordBatch, StringArray, cast::AsArray, types::Int32Type};
use golden::{Compared, Golden};
use rows::Rows;
use traceloom_core::{Limits, Random, Source, TimeRange};
use traceloom_mapping::{Options, Trace, ingest};
use traceloom_model::{Batches, Columns, Filter, Flow, Table, TableSink, Wanted};
use traceloom_wtf::{Composer, FileInfo, Form};

/// Files that WTF misreads without refusing them, and why.
const READ_BETTER: [(&str, &str); 5] = [
    ("cpp-samename", "it decodes by the first signature of a name"),
    ("hc-json-events", "it ignores events in JSON"),
    ("hc-samename", "it decodes by the first signature of a name"),
    ("hc-two-headers", "it shifts times by milliseconds, in the wrong direction"),
    ("up-v2json", "it opens old lists and shows nothing"),
];

fn is_trace(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.to_string_lossy().starts_with("wtf-"))
}

/// The fixtures, and the files of the shared corpus if it is available.
fn traces() -> Vec<PathBuf> {
    let mut files = common::below(&common::fixtures().join("wtf"), "");
    let corpus = std::env::var_os("TRACELOOM_CORPUS").map(PathBuf::from);
    let beside = Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus"));
    for root in [corpus, beside].into_iter().flatten().map(|root| root.join("wtf")).filter(|root| root.is_dir()) {
        files.extend(common::below(&root, ""));
    }
    files.retain(|path| is_trace(path));
    files
}

fn fixture(name: &str) -> Trace {
    common::trace(&common::fixtures().join("wtf").join(name))
}

#[test]
fn the_tables_tell_what_the_original_tells() {
    let mut compared = Compared::default();
    let (mut files, mut refused) = (0, 0);
    for path in traces() {
        let golden = path.with_extension("json");
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_read_better = READ_BETTER.iter().any(|(start, _)| name.starts_with(start));
        if !golden.exists() || is_read_better {
            continue;
        }
        let golden = common::json(&golden);
        let Some(trace) = readable(&path, Source::open(&path, &Limits::default()).expect("the fixture is there"))
        else {
            continue;
        };
        let rows = Rows::of(&common::tables(&trace).0);
        let golden = Golden::new(&name, &golden, &rows, &mut compared);
        if golden.is_refused() {
            refused += golden.compare_begun();
        } else {
            golden.compare();
            files += 1;
        }
    }
    println!("{files} files: {compared:?}");
    assert!(files >= 63 && refused >= 27, "{files} files, {refused} events of refused ones");
    let Compared { scopes, instances, args, frames, marks, ranges, links, definitions, attributes } = compared;
    // The counts of the fixtures alone.
    assert!(scopes >= 3680 && instances >= 1212 && args >= 6395, "{scopes} {instances} {args}");
    assert!(frames >= 79 && marks >= 8 && ranges >= 16 && links >= 102, "{frames} {marks} {ranges} {links}");
    assert!(definitions >= 800 && attributes >= 651, "{definitions} {attributes}");
}

/// A trace, unless it is one that no reader can read.
fn readable(path: &Path, source: Source) -> Option<Trace> {
    let options = Options::default();
    traceloom_wtf::open(source.clone(), &options.read).ok()?;
    Some(Trace::new(path, source, Some("wtf"), &options).expect("its format is given"))
}

#[test]
fn what_cannot_be_read_is_an_error() {
    let mut refused = 0;
    for path in traces() {
        let bytes = std::fs::read(&path).expect("the fixture is there");
        if readable(&path, Source::bytes(bytes.clone())).is_none() {
            let trace = Trace::new(&path, Source::bytes(bytes), Some("wtf"), &Options::default());
            let mut sink = Batches::of(Wanted::everything());
            let result = trace.and_then(|trace| ingest(&trace, &Options::default(), &mut sink));
            assert!(result.is_err(), "{}", path.display());
            refused += 1;
        }
    }
    assert!(refused >= 4, "{refused} files");
}

/// A scope ends before the one around it in every file, because leaving always ends the innermost.
#[test]
fn the_tables_of_every_trace_fit_together() {
    let mut files = 0;
    for path in traces() {
        let source = Source::bytes(std::fs::read(&path).expect("the fixture is there"));
        let Some(trace) = readable(&path, source) else { continue };
        let (batches, verdict) = common::tables(&trace);
        assert!(verdict.overlaps.is_empty(), "{}: {:?}", path.display(), verdict.overlaps);
        for table in [Table::Traces, Table::Processes] {
            assert_eq!(batches.rows(table), 1, "{}: {}", path.display(), table.name());
        }
        assert!(batches.rows(Table::Threads) > 0 && batches.rows(Table::Attributes) > 0, "{}", path.display());
        files += 1;
    }
    assert!(files > 80, "{files} files");
}

/// Whatever is missing from a file, the rest gives consistent tables.
#[test]
fn cut_files_fit_together() {
    let mut cuts = 0;
    for path in traces() {
        let bytes = std::fs::read(&path).expect("the fixture is there");
        for part in 1..16 {
            let source = Source::bytes(&bytes[..bytes.len() * part / 16]);
            let Some(trace) = readable(&path, source) else { continue };
            common::tables(&trace);
            cuts += 1;
        }
    }
    assert!(cuts > 900, "{cuts} cuts");
}

/// Whatever a file claims, its tables are consistent.
#[test]
fn damaged_files_fit_together() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut read = 0;
    for path in traces() {
        let bytes = std::fs::read(&path).expect("the fixture is there");
        for _ in 0..12 {
            let mut bytes = bytes.clone();
            for _ in 0..1 + random.index(6) {
                let at = random.index(bytes.len().max(1));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.index(256) as u8;
                }
            }
            let Some(trace) = readable(&path, Source::bytes(bytes)) else { continue };
            common::tables(&trace);
            read += 1;
        }
    }
    assert!(read > 700, "{read} files");
}

/// A table read alone, each column read alone, and the whole have the same values.
#[test]
fn a_part_is_a_part_of_the_whole() {
    for name in [
        "wtf-js/js-mix",
        "wtf-js/js-outoforder",
        "wtf-js/js-append",
        "wtf-js/js-ringwrap",
        "hand-made/hc-resources",
        "wtf-cpp/cpp-threads",
    ] {
        let trace = fixture(&format!("{name}.wtf-trace"));
        let (whole, _) = common::tables(&trace);
        for table in Table::ALL {
            let whole: Vec<_> = whole.table(table).cloned().collect();
            for column in table.columns() {
                let part = common::part(&trace, table, &[column.name]);
                assert_eq!(
                    cells(&part, column.name),
                    cells(&whole, column.name),
                    "{name}: {} {}",
                    table.name(),
                    column.name
                );
            }
        }
    }
}

/// The values of a column, whatever its type.
fn cells(batches: &[RecordBatch], column: &str) -> Vec<String> {
    let mut cells = Vec::new();
    for batch in batches {
        let array = batch.column_by_name(column).expect("the column was asked for");
        let array = array.as_dictionary_opt::<Int32Type>().map_or_else(|| array.clone(), texts);
        cells.extend((0..array.len()).map(|row| format!("{:?}", array.slice(row, 1))));
    }
    cells
}

/// The texts of a dictionary-encoded column, row by row.
fn texts(names: &DictionaryArray<Int32Type>) -> ArrayRef {
    let values = names.values().as_string::<i32>();
    let texts = names.keys().iter().map(|key| key.map(|key| values.value(key as usize)));
    std::sync::Arc::new(texts.collect::<StringArray>())
}

#[test]
fn a_filter_leaves_out_what_lies_outside() {
    let trace = fixture("wtf-js/js-mix.wtf-trace");
    let (whole, _) = common::tables(&trace);
    let whole = Rows::of(&whole);
    let last = whole.times[1].expect("there are events");
    let filter = Filter { range: TimeRange::between(last / 4, last / 2), threads: Some(vec![0]) };
    let part = Rows::of(&common::filtered(&trace, Wanted::everything(), filter.clone()));
    let is_inside = |thread, ts| filter.takes_thread(thread) && filter.takes_time(ts);
    let inside: Vec<_> =
        whole.spans.iter().filter(|span| is_inside(span.thread, span.ts)).map(|span| span.id).collect();
    assert!(inside.len() > 50 && inside.len() < whole.spans.len() / 2, "{}", inside.len());
    assert_eq!(part.spans.iter().map(|span| span.id).collect::<Vec<_>>(), inside);
    let inside: Vec<_> =
        whole.events.iter().filter(|event| is_inside(event.thread, event.ts)).map(|event| event.id).collect();
    assert!(!inside.is_empty());
    assert_eq!(part.events.iter().map(|event| event.id).collect::<Vec<_>>(), inside);
    for (table, ids) in
        [(Table::Spans, part.spans.iter().map(|span| span.id).collect::<Vec<_>>()), (Table::Events, inside)]
    {
        for id in ids {
            assert_eq!(part.args_of(table, id), whole.args_of(table, id), "{} {id}", table.name());
        }
    }
    assert!(part.args.len() < whole.args.len() / 2);
    assert_eq!(part.threads, whole.threads);
}

/// Wants some whole tables and stops at the first batch.
struct First(Wanted, u64);

impl TableSink for First {
    fn wants(&self, table: Table) -> Columns {
        self.0.columns(table)
    }

    fn batch(&mut self, _table: Table, _batch: RecordBatch) -> traceloom_core::Result<Flow> {
        self.1 += 1;
        Ok(Flow::Stop)
    }
}

#[test]
fn a_stop_ends_early() {
    let mut composer = Composer::new(Vec::new(), Form::Binary, &FileInfo::default()).unwrap();
    let tick = composer.builtin("wtf.trace#discontinuity").unwrap();
    let zone = composer.zone(Some("z"), None, None).unwrap();
    for time in 0..100_000 {
        composer.event(zone, tick, time, []).unwrap();
    }
    let trace = composed(composer);
    let mut sink = First(Wanted::nothing().and(Table::Events, Columns::ALL), 0);
    ingest(&trace, &Options::default(), &mut sink).expect("a stop is no error");
    assert_eq!(sink.1, 1);
    let mut all = Batches::of(Wanted::nothing().and(Table::Events, Columns::ALL));
    ingest(&trace, &Options::default(), &mut all).unwrap();
    assert_eq!(all.rows(Table::Events), 100_000);
}

fn composed(composer: Composer<Vec<u8>>) -> Trace {
    let source = Source::bytes(composer.finish().unwrap());
    Trace::new("made.wtf-trace".as_ref(), source, None, &Options::default()).unwrap()
}
