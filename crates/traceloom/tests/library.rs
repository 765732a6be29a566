//! The library as a user calls it, on the built-in sample of every format.

use std::{
    io::{self, Write},
    ops::ControlFlow,
};

use traceloom::{Amount, ErrorKind, OpenOptions, Result, Severity, Slice, Source, Trace, Traces, formats};

/// The sample of every format.
fn samples() -> impl Iterator<Item = Trace> {
    formats().map(|format| Trace::sample(format.id).expect("every format has a sample"))
}

/// An output that rejects all writes.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_bytes_of_a_sample_name_its_format() {
    for sample in samples() {
        let trace = OpenOptions::new().open_source("unknown", sample.source().clone()).expect("it is recognized");
        assert_eq!(trace.format().id, sample.format().id);
        assert_eq!(trace.path().to_str(), Some("unknown"));
    }
}

#[test]
fn info_and_check_find_no_problem_in_a_sample() -> Result<()> {
    for trace in samples() {
        let info = trace.info()?;
        assert_eq!(info.bytes, trace.source().len()?);
        assert!(info.contents.facts.iter().any(|fact| matches!(fact.amount, Amount::Count(count) if count > 0)));
        assert_ne!(info.findings.worst(), Some(Severity::Error));
        let strict = OpenOptions::new().strict(true).format(trace.format().id);
        let findings = strict.open_source("strict", trace.source().clone())?.check()?;
        assert_ne!(findings.worst(), Some(Severity::Error));
    }
    Ok(())
}

#[test]
fn records_start_with_the_header_and_end_where_the_visitor_says() -> Result<()> {
    for trace in samples() {
        let (mut all, mut offset) = (0, 0);
        trace.records(|record| {
            assert!(all > 0 || record.offset == 0, "the header comes first");
            offset = record.offset;
            all += 1;
        })?;
        assert!(all > 10 && offset > 0, "{all} records, the last at {offset}");
        let mut seen = 0;
        trace.records(|_| {
            seen += 1;
            if seen < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        assert_eq!(seen, 3);
        let stopped = trace.records(|_| -> Result<()> { Err(io::Error::other("enough").into()) });
        assert!(stopped.is_err_and(|error| error.to_string().ends_with("enough")));
    }
    Ok(())
}

#[test]
fn a_trace_is_written_again_and_edited() -> Result<()> {
    for trace in samples() {
        let original = trace.source().prefix(usize::try_from(trace.source().len()?).expect("a sample is small"))?;
        let mut bytes = Vec::new();
        trace.rewrite(&mut bytes)?;
        assert!(bytes == original, "{} is rewritten byte for byte", trace.format().name);
        let mut edits: [Vec<u8>; 4] = Default::default();
        let [canonical, repaired, sliced, merged] = &mut edits;
        trace.canonical(None, canonical)?;
        trace.repair(repaired)?;
        trace.slice(&Slice::default(), sliced)?;
        Traces::from_iter([trace.clone(), trace.clone()]).merge(merged)?;
        for bytes in edits {
            let edited = OpenOptions::new().open_source("edited", Source::bytes(bytes))?;
            assert_eq!(edited.format().id, trace.format().id);
            assert_ne!(edited.check()?.worst(), Some(Severity::Error));
        }
    }
    Ok(())
}

#[test]
fn an_error_names_the_file_that_it_is_about() {
    let missing = Trace::open("no/such/file.prof").expect_err("there is no such file");
    assert!(missing.to_string().starts_with("no/such/file.prof: "), "{missing}");
    assert!(matches!(missing.kind(), ErrorKind::Io(_)));

    let unknown = OpenOptions::new().open_source("notes.txt", Source::bytes(*b"not a trace")).expect_err("it is text");
    assert!(unknown.to_string().starts_with("notes.txt: "), "{unknown}");
    assert!(matches!(unknown.kind(), ErrorKind::Unrecognized(_)));

    for trace in samples() {
        let full = trace.rewrite(&mut Full).expect_err("nothing can be written");
        assert!(matches!(full.kind(), ErrorKind::Io(error) if error.kind() == io::ErrorKind::StorageFull));
        let name = trace.path().display().to_string();
        assert!(!full.to_string().contains(&name), "the trace is not to blame: {full}");
    }
}

#[test]
fn traces_of_different_formats_are_not_merged() {
    let traces: Traces = samples().collect();
    let error = traces.merge(&mut Vec::new()).expect_err("they have nothing in common");
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    assert!(Traces::default().merge(&mut Vec::new()).is_err(), "there is nothing to merge");
}

#[test]
fn damage_in_the_compression_is_part_of_every_answer() -> Result<()> {
    let mut bytes = include_bytes!("../../cli/tests/data/values.prof.gz").to_vec();
    bytes.truncate(bytes.len() / 2);
    let trace = OpenOptions::new().open_source("cut.prof.gz", Source::bytes(bytes))?;
    assert_eq!(trace.layers().len(), 1);
    let code = trace.layer_findings().kept().first().expect("the cut is found").rule.code;
    let has_it = |findings: &traceloom::Findings| findings.counts().contains_key(code);
    assert!(has_it(&trace.info()?.findings) && has_it(&trace.check()?));
    assert!(has_it(&trace.records(|_| ())?) && has_it(&trace.repair(&mut Vec::new())?.findings));
    Ok(())
}

#[test]
fn progress_is_reported() -> Result<()> {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    };
    let sample = samples().next().expect("there is a format");
    let all = sample.source().len()?;
    let reached = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&reached);
    let options = OpenOptions::new().on_progress(move |path, offset, bytes| {
        assert_eq!((path.to_str(), bytes), (Some("watched"), all));
        seen.fetch_max(offset, Ordering::Relaxed);
    });
    options.open_source("watched", sample.source().clone())?.check()?;
    assert_eq!(reached.load(Ordering::Relaxed), all);
    Ok(())
}

#[cfg(feature = "tables")]
mod tables {
    use traceloom::{
        Result, TimeRange, Traces,
        tables::{Columns, Table, select},
    };

    use super::samples;

    select! { struct Ids of traces { trace_id } }

    #[test]
    fn every_sample_fills_tables() -> Result<()> {
        for trace in samples() {
            let tables = trace.tables();
            assert_eq!(tables.rows(Table::Traces)?, 1);
            let rows: u64 = Table::ALL.into_iter().map(|table| tables.rows(table).expect("it can be read")).sum();
            assert!(rows > 50, "{}: {rows} rows", trace.format().name);
            let batches = tables.batches(Table::Attributes)?;
            let collected: usize = batches.iter().map(|batch| batch.num_rows()).sum();
            assert_eq!(collected as u64, tables.rows(Table::Attributes)?);
        }
        Ok(())
    }

    #[test]
    fn several_traces_are_one_set_of_tables() -> Result<()> {
        let traces: Traces = samples().chain(samples()).collect();
        let mut ids = Vec::new();
        traces.tables()?.for_each(Table::Traces, Ids::COLUMNS, |batch| -> Result<()> {
            let rows = Ids::of(batch)?;
            ids.extend((0..rows.rows).map(|row| rows.trace_id.get(row)));
            Ok(())
        })?;
        assert_eq!(ids.len(), samples().count(), "a trace that comes twice is there once");
        Ok(())
    }

    #[test]
    fn a_range_leaves_rows_out() -> Result<()> {
        let trace = traceloom::Trace::sample("easyprofiler")?;
        let all = trace.tables().rows(Table::Spans)?;
        let some = trace.tables().in_range(TimeRange::between(0, 1)).rows(Table::Spans)?;
        assert!(some < all, "{some} of {all}");
        let mut batches = 0;
        trace.tables().for_each(Table::Spans, Columns::ALL, |_| {
            batches += 1;
            std::ops::ControlFlow::Break(())
        })?;
        assert_eq!(batches, 1);
        Ok(())
    }
}

#[cfg(feature = "export")]
mod export {
    use traceloom::{Conversion, ErrorKind, OpenOptions, Result, Source, Trace, Traces, formats};

    use super::samples;

    fn converted(trace: &Trace, conversion: &Conversion) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        trace.convert(conversion, &mut bytes)?;
        Ok(bytes)
    }

    #[test]
    fn every_sample_becomes_every_other_format() -> Result<()> {
        for trace in samples() {
            for format in formats() {
                let bytes = converted(&trace, &Conversion::to(format.id)?)?;
                let opened = OpenOptions::new().open_source("converted", Source::bytes(bytes))?;
                assert_eq!(opened.format().id, format.id, "from {}", trace.format().id);
            }
        }
        Ok(())
    }

    #[test]
    fn an_own_extension_or_none_means_the_same_bytes() -> Result<()> {
        for trace in samples() {
            let mut bytes = Vec::new();
            trace.rewrite(&mut bytes)?;
            assert!(converted(&trace, &Conversion::for_path("copy"))? == bytes);
            let own = trace.path().to_owned();
            assert!(converted(&trace, &Conversion::for_path(own))? == bytes, "{}", trace.format().id);
            let packed = converted(&trace, &Conversion::for_path("copy.gz"))?;
            let opened = OpenOptions::new().open_source("packed", Source::bytes(packed))?;
            assert_eq!(opened.layers().len(), 1);
            assert!(converted(&opened, &Conversion::for_path("copy"))? == bytes);
            let refused = converted(&trace, &Conversion::for_path("copy.unknown")).expect_err("no such target");
            assert!(matches!(refused.kind(), ErrorKind::Usage(_)), "{refused}");
        }
        Ok(())
    }

    #[test]
    fn a_variant_has_to_be_one_of_the_target() -> Result<()> {
        let trace = Trace::sample("easyprofiler")?;
        let old = converted(&trace, &Conversion::to("easyprofiler:1.3.0")?)?;
        let version = OpenOptions::new().open_source("old", Source::bytes(old))?.info()?.contents.version;
        assert_eq!(version, "1.3.0");
        let wrong = Conversion::to("perfetto:nonsense").expect_err("there is no such variant");
        assert!(matches!(wrong.kind(), ErrorKind::Usage(_)), "{wrong}");
        Ok(())
    }

    #[test]
    fn several_traces_need_a_target() -> Result<()> {
        let traces: Traces = samples().take(2).collect();
        let mut out = Vec::new();
        let unknown = traces.convert(&Conversion::for_path("both.unknown"), &mut out).expect_err("what should it be?");
        assert!(unknown.to_string().contains("both.unknown"), "{unknown}");
        traces.write_as("perfetto", &mut out)?;
        assert!(!out.is_empty());
        Ok(())
    }
}

#[cfg(feature = "tables")]
#[test]
fn a_stream_gives_the_rows_of_its_table_and_may_be_left() -> Result<()> {
    use traceloom::tables::{Columns, Table, arrow_array::RecordBatchReader};
    for trace in samples() {
        for table in Table::ALL {
            let columns = Columns::of(&[1]);
            let stream = trace.stream(table, columns);
            assert_eq!(stream.schema(), table.partial_schema(columns));
            let rows: usize = stream.map(|batch| batch.expect("a batch").num_rows()).sum();
            assert_eq!(rows as u64, trace.tables().rows(table)?);
        }
        drop(trace.stream(Table::Spans, Columns::ALL).next());
    }
    Ok(())
}

#[test]
fn pulling_ends_with_the_error_of_the_visit() {
    let mut pull = traceloom::Pull::new(|give| {
        assert!(give(1).is_continue());
        Err(traceloom::Error::usage("enough"))
    });
    assert!(matches!(pull.next(), Some(Ok(1))));
    assert!(matches!(pull.next(), Some(Err(error)) if error.to_string().contains("enough")));
    assert!(pull.next().is_none());
}

#[cfg(feature = "tables")]
#[test]
fn what_a_program_makes_up_is_a_sound_trace() -> Result<()> {
    use traceloom::{
        LogLevel, Place, TraceBuilder,
        tables::{Filter, TableSource, model::Integrity},
    };
    let mut trace = TraceBuilder::new("game").starting_at(1_700_000_000_000_000_000);
    let main = trace.thread("main");
    assert_eq!(trace.thread("main"), main);
    trace.begin(main, "frame", 10)?;
    trace.begin(main, "draw", 20)?;
    trace.event(main, "click", 25)?;
    trace.value(main, "fps", 26, 60.0)?;
    trace.log(main, LogLevel::Warn, 27, "late")?;
    trace.end(main, 30)?;
    trace.end(main, 50)?;
    assert!(trace.end(main, 60).is_err(), "no span is open");
    let stack = vec![Place { function: "f".into(), file: "f.py".into(), line: 3 }];
    trace.allocate(28, 16, 100, stack.clone());
    trace.allocate(29, 16, 50, stack);
    trace.free(30, 16);
    trace.free(31, 32);
    let mut integrity = Integrity::default();
    trace.pour(&Filter::default(), &mut integrity)?;
    let verdict = integrity.finish();
    assert!(verdict.problems.is_empty(), "{verdict:?}");
    Ok(())
}
