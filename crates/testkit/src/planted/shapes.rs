//! Traces that are large in one dimension: costs have to stay proportional to it.

use traceloom_core::{Result, Source};
use traceloom_mapping::{Options, Trace};

use super::{Block, LogRow, Scene};
use crate::made::{LOG_SECOND, log_of};

/// A trace that grows in one dimension.
pub struct Shape {
    /// What grows, and the format of the file.
    pub name: &'static str,
    format: &'static str,
    make: Make,
}

enum Make {
    Rows(fn(usize) -> Scene),
    Bytes(fn(usize) -> Vec<u8>),
}

impl Shape {
    /// The trace of this size, written and opened.
    pub fn trace(&self, size: usize) -> Result<Trace> {
        match self.make {
            Make::Rows(rows) => rows(size).written(self.format),
            Make::Bytes(bytes) => {
                Trace::new("grown".as_ref(), Source::bytes(bytes(size)), Some(self.format), &Options::default())
            }
        }
    }
}

/// All shapes.
pub static SHAPES: &[Shape] = &[
    Shape { name: "threads.prof", format: "easyprofiler", make: Make::Rows(threads) },
    Shape { name: "threads.wtf-trace", format: "wtf", make: Make::Rows(threads) },
    Shape { name: "names.prof", format: "easyprofiler", make: Make::Rows(names) },
    Shape { name: "names.wtf-trace", format: "wtf", make: Make::Rows(names) },
    Shape { name: "names.nytprof", format: "nytprof", make: Make::Rows(names) },
    Shape { name: "depth.prof", format: "easyprofiler", make: Make::Rows(depth) },
    Shape { name: "depth.wtf-trace", format: "wtf", make: Make::Rows(depth) },
    Shape { name: "depth.nytprof", format: "nytprof", make: Make::Rows(depth) },
    Shape { name: "names.pynytprof", format: "pynytprof", make: Make::Rows(names) },
    Shape { name: "depth.pynytprof", format: "pynytprof", make: Make::Rows(depth) },
    Shape { name: "series.prof", format: "easyprofiler", make: Make::Rows(series) },
    Shape { name: "sites.clog", format: "cnanolog", make: Make::Rows(sites) },
    Shape { name: WIDE, format: "cnanolog", make: Make::Bytes(wide) },
    Shape { name: "stacks.mlyze", format: "memlyze", make: Make::Rows(stacks) },
    Shape { name: "depth.mlyze", format: "memlyze", make: Make::Rows(deep_stack) },
    Shape { name: "evals.nytprof", format: "nytprof", make: Make::Bytes(evals) },
    Shape { name: "parts.wtf-trace", format: "wtf", make: Make::Bytes(parts) },
];

/// A log whose text grows with the square of its file, up to a limit.
pub(super) const WIDE: &str = "wide.clog";

/// Nanoseconds between consecutive rows.
const STEP: i64 = 1_000;

fn time(number: usize) -> i64 {
    STEP * number as i64
}

fn threads(size: usize) -> Scene {
    let mut scene = Scene { threads: (0..size).map(|number| format!("worker {number}")).collect(), ..Scene::default() };
    for thread in 0..size {
        scene.span(thread, "job", time(thread), STEP);
    }
    scene
}

fn names(size: usize) -> Scene {
    let mut scene = Scene::new(&["main"]);
    for number in 0..size {
        scene.span(0, &format!("name {number}"), time(number), STEP);
    }
    scene
}

fn depth(size: usize) -> Scene {
    let mut scene = Scene::new(&["main"]);
    for level in 0..size {
        scene.span(0, "again", time(level), 2 * time(size - level));
    }
    scene
}

fn series(size: usize) -> Scene {
    let mut scene = Scene::new(&["main"]);
    scene.span(0, "job", 0, time(size));
    scene.values = (0..size).map(|number| (format!("value {number}"), time(number), number as f64)).collect();
    scene
}

fn sites(size: usize) -> Scene {
    let line = |number: usize| LogRow {
        ts_ns: time(number),
        level: if number.is_multiple_of(100) { "ERROR" } else { "INFO" },
        place: (format!("src/{}.c", number / 100), number as u32 % 100),
        text: format!("step {number} is done"),
    };
    Scene { logs: (0..size).map(line).collect(), ..Scene::default() }
}

/// A log with one site, whose format repeats a wide field; both the entries and the format grow.
fn wide(size: usize) -> Vec<u8> {
    let format = "%1$60000d".repeat(1 + size / 400);
    let entries: Vec<_> = (0..size / 50).map(|number| (number as u64, number as i32)).collect();
    log_of(format.as_bytes(), LOG_SECOND, [0, 1_000], &entries)
}

fn frame(number: usize) -> (String, String, u32) {
    (format!("f{number}"), "shop.py".to_owned(), number as u32)
}

/// Two allocations in one deep stack.
fn deep_stack(size: usize) -> Scene {
    let stack: Vec<_> = (0..size).map(frame).collect();
    let block = |number: usize| Block { ts_ns: time(number), freed_ns: None, bytes: 64, stack: stack.clone() };
    Scene { blocks: (0..2).map(block).collect(), ..Scene::new(&["main"]) }
}

fn stacks(size: usize) -> Scene {
    let block = |number: usize| Block {
        ts_ns: time(number),
        freed_ns: number.is_multiple_of(2).then(|| time(number + 1)),
        bytes: 64,
        stack: vec![frame(number), frame(number / 10), frame(0)],
    };
    Scene { blocks: (0..size).map(block).collect(), ..Scene::new(&["main"]) }
}

/// A profile in which one line of Perl evaluates a new string each time.
pub fn evals(size: usize) -> Vec<u8> {
    let mut bytes = b"NYTProf 5 0\n:basetime=1700000000\n:application=x.pl\n:perl_version=5.30\n:nv_size=8\n\
        :xs_version=6.12\n:PL_perldb=831\n:clock_id=1\n:ticks_per_sec=10000000\n"
        .to_vec();
    bytes.extend([b'P', 1, 1]);
    bytes.extend(1.7e9_f64.to_le_bytes());
    file(1, [0, 0], "/a.pl", &mut bytes);
    for fid in 2..2 + size as u32 {
        file(fid, [1, 1], &format!("(eval {fid})[/a.pl:1]"), &mut bytes);
        bytes.extend([b'+', 5]);
        number(fid, &mut bytes);
        number(1, &mut bytes);
    }
    bytes.extend([b'p', 1]);
    bytes.extend(1.8e9_f64.to_le_bytes());
    bytes
}

/// Declares a file, or an eval in a file and a line.
fn file(fid: u32, [eval_fid, eval_line]: [u32; 2], name: &str, bytes: &mut Vec<u8>) {
    bytes.push(b'@');
    let (flags, size, mtime) = (2, 0, 0);
    [fid, eval_fid, eval_line, flags, size, mtime].into_iter().for_each(|value| number(value, bytes));
    bytes.push(b'\'');
    number(name.len() as u32, bytes);
    bytes.extend(name.as_bytes());
}

/// A number as packed by NYTProf: the more leading ones the first byte has, the more bytes follow.
fn number(value: u32, bytes: &mut Vec<u8>) {
    let [top, high, mid, low] = value.to_be_bytes();
    match value {
        0..0x80 => bytes.push(low),
        0x80..0x4000 => bytes.extend([0x80 | mid, low]),
        0x4000..0x20_0000 => bytes.extend([0xc0 | high, mid, low]),
        0x20_0000..0x1000_0000 => bytes.extend([0xe0 | top, high, mid, low]),
        _ => bytes.extend([0xff, top, high, mid, low]),
    }
}

/// A chunk whose parts are all the same bytes.
fn parts(size: usize) -> Vec<u8> {
    const BODY: u32 = 1_024;
    let header = br#"{"timebase":5,"contextInfo":{"contextType":"script"}}"#;
    let padded = header.len().next_multiple_of(4);
    let head = [0xdead_beef, 0x90ba_3800, 10, 1, 0x1, 36 + padded as u32, u32::MAX, u32::MAX, 1];
    let mut bytes = words(&head);
    bytes.extend(words(&[0x1_0000, 0, header.len() as u32]));
    bytes.extend(header);
    bytes.resize(bytes.len() + padded - header.len(), 0);
    bytes.extend(words(&[2, 0x2, 24 + 12 * size as u32 + BODY, u32::MAX, u32::MAX, size as u32]));
    bytes.extend(words(&[0x4_0001, 0, BODY].repeat(size)));
    bytes.resize(bytes.len() + BODY as usize, 0);
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
