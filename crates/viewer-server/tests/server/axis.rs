//! The page and `convert` place traces on the axis as all other verbs do.

use std::{fs, path::PathBuf};

use serde_json::Value;
use traceloom::{Conversion, Traces};
use traceloom_testkit::made::{LOG_SECOND, SAMPLE_BEGIN, SAMPLE_HZ, log_at};

use crate::support::Server;

/// Two files in a folder that is removed at the end of the test.
struct Pair {
    paths: [PathBuf; 2],
    _folder: tempfile::TempDir,
}

impl Pair {
    fn new(files: [(&str, Vec<u8>); 2]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let paths = files.map(|(name, bytes)| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).expect("the file can be written");
            path
        });
        Self { paths, _folder: folder }
    }

    /// The traces, with offsets of the user for the first of them.
    fn traces(&self, offsets: &[i64]) -> Traces {
        let traces = Traces::open(&self.paths).expect("they are traces");
        self.paths.iter().zip(offsets).fold(traces, |traces, (path, offset_ns)| traces.offset(path, *offset_ns))
    }

    /// How far each trace is moved, as computed by the set of traces.
    fn shifts(&self, offsets: &[i64]) -> Vec<i64> {
        let set = self.traces(offsets).set().expect("facts can be read");
        set.axis().placements().iter().map(|place| place.shift_ns).collect()
    }

    /// How long after the first trace the second one starts, as `convert` writes it.
    fn converted_gap_ns(&self, offsets: &[i64]) -> i64 {
        let traces = self.traces(offsets);
        let mut out = Vec::new();
        traces.convert(&Conversion::to("chrome").expect("a target"), &mut out).expect("it is written");
        let written: Value = serde_json::from_slice(&out).expect("it is JSON");
        let events = written["traceEvents"].as_array().expect("a list");
        // Processes are declared in the order of the traces.
        let named = events.iter().filter(|event| event["name"] == "process_name");
        let firsts: Vec<i64> = named
            .map(|process| {
                let own = events.iter().filter(|event| event["pid"] == process["pid"] && event["ph"] != "M");
                let times = own.map(|event| (event["ts"].as_f64().expect("a time") * 1e3).round() as i64);
                times.min().expect("an event")
            })
            .collect();
        assert_eq!(firsts.len(), 2, "one process per trace");
        firsts[1] - firsts[0]
    }

    /// Compares all of them.
    fn check(&self) {
        let shifts = self.shifts(&[]);
        let server = Server::of(&self.paths);
        let shown = || {
            let state = server.wait();
            let of = |number: usize, key: &str| state["traces"][number][key].as_i64().expect("a time");
            let first = [of(0, "from_ns"), of(1, "from_ns")];
            (first, vec![of(0, "offset_ns"), of(1, "offset_ns")])
        };
        let (first_ns, offsets) = shown();
        assert_eq!(offsets, shifts, "the page");
        let gap_ns = |shifts: &[i64]| (first_ns[1] + shifts[1]) - (first_ns[0] + shifts[0]);
        assert_eq!(self.converted_gap_ns(&[]), gap_ns(&shifts), "convert");
        // An offset of the user, for the first trace alone.
        let moved = 7_000_000_000;
        let shifts = self.shifts(&[moved]);
        assert_eq!(server.post(&format!("offset?trace=0&offset_ns={moved}"), &[]).status, 200);
        assert_eq!(shown().1, shifts, "the page, with an offset");
        assert_eq!(self.converted_gap_ns(&[moved]), gap_ns(&shifts), "convert, with an offset");
    }
}

fn capture() -> (&'static str, Vec<u8>) {
    let mut bytes = Vec::new();
    traceloom_easyprofiler::sample::write(&mut bytes, 120).expect("memory takes it");
    ("game.prof", bytes)
}

fn log(name: &'static str, second: i64, start_ticks: u64) -> (&'static str, Vec<u8>) {
    (name, log_at(second, start_ticks, SAMPLE_HZ, &[(10_000, 1), (2_345_000, 2)]))
}

#[test]
fn a_capture_and_the_log_whose_counter_it_shares() {
    Pair::new([capture(), log("service.clog", LOG_SECOND, SAMPLE_BEGIN + SAMPLE_HZ / 10)]).check();
}

#[test]
fn two_logs_by_time_of_day() {
    Pair::new([log("a.clog", LOG_SECOND, 5), log("b.clog", LOG_SECOND - 90, 7)]).check();
}

#[test]
fn a_pair_that_shares_nothing() {
    Pair::new([capture(), log("service.clog", LOG_SECOND, SAMPLE_BEGIN + 3_600 * SAMPLE_HZ)]).check();
}
