//! The caller sees the same for any number of reading threads: rows, batches, findings, errors, and their order.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
};

use arrow_array::RecordBatch;
use traceloom_core::{Error, Findings, Limits, Mode, Result, Source};
use traceloom_mapping::{FORMATS, Options, Trace, ingest};
use traceloom_model::{Columns, Flow, Table, TableSink};
use traceloom_testkit::{each_case, sources::fails_at};

const THREADS: [usize; 3] = [2, 3, 8];

#[derive(Debug, PartialEq)]
enum Step {
    Batch(Table, RecordBatch),
    Findings(String),
}

thread_local! {
    /// What reached this thread: findings are reported on the caller's thread, in order with the batches.
    static STEPS: RefCell<Vec<Step>> = const { RefCell::new(Vec::new()) };
}

fn note(step: Step) -> usize {
    STEPS.with_borrow_mut(|steps| {
        steps.push(step);
        steps.len()
    })
}

fn told(_: &Path, findings: &Findings) {
    note(Step::Findings(format!("{:?} {:?}", findings.counts(), findings.kept())));
}

/// Records batches, and ends in some way after a number of them.
struct Noting {
    end: End,
    after: usize,
}

#[derive(Clone, Copy)]
enum End {
    Never,
    Stop,
    Fail,
    Panic,
}

impl TableSink for Noting {
    fn wants(&self, _: Table) -> Columns {
        Columns::ALL
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        let is_over = note(Step::Batch(table, batch)) >= self.after;
        match self.end {
            End::Stop if is_over => Ok(Flow::Stop),
            End::Fail if is_over => Err(Error::usage("the sink is full")),
            End::Panic if is_over => panic!("the sink fell over"),
            _ => Ok(Flow::Continue),
        }
    }
}

/// Everything that a caller sees of a trace.
#[derive(Debug, PartialEq)]
struct Seen {
    steps: Vec<Step>,
    /// The error, or the message of a panic.
    outcome: std::result::Result<(), String>,
}

fn see(trace: &Trace, threads: usize, mode: Mode, mut sink: Noting) -> Seen {
    let mut options = Options { told: Some(told), ..Options::default() };
    options.read.mode = mode;
    options.read.limits = Limits::with(|limits| limits.threads = threads);
    let poured = catch_unwind(AssertUnwindSafe(|| ingest(trace, &options, &mut sink)));
    let outcome = match poured {
        Ok(poured) => poured.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("panic: {:?}", panic.downcast_ref::<&str>())),
    };
    Seen { steps: STEPS.take(), outcome }
}

fn never() -> Noting {
    Noting { end: End::Never, after: 0 }
}

#[test]
fn every_file_gives_the_same_with_any_number_of_threads() {
    each_case(|subject, case, bytes| {
        let format = Some(subject.format().id);
        let Ok(trace) = Trace::new(&case.input, Source::bytes(bytes), format, &Options::default()) else { return };
        for mode in [Mode::Lenient, Mode::Strict] {
            let expected = see(&trace, 1, mode, never());
            for threads in THREADS {
                assert!(see(&trace, threads, mode, never()) == expected, "{}, {threads} threads", case.name);
            }
        }
    });
}

#[test]
fn a_sink_ends_the_walk_at_the_same_batch() {
    let trace = sample("cnanolog");
    let all = see(&trace, 1, Mode::Lenient, never()).steps.len();
    for end in [End::Stop, End::Fail, End::Panic] {
        for after in [1, 2, all / 2, all] {
            let expected = see(&trace, 1, Mode::Lenient, Noting { end, after });
            assert!(expected.steps.len() >= after);
            for threads in THREADS {
                assert_eq!(see(&trace, threads, Mode::Lenient, Noting { end, after }), expected, "{threads} threads");
            }
        }
    }
}

#[test]
fn a_disk_that_fails_is_reported_after_everything_before_it() {
    for mapping in FORMATS {
        let id = mapping.format.id;
        let mut trace = sample(id);
        let bytes = traceloom_open::by_id(id).unwrap().sample().unwrap().bytes;
        let middle = bytes.len() as u64 / 2;
        trace.opened.source = fails_at(bytes, middle);
        let expected = see(&trace, 1, Mode::Lenient, never());
        assert!(expected.outcome.is_err(), "{id}");
        for threads in THREADS {
            assert_eq!(see(&trace, threads, Mode::Lenient, never()), expected, "{id}, {threads} threads");
        }
    }
}

fn sample(format: &str) -> Trace {
    let sample = traceloom_open::by_id(format).unwrap().sample().unwrap();
    Trace::new(sample.file_name.as_ref(), Source::bytes(sample.bytes), Some(format), &Options::default()).unwrap()
}
