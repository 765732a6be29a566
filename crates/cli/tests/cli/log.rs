//! `log`.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value as Json;
use traceloom_testkit::{
    made::{LOG_SECOND, log_of},
    recorded::{LogEntry, wtf_log},
};

use crate::{Folder, fixture_of, stderr, stdout, traceloom};

#[test]
fn log_prints_lines_and_json() {
    let file = fixture_of("cnanolog", "head_server.clog");
    let lines = stdout(&traceloom(&["log", &file]));
    assert_eq!(lines.lines().count(), 385);
    assert!(lines.starts_with("[2026-11-15 01:32:32.909716003] [INFO] [server.c:5] listening on 0.0.0.0:8080\n"));
    let json: Vec<Json> = stdout(&traceloom(&["log", "--json", "--level", "error", &file]))
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(json.len(), 16);
    let keys: Vec<_> = json[0].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["ts_unix_ns", "level", "file", "line", "message", "args", "offset"]);
    let worse = stdout(&traceloom(&["log", "--level", "warn+", "--grep", "not f.und", &file]));
    assert_eq!(worse.lines().count(), 24);
    assert_eq!(traceloom(&["log", "--level", "loud", &file]).status.code(), Some(2));
}

#[test]
fn log_prints_the_lines_of_other_formats() {
    let folder = Folder::new();
    let (log, trace) = (fixture_of("cnanolog", "head_server.clog"), folder.path("server.wtf-trace"));
    let entries = stdout(&traceloom(&["log", "--json", &log]));
    let entries: Vec<Json> = entries.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let unix_ms = entries[0]["ts_unix_ns"].as_u64().expect("a time") / 1_000_000;
    let entry = |entry: &Json| LogEntry {
        time_us: entry["ts_unix_ns"].as_i64().expect("a time") / 1000 - 1000 * unix_ms as i64,
        level: entry["level"].as_str().expect("a level").to_owned(),
        file: entry["file"].as_str().expect("a file").to_owned(),
        line: entry["line"].as_u64().expect("a line") as u32,
        message: entry["message"].as_str().expect("a text").to_owned(),
    };
    let entries: Vec<LogEntry> = entries.iter().map(entry).collect();
    fs::write(&trace, wtf_log(unix_ms, &entries).expect("a trace")).expect("there is room");
    for arguments in [
        &["--pattern", "[%l] [%L] [%f:%n] %m"][..],
        &["--pattern", "%m", "--level", "warn+"],
        &["--pattern", "%m", "--level", "warn+", "--grep", "not f.und", "-C", "2"],
        &["--pattern", "%d %l", "--tail", "9"],
        &["--pattern", "%m", "-n", "3", "--since", "0s", "--until", "10s"],
    ] {
        let lines = |file: &str| stdout(&traceloom(&[&["log"], arguments, &[file]].concat()));
        assert!(lines(&log).lines().count() >= 3, "{arguments:?}");
        assert_eq!(lines(&trace), lines(&log), "{arguments:?}");
    }
    let lines = stdout(&traceloom(&["log", &trace]));
    assert!(lines.starts_with("[2026-11-15 01:32:32.9"), "{lines:.100}");
    assert_eq!(stdout(&traceloom(&["log", "--since", "1h", &trace])), "");
    let json = stdout(&traceloom(&["log", "--json", "-n", "1", &trace]));
    let json: Json = serde_json::from_str(&json).expect("JSON");
    let keys: Vec<_> = json.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["ts_unix_ns", "ts_ns", "level", "file", "line", "message"]);
    for (arguments, code, problem) in [
        (&["--sort"][..], 1, "need CNanoLog"),
        (&["--compat"], 1, "need CNanoLog"),
        (&["--level", "loud"], 2, "unknown level loud"),
    ] {
        let outcome = traceloom(&[&["log"], arguments, &[trace.as_str()]].concat());
        assert_eq!(outcome.status.code(), Some(code), "{arguments:?}");
        assert!(stderr(&outcome).contains(problem), "{}", stderr(&outcome));
    }
    let spans = traceloom(&["log", &fixture_of("easyprofiler", "v210_values.prof")]);
    assert!(stderr(&spans).contains("no log lines in this"), "{}", stderr(&spans));
}

#[test]
fn messages_that_are_cut_off_are_reported() {
    let folder = Folder::new();
    let (wide, narrow) = (folder.path("wide.clog"), folder.path("narrow.clog"));
    let messages: Vec<(u64, i32)> = (0..24).map(|number| (number, 7)).collect();
    // 24 messages of 4 MB are more than a log of 1 kB may have.
    for (path, format) in [(&wide, "%1$60000d".repeat(70)), (&narrow, "%400d".to_owned())] {
        fs::write(path, log_of(format.as_bytes(), LOG_SECOND, [0, 1_000], &messages)).expect("room for it");
    }
    for options in [&[] as &[&str], &["--json"], &["--sort"], &["--threads", "1"], &["--grep", "none"]] {
        let run = |file: &String| traceloom(&[&["log", "--tail", "1"], options, &[file]].concat());
        let output = run(&wide);
        let warning = "messages were cut off: wide fields in their formats would expand the log many times";
        assert_eq!(stderr(&output).matches(warning).count(), 1, "{options:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("[tables.messages-cut]"), "{options:?}: {}", stderr(&output));
        assert_eq!(output.status.code(), Some(1), "{options:?}");
        assert_eq!(stderr(&run(&narrow)), "", "{options:?}");
    }
    let followed = traceloom(&["log", "--follow", "--dictionary", &wide, &wide]);
    assert_eq!(stderr(&followed).matches("[tables.messages-cut]").count(), 1, "{}", stderr(&followed));
    assert_eq!(followed.status.code(), Some(1));
    #[cfg(feature = "sql")]
    {
        let output = traceloom(&["query", &wide, "select max(length(message)) from logs"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains("[tables.messages-cut]"), "{}", stderr(&output));
    }
}

#[test]
fn log_filters_by_time() {
    let file = fixture_of("cnanolog", "head_server.clog");
    let count =
        |arguments: &[&str]| stdout(&traceloom(&[&["log"], arguments, &[file.as_str()]].concat())).lines().count();
    assert_eq!(count(&["--until", "2026-11-15 01:32:32.909716003"]), 0, "the end is not in the range");
    assert_eq!(count(&["--until", "2026-11-15 01:32:32.909716004"]), 1);
    assert_eq!(count(&["--since", "2026-11-15T01:32:32.909716004Z"]), 384);
    assert_eq!(count(&["--since", "1h"]), 0);
    assert_eq!(count(&["--since", "0s", "--until", "10s"]), 385);
}

#[test]
fn log_compat_is_the_original_to_the_byte() {
    let mut compared = 0;
    for clog in traceloom_testkit::files(&traceloom_testkit::fixture("cnanolog")).expect("the fixtures") {
        let text = clog.with_extension("txt");
        if clog.extension().is_none_or(|ending| ending != "clog") || !text.exists() {
            continue;
        }
        let output = traceloom(&["log", "--compat", clog.to_str().expect("UTF-8")]);
        assert!(output.stdout == fs::read(&text).expect("the text"), "{}", clog.display());
        compared += 1;
    }
    assert!(compared >= 29, "{compared}");
    let levels = fixture_of("cnanolog", "head_levels.clog");
    let compat = |arguments: &[&str]| traceloom(&[&["log", "--compat"], arguments, &[levels.as_str()]].concat()).stdout;
    let golden = |name: &str| fs::read(fixture_of("cnanolog", name)).expect("the text");
    assert_eq!(compat(&["--pattern", "%T|%r|%l|%f|%L|%m"]), golden("head_levels.fmt.txt"));
    assert_eq!(compat(&["--level", "ERROR,debug"]), golden("head_levels.lvl.txt"));
}

#[test]
fn log_sorts_over_files_by_time() {
    let files = ["head_threads_a.clog", "head_server.clog"].map(|name| fixture_of("cnanolog", name));
    let output = traceloom(&["log", "--sort", "--json", &files[0], &files[1]]);
    let times: Vec<i64> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).expect("JSON")["ts_unix_ns"].as_i64().expect("a time"))
        .collect();
    let plain = stdout(&traceloom(&["log", "--json", &files[0], &files[1]])).lines().count();
    assert_eq!(times.len(), plain);
    assert!(times.is_sorted());
}

#[test]
fn log_of_a_crashed_process_needs_a_dictionary() {
    let crashed = fixture_of("cnanolog", "head_crash_a.clog");
    let raw = traceloom(&["log", &crashed]);
    assert_eq!(raw.status.code(), Some(1));
    assert_eq!(stdout(&raw).lines().count(), 180);
    assert!(stdout(&raw).contains("argument bytes"));
    let other = traceloom(&["log", "--dictionary", &fixture_of("cnanolog", "head_server.clog"), &crashed]);
    assert!(stderr(&other).contains("dictionary-misfit"), "{}", stderr(&other));
}

/// A log that the tests can split: the header, the end of its entries, and all bytes.
struct Whole {
    bytes: Vec<u8>,
    dictionary_at: usize,
}

impl Whole {
    fn new(name: &str) -> Self {
        let bytes = fs::read(fixture_of("cnanolog", name)).expect("the fixture");
        let dictionary_at = u64::from_le_bytes(bytes[40..48].try_into().expect("eight bytes")) as usize;
        Self { bytes, dictionary_at }
    }

    /// While a log is being written, its header contains neither the dictionary nor the number of entries.
    fn unfinished(&self) -> Vec<u8> {
        let mut bytes = self.bytes[..self.dictionary_at].to_vec();
        bytes[40..52].fill(0);
        bytes
    }
}

fn append(path: &str, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().append(true).open(path).expect("the file");
    file.write_all(bytes).expect("the file takes it");
}

/// The program while it follows a log; the test can wait for its output.
struct Follower {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Follower {
    fn new(path: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_traceloom"))
            .args(["log", "-f", "--dictionary", &fixture_of("cnanolog", "head_server.clog"), path])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, lines }
    }

    fn lines(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.line()).collect()
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("a line");
        line
    }

    /// The remaining output, standard error, and the exit code.
    fn rest(mut self) -> (Vec<String>, String, Option<i32>) {
        let mut rest = Vec::new();
        loop {
            let line = self.line();
            if line.is_empty() {
                break;
            }
            rest.push(line);
        }
        let output = self.child.wait_with_output().expect("the program ends when the log is closed");
        (rest, stderr(&output), output.status.code())
    }
}

fn lines_of(path: &str) -> Vec<String> {
    stdout(&traceloom(&["log", path])).split_inclusive('\n').map(str::to_owned).collect()
}

#[test]
fn log_follows_a_file_until_it_is_closed() {
    let folder = Folder::new();
    let whole = Whole::new("head_server.clog");
    let (open, end) = (whole.unfinished(), whole.dictionary_at);
    let path = folder.path("live.clog");
    fs::write(&path, &open[..end / 2]).expect("a file");
    let follower = Follower::new(&path);
    // Like the library: entries in batches with arbitrary ends, then the dictionary, then the header.
    for part in [&open[end / 2..end - 3], &open[end - 3..], &whole.bytes[end..end + 70], &whole.bytes[end + 70..]] {
        thread::sleep(Duration::from_millis(300));
        append(&path, part);
    }
    let mut file = fs::OpenOptions::new().write(true).open(&path).expect("the file");
    file.write_all(&whole.bytes[..64]).expect("the file takes it");
    let (followed, said, code) = follower.rest();
    let expected = lines_of(&fixture_of("cnanolog", "head_server.clog"));
    assert_eq!(followed.len(), expected.len());
    assert!(followed == expected);
    assert_eq!((said.as_str(), code), ("", Some(0)));
}

#[test]
fn log_follows_a_file_that_is_begun_anew_or_replaced() {
    let folder = Folder::new();
    let whole = Whole::new("head_server.clog");
    let path = folder.path("live.clog");
    let expected = lines_of(&fixture_of("cnanolog", "head_server.clog"));
    // The header is not written yet.
    fs::write(&path, b"").expect("a file");
    let mut follower = Follower::new(&path);
    thread::sleep(Duration::from_millis(300));
    append(&path, &whole.unfinished());
    assert!(follower.lines(expected.len()) == expected);
    // The program starts again and opens the same file for writing.
    let mut again = whole.unfinished();
    again[24] ^= 1;
    fs::write(&path, &again[..64]).expect("the file");
    thread::sleep(Duration::from_millis(500));
    append(&path, &again[64..]);
    assert_eq!(follower.lines(expected.len()).len(), expected.len());
    // Once more, in another file with the same name.
    fs::write(folder.path("next.clog"), &whole.bytes).expect("a file");
    fs::rename(folder.path("next.clog"), &path).expect("a new name");
    let (followed, said, code) = follower.rest();
    assert!(followed == expected);
    assert!(said.contains("the log was truncated") && said.contains("the log was replaced by another file"), "{said}");
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn log_follows_only_what_can_grow() {
    let dictionary = fixture_of("cnanolog", "head_server.clog");
    for path in ["/dev/null", "no-such.clog"] {
        assert_eq!(traceloom(&["log", "-f", "--dictionary", &dictionary, path]).status.code(), Some(2), "{path}");
    }
    assert_eq!(traceloom(&["log", "-f", &dictionary]).status.code(), Some(2), "a dictionary is needed");
}

#[test]
fn log_of_a_rotated_set_lends_the_dictionary_within_the_run() {
    let folder = Folder::new();
    let whole = Whole::new("head_server.clog");
    let (one, two) = (folder.path("app-2026-11-14.clog"), folder.path("app-2026-11-15.clog"));
    fs::write(&one, &whole.bytes).expect("a file");
    fs::write(&two, whole.unfinished()).expect("a file");
    let both = traceloom(&["log", &one, &two]);
    let expected = lines_of(&one).concat();
    assert!(stdout(&both) == format!("{expected}{expected}"));
    // A file of another run has different sites.
    let mut other = whole.unfinished();
    other[24] ^= 1;
    fs::write(&two, other).expect("a file");
    assert!(stdout(&traceloom(&["log", &one, &two])).contains("argument bytes"));
}

const BUILT_IN: [&str; 4] = ["DEBUG", "INFO", "WARN", "ERROR"];

#[test]
fn log_takes_levels_of_every_kind() {
    let custom = fixture_of("cnanolog", "head_custom.clog");
    let server = fixture_of("cnanolog", "head_server.clog");
    let count = |arguments: &[&str]| stdout(&traceloom(&[&["log"], arguments].concat())).lines().count();
    let shown = stdout(&traceloom(&["log", "--pattern", "%l", &custom]));
    let customs: Vec<&str> = shown.lines().filter(|line| !BUILT_IN.contains(line)).collect();
    for level in customs.iter().chain(&BUILT_IN) {
        let expected = shown.lines().filter(|line| line == level).count();
        assert_eq!(count(&["--level", &level.to_lowercase(), &custom]), expected, "{level}");
    }
    let name = customs[0];
    // It is enough if one of the files has it.
    assert_eq!(count(&["--level", name, &server, &custom]), shown.lines().filter(|line| *line == name).count());
    assert_eq!(traceloom(&["log", "--level", name, &server, &custom]).status.code(), Some(0));
    let nowhere = traceloom(&["log", "--level", "loud,error", &server, &custom]);
    assert_eq!(nowhere.status.code(), Some(2));
    let expected = "unknown level loud; the levels are DEBUG, INFO, WARN, ERROR, ";
    assert!(stderr(&nowhere).contains(expected), "{}", stderr(&nowhere));
    // A number without a name has a level, but is not listed: there are hundreds.
    assert!(customs.iter().any(|level| level.starts_with("LEVEL_")) && !stderr(&nowhere).contains("LEVEL_"));
    let worse = traceloom(&["log", "--level", &format!("{name}+"), &custom]);
    assert_eq!(worse.status.code(), Some(2));
    assert!(stderr(&worse).contains("are ordered by severity"), "{}", stderr(&worse));
    // By the document, the same numbers mean other levels.
    let by_document = stdout(&traceloom(&["log", "--levels", "document", "--pattern", "%l", &server]));
    let by_library = stdout(&traceloom(&["log", "--levels", "library", "--pattern", "%l", &server]));
    let count = |text: &str, level: &str| text.lines().filter(|line| *line == level).count();
    for (library, document) in [("INFO", "DEBUG"), ("WARN", "INFO"), ("ERROR", "WARN"), ("DEBUG", "ERROR")] {
        assert_eq!(count(&by_library, library), count(&by_document, document), "{library}");
    }
}

#[test]
fn log_compat_fails_where_the_original_does() {
    let burst = fixture_of("cnanolog", "head_burst_1300.clog");
    let output = traceloom(&["log", "--compat", &burst]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, fs::read(fixture_of("cnanolog", "head_burst_1300.txt")).expect("the text"));
    assert!(stderr(&output).contains("byte 93: CNanoLog's decompressor stops here"), "{}", stderr(&output));
    // The next file is still printed.
    let server = fixture_of("cnanolog", "head_server.clog");
    let both = traceloom(&["log", "--compat", &burst, &server]);
    assert_eq!(both.status.code(), Some(1));
    assert!(both.stdout.ends_with(&fs::read(fixture_of("cnanolog", "head_server.txt")).expect("the text")));
}

#[test]
fn log_finds_text_and_bytes() {
    let short = fixture_of("cnanolog", "invalid/args_too_short.clog");
    let found = stdout(&traceloom(&["log", "--grep", "argument bytes: 0102", "--pattern", "%m", &short]));
    assert_eq!(found, "Processing %d items [3 argument bytes: 010203]\n");
    let server = fixture_of("cnanolog", "head_server.clog");
    let invalid = traceloom(&["log", "--grep", "(", &server]);
    assert_eq!(invalid.status.code(), Some(2));
    for name in ["head_strings.clog", "head_types.clog", "head_formats.clog", "head_crash_a.clog"] {
        for line in stdout(&traceloom(&["log", "--json", &fixture_of("cnanolog", name)])).lines() {
            let object: Json = serde_json::from_str(line).expect("JSON");
            assert_eq!(object["args"].is_null(), object["data_hex"].is_string(), "{name}: {line}");
        }
    }
}

#[test]
fn log_shows_the_time_of_the_place() {
    let file = fixture_of("cnanolog", "head_server.clog");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_traceloom"));
        let output = command.args(arguments).arg(&file).env("TZ", "HERE-3").output().expect("the program starts");
        stdout(&output)
    };
    assert!(run(&["log"]).starts_with("[2026-11-15 01:32:32.909716003]"));
    assert!(run(&["log", "--local"]).starts_with("[2026-11-15 04:32:32.909716003]"));
    // A time without a zone is in the zone of the output.
    assert_eq!(run(&["log", "--local", "--until", "2026-11-15 04:32:32.909716004"]).lines().count(), 1);
    assert_eq!(run(&["log", "--local", "--since", "2026-11-15 04:32:32.909716003"]).lines().count(), 385);
}

#[cfg(unix)]
#[test]
fn log_sorts_more_files_than_may_be_open() {
    let folder = Folder::new();
    let file = fixture_of("cnanolog", "head_levels.clog");
    for index in 0..100 {
        fs::copy(&file, folder.path(&format!("{index:03}.clog"))).expect("a copy");
    }
    for sort in ["--sort", "--local"] {
        let program = env!("CARGO_BIN_EXE_traceloom");
        let script = format!("ulimit -S -n 40; exec {program} log {sort} {}/*.clog", folder.path(""));
        let output = Command::new("sh").args(["-c", &script]).output().expect("a shell");
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), 100 * lines_of(&file).len());
    }
}

#[test]
fn log_goes_on_after_a_file_that_is_none() {
    let server = fixture_of("cnanolog", "head_server.clog");
    let readme = fixture_of("cnanolog", "README.md");
    for arguments in [&["log"][..], &["log", "--sort"]] {
        let output = traceloom(&[arguments, &[readme.as_str(), &server]].concat());
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(stdout(&output).lines().count(), 385);
        assert!(stderr(&output).contains("README.md"), "{}", stderr(&output));
    }
}
