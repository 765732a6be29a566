//! The Web Tracing Framework: decoding with the scope tree, compared with its own reader under Node.

use std::{
    fs::{self, File},
    io::{self, BufWriter},
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use traceloom_core::{Limits, Options, Records, Result, Source};
use traceloom_wtf::{Record, derive::Tree, sample};

use crate::measure::{baseline, cpu_times, forget_peak, peak_bytes, row};

const EVENTS: u64 = 10_000_000;
/// The release of the Web Tracing Framework that is measured.
const PEER: &str = "tracing-framework@2015.7.15-1";
/// Without this, Node gives up on a large trace before the machine does.
const PEER_HEAP: &str = "--max-old-space-size=16384";

pub(crate) fn make(out: BufWriter<File>, records: u64) -> Result<()> {
    sample::write(out, records).map(drop)
}

pub(crate) fn run() -> Result<bool> {
    let mut met = memory_is_constant()?;
    let (file, source) = generated(EVENTS)?;
    forget_peak();
    let ours = placed(&source)?;
    let peak = peak_bytes();
    println!("wtf: {} events, {} scopes, {} MB", ours.events, ours.scopes, source.len()? / 1_000_000);
    let [base, decoding, nesting, placing] = cpu_times([
        &mut || baseline(&source),
        &mut || decode(&source).map(drop),
        &mut || Tree::build(&source, &Options::default(), true).map(drop),
        &mut || placed(&source).map(drop),
    ])?;
    // The bar of this format is the Web Tracing Framework; the distance to the baseline is only printed.
    for (what, time) in
        [("decode", decoding), ("decode and tree", nesting), ("decode and tree, then every event's place", placing)]
    {
        println!("  {what:<44} {:>8.2} x baseline", time.div_duration_f64(base));
    }
    match original() {
        Ok(folder) => met &= against(&folder, file.path(), &ours, nesting, peak)?,
        Err(reason) => println!("  not compared with the Web Tracing Framework: {reason}"),
    }
    Ok(met)
}

/// The result of reading a file.
#[derive(Debug, Eq, PartialEq)]
struct Counts {
    events: u64,
    scopes: u64,
}

fn against(folder: &Path, file: &Path, ours: &Counts, time: Duration, peak_bytes: u64) -> Result<bool> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/wtf.js");
    let output = Command::new("node").arg(PEER_HEAP).arg(script).args([folder, file]).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let &[events, scopes, seconds, their_peak] = numbers.as_slice() else {
        println!("  not compared with the Web Tracing Framework: it does not load the file");
        return Ok(false);
    };
    let theirs = Counts { events: events as u64, scopes: scopes as u64 };
    if theirs != *ours {
        println!("  the Web Tracing Framework reads different values: {theirs:?}");
        return Ok(false);
    }
    println!("  Web Tracing Framework: {seconds:.2} s, {:.0} MB; ours: {time:.2?}", their_peak / 1e6);
    let faster = seconds / time.as_secs_f64();
    println!("  {:<44} {faster:>8.2} times less", "decode and tree, CPU time");
    // Bars are upper limits: a tenth of the time, a quarter of the memory.
    let met = row("CPU time", 1.0 / faster, "x WTF", 0.1);
    Ok(row("peak memory", peak_bytes as f64 / their_peak, "x WTF", 0.25) && met)
}

/// The folder in which the Web Tracing Framework is installed, or why it is not.
fn original() -> Result<PathBuf, String> {
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    if let Some(missing) = ["node", "npm"].into_iter().find(|program| !runs(program)) {
        return Err(format!("{missing} is not installed"));
    }
    let folder = npm_folder().map_err(|error| error.to_string())?;
    if folder.join("node_modules/tracing-framework/build-out").is_dir() {
        return Ok(folder);
    }
    let quiet = ["install", "--no-save", "--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", PEER];
    let installed = Command::new("npm").args(quiet).current_dir(&folder).output().map_err(|error| error.to_string())?;
    if installed.status.success() { Ok(folder) } else { Err(format!("npm does not install {PEER}")) }
}

/// A folder next to this program, in the target directory; npm needs a package to install into.
fn npm_folder() -> io::Result<PathBuf> {
    let folder = std::env::current_exe()?.with_file_name("wtf-npm");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("package.json"), "{\"private\": true}\n")?;
    Ok(folder)
}

pub(crate) fn generated(events: u64) -> Result<(tempfile::NamedTempFile, Source)> {
    // The Web Tracing Framework detects the format by the extension.
    let file = tempfile::Builder::new().suffix(".wtf-trace").tempfile()?;
    make(BufWriter::new(file.reopen()?), events)?;
    let source = Source::open(file.path(), &Limits::default())?;
    Ok((file, source))
}

/// Decodes 35 MB and 1 GB; the peak must not change.
fn memory_is_constant() -> Result<bool> {
    let mut peaks = Vec::new();
    for events in [3_000_000, 90_000_000] {
        let (_file, source) = generated(events)?;
        // Memory left from writing the file and loaded pages of the program do not count.
        forget_peak();
        let resting = peak_bytes();
        decode(&source)?;
        peaks.push((source.len()?, peak_bytes().saturating_sub(resting)));
    }
    let ((small, before), (large, after)) = (peaks[0], peaks[1]);
    println!("wtf: {} MB and {} MB side by side", small / 1_000_000, large / 1_000_000);
    Ok(row("growth of the peak memory", after.saturating_sub(before) as f64 / 1e6, "MB", 1.0))
}

/// Reads every event with its arguments; returns the number of events.
fn decode(source: &Source) -> Result<u64> {
    let mut reader = traceloom_wtf::open(source.clone(), &Options::default())?;
    let (mut events, mut sum) = (0, 0_i64);
    reader.walk(|located| -> Result<()> {
        let Record::Event(event) = &located.record else { return Ok(()) };
        events += u64::from(!event.kind.is_structural());
        let first = event.args.iter().next().and_then(|(_, value)| value.as_u32());
        sum = sum.wrapping_add(event.time_us ^ i64::from(event.zone) ^ i64::from(first.unwrap_or(0)));
        Ok(())
    })?;
    std::hint::black_box(sum);
    Ok(events)
}

/// Builds the tree and reads depth, parent, end and children of every event along with it.
fn placed(source: &Source) -> Result<Counts> {
    let options = Options::default();
    let tree = Tree::build(source, &options, true)?;
    let mut walk = tree.walk();
    let mut reader = traceloom_wtf::open(source.clone(), &options)?;
    let (mut counts, mut sum) = (Counts { events: 0, scopes: 0 }, 0_u64);
    reader.walk(|located| -> Result<()> {
        let Record::Event(event) = &located.record else { return Ok(()) };
        let Some(place) = walk.nested(event)? else { return Ok(()) };
        counts.events += 1;
        sum = sum.wrapping_add(u64::from(place.depth) ^ u64::from(place.parent.unwrap_or(0)));
        if let Some(scope) = place.scope {
            counts.scopes += u64::from(scope.end_us.is_some());
            sum = sum.wrapping_add(scope.children_us);
        }
        Ok(())
    })?;
    std::hint::black_box(sum);
    Ok(counts)
}
