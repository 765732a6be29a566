//! First steps of a user who has only read `--help`.

use std::{fs, net::TcpListener, process::Command};

use serde_json::Value as Json;

#[cfg(unix)]
use crate::assert_overwrites;
use crate::{Folder, stderr, stdout, traceloom, with_closed_output};

fn demo() -> Folder {
    let folder = Folder::new();
    assert!(traceloom(&["demo", "--no-open", &folder.path("demo")]).status.success());
    folder
}

/// Runs the program, which must fail with this exit code and message.
fn refused(arguments: &[&str], code: i32, words: &str) {
    let output = traceloom(arguments);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
    assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
}

#[test]
fn an_unknown_extension_is_not_a_copy() {
    let demo = demo();
    let game = demo.path("demo/game.prof");
    for name in ["x.html", "x.svg", "x.foo", "x.prof.foo"] {
        refused(&["convert", &game, &demo.path(name)], 2, "cannot tell the output format");
        assert!(!demo.names().contains(&name.to_owned()), "{name}");
    }
    for (name, words) in
        [("x.svg", "a flame graph, use `traceloom flame IN"), ("x.html", "a report, use `traceloom report IN")]
    {
        let output = demo.path(name);
        refused(&["convert", &game, &output], 2, &format!("For {words} -o {output}`"));
    }
    refused(&["convert", &game, &demo.path("x.foo")], 2, "use .prof for a copy");
    for name in ["copy.prof", "copy"] {
        assert!(traceloom(&["convert", &game, &demo.path(name)]).status.success(), "{name}");
        assert_eq!(fs::read(demo.path(name)).expect("a copy"), fs::read(&game).expect("a sample"), "{name}");
    }
}

#[test]
fn everything_that_writes_a_file_says_so() {
    let demo = demo();
    let path = |name: &str| demo.path(name);
    let game = path("demo/game.prof");
    let commands: &[&[&str]] = &[
        &["convert", &game, &path("out.pftrace")],
        &["repair", &game, &path("out.prof")],
        &["slice", "--range", "0s..1s", &game, &path("out.prof")],
        &["merge", &game, &game, &path("out.prof")],
        &["flame", &game, "-o", &path("out.svg")],
        &["report", &game, "-o", &path("out.html")],
        &["lines", "--csv", &path("demo/nytprof.out"), "-o", &path("out")],
        #[cfg(feature = "sql")]
        &["query", &game, "select 1 as one", "--format", "csv", "-o", &path("out.csv")],
    ];
    for command in commands {
        let output = traceloom(command);
        assert!(
            stderr(&output).contains("wrote ") && stderr(&output).contains("out"),
            "{command:?}: {}",
            stderr(&output)
        );
        let quiet = traceloom(&[command, &["--quiet"] as &[&str]].concat());
        assert!(!stderr(&quiet).contains("wrote "), "{command:?}: {}", stderr(&quiet));
    }
    let written = |arguments: &[&str]| stderr(&traceloom(arguments));
    #[cfg(feature = "sql")]
    {
        let stored = written(&["convert", "--to", "parquet", &game, &path("store")]);
        assert!(stored.contains("added: 1 trace") && stored.contains("store"), "{stored}");
        assert_eq!(written(&["convert", "--quiet", "--to", "parquet", &game, &path("silent")]), "");
    }
    let cut = path("cut.prof");
    fs::write(&cut, &fs::read(&game).expect("a sample")[..40_000]).expect("a file");
    let repaired = written(&["repair", &cut, &path("out.prof")]);
    assert!(repaired.contains(" of ") && repaired.contains(" records, "), "{repaired}");
    let both = written(&["merge", &game, &game, &path("out.prof")]);
    let whole = written(&["repair", &game, &path("out.prof")]);
    assert!(kept(&both).1 == 2 * kept(&whole).1 && kept(&whole).0 == kept(&whole).1, "{both}, {whole}");
    refused(&["slice", &game, &path("missing/out.prof")], 2, "missing: no such folder");
    refused(&["convert", "--to", "chrome", &game], 2, "no output given");
    refused(&["merge", &game], 2, "no output given");
}

/// The number of kept records, and of all records.
fn kept(text: &str) -> (u64, u64) {
    let (_, counts) = text.split_once(": ").expect("a count");
    let (counts, _) = counts.split_once(" records").expect("a count");
    let (kept, all) = counts.split_once(" of ").expect("two counts");
    (kept.parse().expect("a number"), all.parse().expect("a number"))
}

#[test]
fn an_empty_range_of_any_format_is_an_empty_file() {
    let demo = demo();
    for name in ["game.prof", "game.wtf-trace", "nytprof.out", "pynytprof.out", "service.clog", "shop.mlyze"] {
        let (input, output) = (demo.path(&format!("demo/{name}")), demo.path(name));
        let sliced = traceloom(&["slice", "--range", "0.5s..0.5s", &input, &output]);
        assert!(sliced.status.success(), "{name}: {}", stderr(&sliced));
        let (kept, all) = kept(&stderr(&sliced));
        assert!(kept < all, "{name}: {}", stderr(&sliced));
    }
}

#[test]
#[cfg(unix)]
fn overwriting_keeps_the_mode_and_follows_a_link() {
    let demo = demo();
    let game = demo.path("demo/game.prof");
    assert_overwrites(&demo, "a.prof", |place| traceloom(&["convert", &game, place]));
    assert_eq!(fs::read(demo.path("a.prof")).expect("a file"), fs::read(&game).expect("a sample"));
    assert_overwrites(&demo, "a.html", |place| traceloom(&["report", &game, "-o", place]));
    assert_overwrites(&demo, "a.svg", |place| traceloom(&["flame", &game, "-o", place]));
    #[cfg(feature = "sql")]
    assert_overwrites(&demo, "a.csv", |place| {
        traceloom(&["query", &game, "select name from spans", "--format", "csv", "-o", place])
    });
}

#[test]
fn names_that_are_not_there_are_reported() {
    let demo = demo();
    let game = demo.path("demo/game.prof");
    refused(&["stats", "--name", "Fram", &game], 1, "no span is named Fram; did you mean `Frame`?");
    refused(&["stats", "--histogram", "Nope", &game], 1, "no span is named Nope");
    for flag in ["--name", "--histogram"] {
        assert_eq!(stdout(&traceloom(&["stats", flag, "Nope", &game])), "", "{flag}: the threads are no answer");
    }
    let related = |value: &str, inside: &str, words: &str| {
        refused(&["stats", "--value", value, "--inside", inside, &game], 1, words);
        assert_eq!(stdout(&traceloom(&["stats", "--value", value, "--inside", inside, &game])), "", "{words}");
    };
    related("Nope", "Render", "no value is named Nope");
    related("Visible object", "Render", "no value is named Visible object; did you mean `Visible objects`?");
    related("Visible objects", "Rendr", "no span is named Rendr; did you mean `Render`?");
    related("Visible objects", "Visible objects", "no span is named Visible objects");
    for words in [&["slice"] as &[&str], &["convert", "--to", "chrome"]] {
        let (out, words) = (demo.path("out.prof"), |thread| [words, &["--thread", thread]].concat());
        refused(
            &[&words("Mian") as &[&str], &[&game, &out]].concat(),
            1,
            "no thread is named Mian; did you mean `Main`?",
        );
        refused(&[&words("99999"), &["--thread", "Main", &game, &out] as &[&str]].concat(), 1, "is named 99999");
        assert!(!demo.names().contains(&"out.prof".to_owned()), "nothing is written");
    }
    let profile = demo.path("demo/nytprof.out");
    let unnamed = stderr(&traceloom(&["slice", "--thread", "1", &profile, &demo.path("out.nytprof")]));
    assert!(unnamed.ends_with("no thread is named 1\n"), "{unnamed}");
    let output = traceloom(&["stats", "--range", "500s..600s", &game]);
    assert!(output.status.success() && stderr(&output).contains("the trace is 1.9"), "{}", stderr(&output));
    refused(&["stats", "--json", "--name", "Fram", &game], 1, "did you mean");
    refused(&["missing.prof"], 2, "missing.prof: No such file");
    refused(&[&demo.path("demo")], 2, "this is a folder");
    refused(&["list", &game], 2, "traceloom info");
    refused(&["memory", &game], 1, "the trace has no allocations");
    refused(&["lines", &game], 1, "the trace (EasyProfiler) has no line timings; try `traceloom stats`");
    refused(&["log", &game], 1, "no log lines");
    refused(&["flame", "--by", "bytes", &game], 1, "the trace has no allocations; for time, use `--by time`");
}

#[test]
fn a_log_has_no_statistics_but_lines() {
    let demo = demo();
    let output = traceloom(&["stats", &demo.path("demo/service.clog")]);
    assert!(stdout(&output).contains("log lines: try `traceloom log`"), "{}", stdout(&output));
    let perl = stdout(&traceloom(&["stats", &demo.path("demo/nytprof.out")]));
    assert_eq!(perl.matches("calls").count(), 1, "one table for the same calls: {perl}");
    assert!(!perl.contains("switches"), "{perl}");
}

#[test]
fn a_trace_without_switches_has_none_next_to_one_with_switches() {
    let demo = demo();
    let (game, wtf) = (demo.path("demo/game.prof"), demo.path("demo/game.wtf-trace"));
    let json: Json = serde_json::from_str(&stdout(&traceloom(&["stats", "--json", &game, &wtf]))).expect("JSON");
    let threads = json["threads"].as_array().expect("rows");
    for key in ["switches", "off_cpu_ns"] {
        assert!(threads.iter().any(|row| row["trace"] == 0 && row[key].as_u64() > Some(0)), "{json}");
        let of_wtf = threads.iter().filter(|row| row["trace"] == 1);
        assert!(of_wtf.clone().count() > 0 && of_wtf.into_iter().all(|row| row[key].is_null()), "{json}");
    }
    let text = stdout(&traceloom(&["stats", &game, &wtf]));
    let (_, threads) = text.split_once("\nthreads: ").expect("a table");
    let script = threads.lines().find(|line| line.contains("Script")).expect("a zone");
    assert!(threads.contains("off CPU") && !script.ends_with("0 ns"), "{threads}");
}

#[test]
fn what_is_never_freed_has_no_lifetime() {
    let demo = demo();
    let text = stdout(&traceloom(&["memory", "--limit", "1000", &demo.path("demo/shop.mlyze")]));
    let (_, rest) = text.split_once("Most allocations\n").expect("a list");
    let leak = rest.lines().find(|line| line.contains("remember shop/cache.py:19")).expect("the leak");
    assert!(leak.ends_with(", never freed"), "{leak}");
}

#[test]
fn nothing_is_wrong_with_a_sound_pynytprof_file() {
    let demo = demo();
    let profile = demo.path("demo/pynytprof.out");
    for verb in ["stats", "lines", "tree", "check", "summary", "dump"] {
        let said = stderr(&traceloom(&[verb, &profile]));
        assert!(!said.contains("warning:") && !said.contains("Devel::NYTProf"), "{verb}: {said}");
    }
}

#[test]
fn a_copy_is_counted_once_and_that_is_said() {
    let demo = demo();
    let (game, copy) = (demo.path("demo/game.prof"), demo.path("copy.prof"));
    fs::copy(&game, &copy).expect("a copy");
    let output = traceloom(&["stats", &game, &copy]);
    assert!(stderr(&output).contains("copy.prof is the same trace as"), "{}", stderr(&output));
}

#[test]
fn nothing_is_served_if_there_is_nothing_to_show() {
    let demo = demo();
    let (text, empty) = (demo.path("notes.txt"), demo.path("empty"));
    fs::write(&text, "hello\n").expect("a file");
    fs::write(&empty, "").expect("a file");
    refused(&["view", "--no-open", &text], 1, "is a text file");
    refused(&["view", "--no-open", &empty], 1, "the file is empty");
    refused(&["view", "--no-open", &text, &empty], 1, "none of the files is a trace");
    refused(&["view", "--no-open", &demo.path("demo")], 2, "this is a folder");
    refused(&["view", "--no-open", "-"], 2, "`view` cannot show standard input");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    refused(&["view", "--no-open", "--port", &port, &demo.path("demo/game.prof")], 2, "is in use; omit --port");
}

#[test]
fn files_of_other_tools_are_named() {
    let demo = demo();
    let json = demo.path("trace.json");
    fs::write(&json, r#"{"traceEvents":[{"ph":"X","ts":0}]}"#).expect("a file");
    refused(&["info", &json], 1, "is a Chrome trace; open it at ui.perfetto.dev");
    let pftrace = demo.path("game.pftrace");
    assert!(traceloom(&["convert", &demo.path("demo/game.prof"), &pftrace]).status.success());
    refused(&["info", &pftrace], 1, "is a Perfetto trace");
    refused(&["info", env!("CARGO_BIN_EXE_traceloom")], 1, "is an ELF program");
    let game = demo.path("demo/game.prof");
    for (target, name, words) in [
        ("pprof", "a.pb.gz", "is a pprof profile; open it with `go tool pprof`"),
        ("firefox", "a.firefox", "is a Firefox profile; open it at profiler.firefox.com"),
        ("speedscope", "a.speedscope", "is a speedscope profile; open it at speedscope.app"),
        ("chrome", "a.json.gz", "is a Chrome trace; open it at ui.perfetto.dev"),
    ] {
        let file = demo.path(name);
        assert!(traceloom(&["convert", "--to", target, &game, &file]).status.success(), "{target}");
        refused(&["info", &file], 1, words);
    }
    assert_eq!(fs::read(demo.path("a.json.gz")).expect("a file")[..2], [0x1f, 0x8b], "it is compressed");
    let other = demo.path("other");
    let marks: [(&[u8], &str); 6] = [
        (b"PERFILE2\x68\0\0\0", "is a perf recording; open it with `perf report`"),
        (b"tracy\0\x0b\x02", "is a Tracy capture; open it with the Tracy profiler"),
        (b"tlZ\x04\0\0\x01\0", "is a Tracy capture; open it with the Tracy profiler"),
        (b"tZst\0\0\x01\0", "is a Tracy capture; open it with the Tracy profiler"),
        (b"tr\xfdP\0\0\x01\0", "is a Tracy capture; open it with the Tracy profiler"),
        (br#"{"nodes":[{"id":1,"callFrame":{"functionName":"main"}}]}"#, "is a V8 CPU profile; open it in"),
    ];
    for (bytes, words) in marks {
        fs::write(&other, bytes).expect("a file");
        refused(&["info", &other], 1, words);
    }
}

#[test]
fn other_names_of_verbs_work() {
    let demo = demo();
    let (game, log) = (demo.path("demo/game.prof"), demo.path("demo/service.clog"));
    assert_eq!(stdout(&traceloom(&["top", &game])), stdout(&traceloom(&["stats", "--limit", "20", &game])));
    assert!(stdout(&traceloom(&["top", "--help"])).contains("Maximum rows per list (default: 20)\n"));
    let same = |alias: &[&str], verb: &[&str]| {
        let (alias, verb) = (traceloom(alias), traceloom(verb));
        assert_eq!((stdout(&alias), stderr(&alias)), (stdout(&verb), stderr(&verb)));
        assert!(alias.status.success() && !alias.stdout.is_empty(), "{}", stderr(&alias));
    };
    same(&["tail", &log], &["log", "--tail", "20", &log]);
    same(&["tail", "-n", "5", &log], &["log", "--tail", "5", &log]);
    same(&["tail", "-f", "--dictionary", &log, &log], &["log", "--tail", "20", &log]);
    same(&["tail", "-fn3", "--dictionary", &log, &log], &["log", "--tail", "3", &log]);
    same(&["-q", "tail", &log], &["log", "--tail", "20", &log]);
    same(&["grep", "query failed", &log], &["log", "--grep", "query failed", &log]);
    same(&["grep", "-C", "3", "query failed", &log], &["log", "--grep", "query failed", "-C", "3", &log]);
    same(&["--color", "never", "grep", "failed", &log], &["log", "--grep", "failed", &log]);
    let refused = stderr(&traceloom(&["tail", "-n", "5", "--compat", &log]));
    assert!(refused.contains("--compat") && !refused.contains("--tail"), "{refused}");
    assert!(stdout(&traceloom(&["formats"])).contains("easyprofiler"));
    assert!(stdout(&traceloom(&["version"])).starts_with("traceloom "));
}

#[test]
fn a_log_can_be_cut_to_its_first_and_last_entries_and_to_matches() {
    let demo = demo();
    let log = demo.path("demo/service.clog");
    let lines = |arguments: &[&str]| -> Vec<String> {
        let output = traceloom(&[&["log"], arguments, &[&log]].concat());
        stdout(&output).lines().map(str::to_owned).collect()
    };
    let all = lines(&[]);
    assert_eq!(lines(&["-n", "5"]), all[..5]);
    assert_eq!(lines(&["--tail", "5"]), all[all.len() - 5..]);
    assert_eq!(lines(&["--sort", "--tail", "3"]).len(), 3);
    let matches = lines(&["--grep", "query failed"]);
    let first = all.iter().position(|line| *line == matches[0]).expect("it is in the log");
    let around = lines(&["--grep", "query failed", "-C", "2", "-n", "1"]);
    assert_eq!(around, all[first - 2..=first + 2]);
    let output = traceloom(&["log", "--grep", "no such text", &log]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), String::new()));
    refused(&["log", "--pattern", "%t %q", &log], 2, "unknown token `%q`");
}

#[test]
fn a_log_without_a_dictionary_names_the_way_out() {
    let demo = demo();
    let (log, cut) = (demo.path("demo/service.clog"), demo.path("cut.clog"));
    let bytes = fs::read(&log).expect("a sample");
    fs::write(&cut, &bytes[..bytes.len() / 2]).expect("room for it");
    let said = |arguments: &[&str]| {
        let output = traceloom(arguments);
        stdout(&output) + &stderr(&output)
    };
    for arguments in [&["log", &cut] as &[&str], &["check", &cut], &["repair", &cut, &demo.path("out.clog")]] {
        assert!(said(arguments).contains("--dictionary FILE"), "{arguments:?}");
    }
    assert!(!said(&["log", "--dictionary", &log, &cut]).contains("--dictionary FILE"));
}

#[test]
fn the_demo_asks_questions_whose_answers_are_there() {
    let folder = Folder::new();
    let tour = stdout(&traceloom(&["demo", "--no-open", &folder.path("demo")]));
    for verb in ["memory ", "lines ", "log ", "stats ", "advise ", "diff ", "flame ", "query ", "info "] {
        assert!(tour.contains(&format!("traceloom {verb}")), "{verb}: {tour}");
    }
    let commands = tour.lines().filter_map(|line| line.split_once("  traceloom ").map(|(_, rest)| rest));
    let commands: Vec<&str> = commands.collect();
    // The last one opens the browser and then serves it.
    let Some((last, commands)) = commands.split_last() else { panic!("no commands: {tour}") };
    assert!(last.ends_with("demo/*") && !last.contains(' '), "{last}");
    for command in commands {
        let program = env!("CARGO_BIN_EXE_traceloom");
        let mut run = if command.contains('*') {
            if cfg!(windows) {
                continue;
            }
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("'{program}' {command}")]);
            shell
        } else {
            let mut direct = Command::new(program);
            direct.args(command.split(' '));
            direct
        };
        let output = run.current_dir(folder.path("")).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{command}: {}", stderr(&output));
        assert!(!output.stdout.is_empty() || command.contains(" -o "), "{command} has no answer");
    }
}

#[test]
fn a_closed_pipe_is_no_error_of_a_picture() {
    let demo = demo();
    let output = with_closed_output(&["flame", &demo.path("demo/game.prof")]);
    assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
}

#[test]
#[cfg(feature = "sql")]
fn queries_list_tables_and_columns_and_keep_nan() {
    let demo = demo();
    let game = demo.path("demo/game.prof");
    let tables = stdout(&traceloom(&["query", &game, "show tables;", "--format", "csv"]));
    let names: Vec<&str> = tables.lines().skip(1).collect();
    assert!(names.contains(&"spans") && names.is_sorted() && !tables.contains("information_schema"), "{tables}");
    refused(&["query", &game, "select t.name from traces t"], 2, "the columns of `t` are");
    let sql = "select 'NaN'::double as a, 'inf'::double as b, '-inf'::double as c, null::double as d, 1.5::double as e";
    let rows = stdout(&traceloom(&["query", &game, sql, "--format", "json"]));
    assert_eq!(rows.trim(), r#"{"a":"NaN","b":"Infinity","c":"-Infinity","e":1.5}"#);
    let sql = "select 'NaN'::real as a, 0.1::real as b, ['NaN'::double, null, 0.1] as c, struct('-inf'::real) as d \
        union all select 0.1::real, 'inf'::real, [1.0], struct(2.0::real)";
    let rows = stdout(&traceloom(&["query", &game, sql, "--format", "json"]));
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.sort_unstable();
    assert_eq!(
        rows,
        [
            r#"{"a":"NaN","b":0.1,"c":["NaN",null,0.1],"d":{"c0":"-Infinity"}}"#,
            r#"{"a":0.1,"b":"Infinity","c":[1.0],"d":{"c0":2.0}}"#,
        ]
    );
}
