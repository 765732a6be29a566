//! Growth: the cost of a command is proportional to the trace, in whichever dimension the trace grows.
//!
//! Memory is counted by the allocator of the test, instructions by valgrind if it is installed: both are the same on
//! every machine, unlike time.

use std::{
    env, fs, io,
    path::Path,
    process::{Command, Stdio},
};

use peak_alloc::PeakAlloc;
use traceloom_core::Result;
use traceloom_mapping::Trace;

use super::{SHAPES, Shape, shapes::WIDE};

/// A command that is run on a trace; it may refuse some shapes, but not all.
pub type Verb = (&'static str, Ask);
type Ask = Box<dyn Fn(&Trace) -> Result<()>>;

/// How many times as large the large traces are.
const FACTOR: usize = 4;
/// A quadratic cost grows by 16; sorting grows by a little more than 4.
const MAX_GROWTH: u64 = 6;

/// Sizes of the small traces; under valgrind, a run takes a hundred times as long.
const SIZE_IN_MEMORY: usize = 2_000;
const SIZE_IN_VALGRIND: usize = 250;

/// Costs that are ignored, so that the growth of small numbers does not count.
const FREE_BYTES: u64 = 2 << 20;
const FREE_INSTRUCTIONS: u64 = 4_000_000;

/// Set in the process that runs under valgrind.
const WATCHED: &str = "TRACELOOM_GROWTH_IS_WATCHED";

/// Set to `all` by `cargo xtask test --all`; otherwise, the instructions of only some pairs and programs are counted,
/// because that takes minutes.
const GROWTH: &str = "TRACELOOM_GROWTH";

/// Whether all costs are measured in this run, at their full size.
pub fn is_complete() -> bool {
    env::var_os(GROWTH).is_some_and(|value| value == "all")
}

/// Verbs and shapes that are counted in every run: an attack has found that their instructions grew with the square of
/// the trace.
static FOUND: &[(&str, &str)] = &[
    ("flame", "depth.prof"),
    ("info", "sites.clog"),
    ("info", "threads.prof"),
    ("repair", "evals.nytprof"),
    ("repair", "parts.wtf-trace"),
];

/// Of adjacent pairs, one of so many is counted in every run.
const STRIDE: usize = 4;

/// A verb and the shape it is run on.
struct Pair<'a> {
    shape: &'static Shape,
    verb: &'a Verb,
}

impl Pair<'_> {
    fn is_found(&self) -> bool {
        is_found(self.verb.0, self.shape.name)
    }
}

/// Fails unless memory and instructions of every verb grow in proportion to every shape; `test` is the name of the
/// calling test, which must be alone in its process.
pub fn assert_linear(test: &str, verbs: &[Verb], memory: &PeakAlloc) {
    let found = pairs(verbs, |_, pair| pair.is_found());
    // The text of that log grows with its square, and writing it takes instructions for each byte.
    let is_other = |pair: &Pair<'_>| !pair.is_found() && pair.shape.name != WIDE;
    let in_turn = pairs(verbs, |number, pair| is_in_turn(number, verbs.len()) && is_other(pair));
    if env::var_os(WATCHED).is_some() {
        // With few rows, comparing each row with each other costs less than reading them.
        each(SIZE_IN_MEMORY, &found, watched);
        each(SIZE_IN_VALGRIND, &in_turn, watched);
        return;
    }
    let counted: Vec<_> = found.into_iter().chain(in_turn).collect();
    let all = pairs(verbs, |_, _| true);
    let mut answered = Vec::new();
    let bytes = each(SIZE_IN_MEMORY, &all, |verb, trace| {
        memory.reset_peak_usage();
        let before = memory.current_usage();
        answered.push(verb(trace).is_ok());
        (memory.peak_usage() - before) as u64
    });
    let mut wrong = too_much("bytes", &bytes, &all, FREE_BYTES);
    for (number, (verb, _)) in verbs.iter().enumerate() {
        let is_answered = answered.chunks(2).skip(number).step_by(verbs.len()).any(|both| both == [true, true]);
        wrong.extend((!is_answered).then(|| format!("{verb} refuses every shape, so that nothing is measured")));
    }
    match instructions(test, 2 * counted.len()) {
        Some(counts) => wrong.extend(too_much("instructions", &counts, &counted, FREE_INSTRUCTIONS)),
        None => eprintln!("valgrind is not installed: instructions are not counted"),
    }
    assert!(wrong.is_empty(), "{} grow faster than their traces:\n{}", wrong.len(), wrong.join("\n"));
}

/// The pairs that are wanted, sorted by shape. Numbers of adjacent verbs and of adjacent shapes differ by one.
fn pairs(verbs: &[Verb], is_wanted: impl Fn(usize, &Pair<'_>) -> bool) -> Vec<Pair<'_>> {
    let numbered = |at: usize, shape| verbs.iter().enumerate().map(move |(by, verb)| (at + by, Pair { shape, verb }));
    let all = SHAPES.iter().enumerate().flat_map(|(at, shape)| numbered(at, shape));
    all.filter(|(number, pair)| is_wanted(*number, pair)).map(|(_, pair)| pair).collect()
}

/// Whether a pair is counted in this run because of its number. No shape has fewer pairs than the stride, so that each
/// shape and each verb has a number that is counted.
fn is_in_turn(number: usize, verbs: usize) -> bool {
    number.is_multiple_of(STRIDE.min(verbs)) || is_complete()
}

fn is_found(verb: &str, shape: &str) -> bool {
    FOUND.contains(&(verb, shape))
}

/// The cost of each pair, small and large.
fn each<T>(size: usize, pairs: &[Pair<'_>], mut cost: impl FnMut(&Ask, &Trace) -> T) -> Vec<T> {
    let mut costs = Vec::new();
    for of_shape in pairs.chunk_by(|one, other| std::ptr::eq(one.shape, other.shape)) {
        let traces = [size, FACTOR * size].map(|size| made(of_shape[0].shape, size));
        for Pair { verb: (_, verb), .. } in of_shape {
            costs.extend(traces.each_ref().map(|trace| cost(verb, trace)));
        }
    }
    costs
}

fn made(shape: &Shape, size: usize) -> Trace {
    shape.trace(size).unwrap_or_else(|error| panic!("{} of {size}: {error}", shape.name))
}

fn too_much(unit: &str, costs: &[u64], pairs: &[Pair<'_>], free: u64) -> Vec<String> {
    let mut wrong = Vec::new();
    for (Pair { shape, verb }, cost) in pairs.iter().zip(costs.chunks(2)) {
        let [small, large] = cost else { continue };
        if *large > MAX_GROWTH * small + free {
            wrong.push(format!("{} of {}: {small} {unit}, then {large}", verb.0, shape.name));
        }
    }
    wrong
}

/// Valgrind counts while this function runs, and writes a profile when it returns.
#[inline(never)]
fn watched(verb: &Ask, trace: &Trace) {
    let answer = verb(trace);
    std::hint::black_box(&answer);
}

/// Fails unless the instructions of a program grow in proportion to a trace. Each command has the name of a shape, and
/// the arguments before the name of the file.
pub fn assert_program_is_linear(program: &str, commands: &[(&str, &[&str])]) {
    if !has_valgrind() {
        eprintln!("valgrind is not installed: instructions are not counted");
        return;
    }
    let is_counted = |number: usize, (name, arguments): &(&str, &[&str])| {
        is_in_turn(number, STRIDE) || arguments.first().is_some_and(|verb| is_found(verb, name))
    };
    let mut wrong = Vec::new();
    for (number, command @ (name, arguments)) in commands.iter().enumerate() {
        if !is_counted(number, command) {
            continue;
        }
        let shape = SHAPES.iter().find(|shape| shape.name == *name).expect("a known shape");
        let [small, large] = [SIZE_IN_MEMORY, FACTOR * SIZE_IN_MEMORY].map(|size| {
            let folder = env::temp_dir().join(format!("traceloom-growth-{}-{size}", std::process::id()));
            fs::create_dir_all(&folder).expect("a temporary folder");
            let (file, out) = (folder.join(name), folder.join("out"));
            let mut bytes = made(shape, size).opened.source.stream();
            io::copy(&mut bytes, &mut fs::File::create(&file).expect("a file")).expect("room for it");
            let mut command = Command::new("valgrind");
            command.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", out.display()));
            command.arg(program).args(*arguments).arg(&file).stdout(Stdio::null());
            let output = command.output().expect("valgrind runs");
            let count = total(&out);
            let _gone = fs::remove_dir_all(&folder);
            let text = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{arguments:?} of {name}: {text}");
            count.unwrap_or_else(|| panic!("{arguments:?} of {name} was not counted: {text}"))
        });
        if large > MAX_GROWTH * small + FREE_INSTRUCTIONS {
            wrong.push(format!("{arguments:?} of {name}: {small} instructions, then {large}"));
        }
    }
    assert!(wrong.is_empty(), "{} grow faster than their traces:\n{}", wrong.len(), wrong.join("\n"));
}

fn has_valgrind() -> bool {
    Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_ok()
}

/// Runs the test again under valgrind; returns the instructions of `runs` runs, in order.
fn instructions(test: &str, runs: usize) -> Option<Vec<u64>> {
    has_valgrind().then_some(())?;
    let folder = env::temp_dir().join(format!("traceloom-growth-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    let out = folder.join("out");
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--zero-before=*growth::watched", "--dump-after=*growth::watched"]);
    command.arg(format!("--callgrind-out-file={}", out.display()));
    command.arg(env::current_exe().expect("a program")).args([test, "--exact", "--nocapture"]);
    let output = command.env(WATCHED, "1").output().expect("valgrind runs");
    let counts: Vec<_> = (1..=runs).map_while(|run| total(&folder.join(format!("out.{run}")))).collect();
    let _gone = fs::remove_dir_all(&folder);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && counts.len() == runs, "{} of {runs} runs were counted:\n{text}", counts.len());
    Some(counts)
}

/// The total of a valgrind profile.
fn total(path: &Path) -> Option<u64> {
    let text = fs::read_to_string(path).ok()?;
    text.lines()
        .find_map(|line| line.strip_prefix("totals: ").or_else(|| line.strip_prefix("summary: ")))?
        .trim()
        .parse()
        .ok()
}
