//! The program as a user runs it.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value as Json;

fn traceloom(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_traceloom")).args(arguments).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is UTF-8")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("output is UTF-8")
}

/// An EasyProfiler fixture.
fn fixture(name: &str) -> String {
    fixture_of("easyprofiler", name)
}

fn fixture_of(format: &str, name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(format).join(name);
    path.to_str().expect("the path is UTF-8").to_owned()
}

/// A folder that is gone at the end of the test.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().expect("the path is UTF-8").to_owned()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("the folder is there");
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
    }
}

/// Compares with `tests/snapshots/NAME.txt`; `TRACELOOM_BLESS=1` renews it.
fn assert_snapshot(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name).with_extension("txt");
    if std::env::var_os("TRACELOOM_BLESS").is_some() {
        fs::write(&path, text).expect("the snapshot can be written");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} differs from its snapshot; `cargo xtask bless` renews it");
}

/// The text without the folder of the fixtures.
fn relative(text: &str) -> String {
    text.replace(&fixture(""), "")
}

#[test]
fn help_of_every_verb() {
    let mut all = stdout(&traceloom(&["--help"]));
    for verb in ["info", "dump", "check", "convert", "repair", "slice", "merge", "log", "demo", "completions", "man"] {
        let help = traceloom(&[verb, "--help"]);
        assert!(help.status.success());
        all += &format!("\n---- {verb}\n{}", stdout(&help));
    }
    assert_snapshot("help", &all);
}

#[test]
fn info_of_a_real_capture() {
    let output = traceloom(&["info", &fixture("v210_nested_threads.prof")]);
    assert_eq!(output.status.code(), Some(0));
    assert_snapshot("info", &relative(&stdout(&output)));
    let json: Json =
        serde_json::from_str(&stdout(&traceloom(&["info", "--json", &fixture("v210_values.prof")]))).expect("JSON");
    assert_eq!(json["format"], "easyprofiler");
    assert_eq!(json["version"], "2.1.0");
    assert_eq!(json["facts"]["values"].as_u64().zip(json["facts"]["blocks"].as_u64()).map(|(a, b)| a + b), Some(96));
    assert_eq!(json["threads"][0]["name"], "Main");
}

#[test]
fn a_file_alone_is_info() {
    let file = fixture("v210_one_block.prof");
    assert_eq!(stdout(&traceloom(&[&file])), stdout(&traceloom(&["info", &file])));
}

#[test]
fn dump_prints_every_record() {
    let output = traceloom(&["dump", &fixture("syn_freq_10mhz.prof")]);
    assert_eq!(output.status.code(), Some(0));
    assert_snapshot("dump", &stdout(&output));
    let output = traceloom(&["dump", "--json", &fixture("v210_names_non_ascii.prof")]);
    let lines: Vec<Json> = stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().any(|line| line["name_hex"].is_string()), "names that are not UTF-8 are given in hex");
    let bytes: u64 = lines.iter().filter_map(|line| line["len"].as_u64()).sum();
    assert_eq!(bytes, fs::metadata(fixture("v210_names_non_ascii.prof")).expect("the fixture").len());
    assert_eq!(stdout(&traceloom(&["dump", "--limit", "2", &fixture("v210_values.prof")])).lines().count(), 2);
}

#[test]
fn check_gives_the_verdict_of_the_original() {
    let good = traceloom(&["check", "--strict", &fixture("v210_one_block.prof")]);
    assert_eq!(good.status.code(), Some(0));
    let bad = traceloom(&["check", "--strict", &fixture("bad_block_count_header.prof")]);
    assert_eq!(bad.status.code(), Some(1));
    let all = traceloom(&["check", &fixture("bad_bookmark_size.prof"), &fixture("bad_zero_length.prof")]);
    assert_eq!(all.status.code(), Some(1));
    assert_snapshot("check", &relative(&(stdout(&good) + &stdout(&bad) + &stdout(&all))));
    let json = traceloom(&["check", "--json", "--strict", &fixture("bad_block_count_header.prof")]);
    let json: Json = serde_json::from_str(&stdout(&json)).expect("JSON");
    assert_eq!(json["accepted"], false);
    assert_eq!(json["findings"][0]["code"], "easyprofiler.count-mismatch");
    assert_eq!(json["findings"][0]["values"]["expected"], 77);
    assert_eq!(json["findings"][0]["offset"], 308);
}

#[test]
fn convert_copies_byte_for_byte_and_unpacks() {
    let folder = Folder::new();
    let (input, output) = (fixture("v210_gui_saved_bookmarks.prof"), folder.path("copy.prof"));
    assert!(traceloom(&["convert", &input, &output]).status.success());
    assert_eq!(fs::read(&input).expect("the input"), fs::read(&output).expect("the output"));
    let piped = traceloom(&["convert", &input, "-"]);
    assert_eq!(piped.stdout, fs::read(&input).expect("the input"));
    assert_eq!(folder.names(), ["copy.prof"], "no temporary file stays behind");
}

#[test]
fn convert_restamps_and_says_what_is_lost() {
    let folder = Folder::new();
    let output = folder.path("old.prof");
    let done =
        traceloom(&["convert", "--to", "easyprofiler:1.0.0", &fixture("v210_gui_saved_bookmarks.prof"), &output]);
    assert!(done.status.success());
    assert!(stderr(&done).contains("lost: bookmarks: 2"), "{}", stderr(&done));
    assert!(stderr(&done).contains("lost: the process id"), "{}", stderr(&done));
    assert!(traceloom(&["check", "--strict", &output]).status.success());
    let unknown = traceloom(&["convert", "--to", "easyprofiler:0.0.1", &fixture("v210_values.prof"), &output]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn repair_makes_refused_files_load() {
    let folder = Folder::new();
    let output = folder.path("good.prof");
    for name in ["bad_block_count_header", "bad_threads_mark", "v210_deep_256_refused", "syn_null_descriptor_used"] {
        let input = fixture(&format!("{name}.prof"));
        assert_eq!(traceloom(&["check", "--strict", &input]).status.code(), Some(1));
        assert!(traceloom(&["repair", &input, &output]).status.success(), "{name}");
        assert_eq!(traceloom(&["check", "--strict", &output]).status.code(), Some(0), "{name}");
    }
    let empty = traceloom(&["repair", &fixture("v210_empty_enabled.prof"), &output]);
    assert_eq!(empty.status.code(), Some(1));
    assert!(stderr(&empty).contains("nothing to repair"), "{}", stderr(&empty));
}

#[test]
fn slice_keeps_time_and_threads() {
    let folder = Folder::new();
    assert!(traceloom(&["demo", &folder.path("demo")]).status.success());
    let (input, output) = (folder.path("demo/game.prof"), folder.path("part.prof"));
    let sliced = traceloom(&["slice", "--range", "0.5s..1s", "--thread", "Main", &input, &output]);
    assert!(sliced.status.success(), "{}", stderr(&sliced));
    let info: Json = serde_json::from_str(&stdout(&traceloom(&["info", "--json", &output]))).expect("JSON");
    assert_eq!(info["facts"]["capture"]["ns"], 500_000_000);
    assert_eq!(info["threads"].as_array().map(Vec::len), Some(1));
    let nothing = traceloom(&["slice", "--range", "100s..", &input, &output]);
    assert_eq!(nothing.status.code(), Some(2));
    let backwards = traceloom(&["slice", "--range", "2s..1s", &input, &output]);
    assert_eq!(backwards.status.code(), Some(2));
}

#[test]
fn merge_puts_two_captures_of_a_process_together() {
    let folder = Folder::new();
    let (one, two) = (fixture("v210_two_dumps_first.prof"), fixture("v210_two_dumps_second.prof"));
    let (forwards, backwards) = (folder.path("forwards.prof"), folder.path("backwards.prof"));
    assert!(traceloom(&["merge", &one, &two, &forwards]).status.success());
    assert!(traceloom(&["merge", &two, &one, &backwards]).status.success());
    assert_eq!(fs::read(&forwards).expect("a file"), fs::read(&backwards).expect("a file"));
    assert_eq!(traceloom(&["check", "--strict", &forwards]).status.code(), Some(0));
    let info: Json = serde_json::from_str(&stdout(&traceloom(&["info", "--json", &forwards]))).expect("JSON");
    let count = |name: &str| info["facts"][name].as_u64().unwrap_or(0);
    assert_eq!(count("blocks") + count("events") + count("values"), 39);
}

#[test]
fn nobody_overwrites_his_input() {
    let folder = Folder::new();
    let file = folder.path("a.prof");
    fs::copy(fixture("v210_one_block.prof"), &file).expect("a copy");
    let refused = traceloom(&["convert", &file, &file]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(fs::read(&file).expect("a file"), fs::read(fixture("v210_one_block.prof")).expect("a file"));
}

#[test]
fn errors_name_the_file_and_what_is_wrong() {
    let missing = traceloom(&["info", "no-such-file.prof"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("no-such-file.prof"), "{}", stderr(&missing));
    let unknown = traceloom(&["info", &fixture("README.md")]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(stderr(&unknown).contains("no known trace begins with"), "{}", stderr(&unknown));
    assert_eq!(traceloom(&["frobnicate"]).status.code(), Some(2));
}

#[test]
fn a_trace_comes_through_a_pipe() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_traceloom"))
        .args(["info", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let bytes = fs::read(fixture("v210_one_block.prof")).expect("the fixture");
    child.stdin.take().expect("a pipe").write_all(&bytes).expect("the pipe takes it");
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success());
    assert!(stdout(&output).starts_with("standard input: EasyProfiler 2.1.0"), "{}", stdout(&output));
}

#[test]
fn compressed_traces_just_open() {
    let plain = stdout(&traceloom(&["dump", &fixture("v210_values.prof")]));
    for ending in ["gz", "zst", "lz4"] {
        let path = format!("{}/tests/data/values.prof.{ending}", env!("CARGO_MANIFEST_DIR"));
        assert_eq!(stdout(&traceloom(&["dump", &path])), plain, "{ending}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_traceloom"))
        .args(["dump", &fixture("v210_gui_saved_bookmarks.prof")])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert!(output.status.success());
    assert_eq!(stderr(&output), "");
}

#[test]
fn completions_and_manual_page_are_printed() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(stdout(&traceloom(&["completions", shell])).contains("traceloom"), "{shell}");
    }
    assert!(stdout(&traceloom(&["man"])).contains(".TH traceloom 1"));
    assert!(stdout(&traceloom(&["man", "slice"])).contains(".TH traceloom-slice 1"));
    assert_eq!(traceloom(&["man", "nothing"]).status.code(), Some(2));
}

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
fn log_filters_by_time() {
    let file = fixture_of("cnanolog", "head_server.clog");
    let count =
        |arguments: &[&str]| stdout(&traceloom(&[&["log"], arguments, &[file.as_str()]].concat())).lines().count();
    assert_eq!(count(&["--until", "2026-11-15 01:32:32.909716003"]), 1);
    assert_eq!(count(&["--since", "2026-11-15T01:32:32.909716004Z"]), 384);
    assert_eq!(count(&["--since", "1h"]), 0);
    assert_eq!(count(&["--since", "0s", "--until", "10s"]), 385);
}

#[test]
fn log_compat_is_the_original_to_the_byte() {
    let folder = fixture_of("cnanolog", "");
    let mut compared = 0;
    for entry in fs::read_dir(&folder).expect("the fixtures") {
        let clog = entry.expect("an entry").path();
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

#[test]
fn log_follows_a_file_until_it_is_closed() {
    let folder = Folder::new();
    let whole = fs::read(fixture_of("cnanolog", "head_server.clog")).expect("the fixture");
    let dictionary_at = u64::from_le_bytes(whole[40..48].try_into().expect("eight bytes")) as usize;
    // While a log is written, its header knows neither the dictionary nor the number of entries.
    let mut open = whole[..dictionary_at].to_vec();
    open[40..52].fill(0);
    let path = folder.path("live.clog");
    fs::write(&path, &open[..dictionary_at / 2]).expect("a file");
    let child = Command::new(env!("CARGO_BIN_EXE_traceloom"))
        .args(["log", "-f", "--dictionary", &fixture_of("cnanolog", "head_server.clog"), &path])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // As the library does: entries in batches that end anywhere, then the dictionary, then the header.
    let mut file = fs::OpenOptions::new().append(true).open(&path).expect("the file");
    let parts = [&open[dictionary_at / 2..dictionary_at - 3], &open[dictionary_at - 3..], &whole[dictionary_at..]];
    for part in parts {
        std::thread::sleep(std::time::Duration::from_millis(300));
        file.write_all(part).expect("the file takes it");
    }
    let mut file = fs::OpenOptions::new().write(true).open(&path).expect("the file");
    file.write_all(&whole[..64]).expect("the file takes it");
    let output = child.wait_with_output().expect("the program ends when the log is closed");
    let (followed, read) = (stdout(&output), stdout(&traceloom(&["log", &fixture_of("cnanolog", "head_server.clog")])));
    assert_eq!(followed.lines().count(), read.lines().count());
    assert!(followed == read);
}
