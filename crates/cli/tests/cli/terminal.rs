//! What only a person at a terminal sees; `script` of util-linux provides the terminal.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    os::unix::fs::PermissionsExt,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use traceloom_record::{Recorder, span, thread_name};
use traceloom_testkit::made::write_threads;

use crate::{Folder, stdout, traceloom};

const PROGRAM: &str = env!("CARGO_BIN_EXE_traceloom");

/// Runs the program on a wide terminal, and types a line at each prompt; returns everything on the screen.
fn on_terminal(folder: &Folder, arguments: &[&str], lines: &[&str]) -> String {
    on_terminal_of(120, folder, arguments, lines)
}

/// The same, on a terminal of so many columns; the text is without colors.
fn on_terminal_of(columns: u16, folder: &Folder, arguments: &[&str], lines: &[&str]) -> String {
    anstream::adapter::strip_str(&raw_terminal(columns, folder, arguments, lines)).to_string().replace('\r', "")
}

/// The same, with everything that the program sends to the terminal.
fn raw_terminal(columns: u16, folder: &Folder, arguments: &[&str], lines: &[&str]) -> String {
    let quoted = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
    let words: Vec<String> = arguments.iter().map(quoted).collect();
    let command = format!("stty cols {columns}; {PROGRAM} {}", words.join(" "));
    let mut script = Command::new("script");
    script.args(["-qec", &command, "/dev/null"]).env("TERM", "xterm").env("XDG_STATE_HOME", folder.path("state"));
    let mut child = Running(script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("util-linux is there"));
    let mut keys = child.0.stdin.take().expect("it is piped");
    let mut out = child.0.stdout.take().expect("it is piped");
    let (mut screen, mut seen, mut lines) = (Vec::new(), 0, lines.iter());
    let mut buffer = [0; 4096];
    loop {
        let read = out.read(&mut buffer).expect("it writes");
        if read == 0 {
            break;
        }
        screen.extend_from_slice(&buffer[..read]);
        // What is typed before the prompt is there would be lost.
        if screen[seen..].windows(PROMPT.len()).any(|text| text == PROMPT) {
            seen = screen.len();
            if let Some(line) = lines.next() {
                write!(keys, "{line}\r").expect("it reads");
            }
        }
    }
    String::from_utf8(screen).expect("output is UTF-8")
}

/// What the program prints when it waits for a query.
const PROMPT: &[u8] = b"sql> ";

fn demo() -> Folder {
    let folder = Folder::new();
    assert!(traceloom(&["demo", "--no-open", &folder.path("demo")]).status.success());
    folder
}

#[test]
fn lists_have_twenty_rows() {
    let folder = demo();
    let game = folder.path("demo/game.prof");
    let rows =
        |text: &str| text.lines().skip(2).take_while(|line| line.starts_with("  ") && !line.contains(" more;")).count();
    let (piped, shown) = (stdout(&traceloom(&["stats", &game])), on_terminal(&folder, &["stats", &game], &[]));
    assert!(rows(&piped) > 20, "{piped}");
    assert_eq!(rows(&shown), 20, "{shown}");
    assert!(shown.contains(&format!("  {} more; --limit {} shows all", rows(&piped) - 20, rows(&piped))), "{shown}");
    let all = on_terminal(&folder, &["stats", "--limit", "1000", &game], &[]);
    assert_eq!(rows(&all), rows(&piped), "{all}");
}

#[test]
fn narrow_terminals_show_fewer_columns() {
    let folder = demo();
    for name in ["game.prof", "game.wtf-trace", "nytprof.out", "pynytprof.out"] {
        let file = folder.path(&format!("demo/{name}"));
        let has =
            |screen: &str, column: &str| screen.lines().any(|line| line.split_whitespace().any(|head| head == column));
        let wide = on_terminal(&folder, &["stats", &file], &[]);
        let narrow = on_terminal_of(60, &folder, &["stats", &file], &[]);
        assert!(has(&wide, "mean"), "{wide}");
        assert!(has(&wide, "p95") || name == "pynytprof.out", "{wide}");
        assert!(has(&narrow, "calls") && has(&narrow, "self") && !has(&narrow, "p95"), "{narrow}");
        let too_long: Vec<_> = narrow.lines().filter(|line| line.chars().count() > 60).collect();
        assert!(too_long.is_empty(), "{name}: {too_long:#?}");
        assert_eq!(narrow.lines().count(), wide.lines().count(), "{name}: {narrow}");
    }
}

/// A trace whose names have 60 letters.
fn write_long_names(path: &str) {
    let guard = Recorder::new().prof(path).start().expect("a recording");
    thread_name!("a_worker_that_compresses_textures_in_the_background_of_levels");
    {
        let _outer = span!("Renderer::draw_all_transparent_surfaces_from_back_to_front__");
        let _inner = span!("Renderer::sort_all_transparent_surfaces_by_their_depth______");
    }
    guard.close().expect("a trace");
}

#[test]
fn narrow_terminals_cut_long_names() {
    let folder = Folder::new();
    let file = folder.path("long.prof");
    write_long_names(&file);
    for columns in [60, 80] {
        for words in [&["stats"] as &[&str], &["stats", "--by", "thread"], &["stats", "--by", "thread,parent"]] {
            let screen = on_terminal_of(columns, &folder, &[words, &[&file]].concat(), &[]);
            let too_long: Vec<_> = screen.lines().filter(|line| line.chars().count() > columns.into()).collect();
            assert!(too_long.is_empty(), "{words:?}: {too_long:#?}");
            assert!(screen.contains("Rendere") && screen.contains('…') && screen.contains("self"), "{screen}");
        }
    }
    let folder = demo();
    let game = folder.path("demo/game.prof");
    let bars = on_terminal_of(60, &folder, &["stats", "--histogram", "Frame", &game], &[]);
    assert!(bars.contains('█') && !bars.contains('…'), "{bars}");
    assert!(bars.lines().all(|line| line.chars().count() <= 60), "{bars}");
}

/// Clears the line of the cursor.
const CLEAR_LINE: &str = "\u{1b}[2K";

#[test]
fn long_work_shows_its_progress() {
    let folder = demo();
    let (large, out, again) = (folder.path("large.prof"), folder.path("out.json"), folder.path("again.prof"));
    let (log, svg, html) = (folder.path("large.clog"), folder.path("out.svg"), folder.path("out.html"));
    let verbs: &[&[&str]] = &[
        &["convert", "--to", "chrome", &large, &out],
        &["merge", &large, &large, &again],
        &["repair", &large, &again],
        &["stats", &large],
        &["info", &large],
        &["check", &large],
        &["advise", &large],
        &["flame", &large, "-o", &svg],
        &["report", &large, "-o", &html],
        // The context needs the text of every line.
        &["log", "--grep", "no such text", "-C", "1", &log],
        #[cfg(feature = "sql")]
        &["query", &large, "select name, sum(dur_ns) from spans group by name"],
    ];
    let mut silent = verbs.to_vec();
    // How much work is long depends on the machine.
    for threads in [40, 160, 640, 2_560] {
        if silent.is_empty() {
            break;
        }
        write_threads(large.as_ref(), threads, 10_000);
        if silent.iter().any(|arguments| arguments[0] == "log") {
            let entries = fs::File::create(&log).expect("a file");
            traceloom::cnanolog::sample::write(entries, u64::from(threads) * 2_500).expect("a log");
        }
        silent.retain(|arguments| {
            let screen = raw_terminal(120, &folder, arguments, &[]);
            let bars = screen.split(CLEAR_LINE).filter(|bar| bar.contains("iB/s"));
            let merged = bars.clone().find(|bar| bar.contains('\n'));
            assert_eq!(merged, None, "{arguments:?}: the bar is still there when the output starts");
            !bars.into_iter().any(|bar| bar.contains("large."))
        });
    }
    assert!(silent.is_empty(), "no progress was shown, however large the trace: {silent:?}");
    let quiet = on_terminal(&folder, &["convert", "--quiet", "--to", "chrome", &large, &out], &[]);
    assert_eq!(quiet, "");
    let short = on_terminal(&folder, &["stats", &folder.path("demo/game.prof")], &[]);
    assert!(!short.contains("iB/s"), "{short}");
}

#[test]
#[cfg(feature = "sql")]
fn an_ingest_shows_its_progress() {
    let folder = Folder::new();
    let traces = folder.path("traces");
    fs::create_dir(&traces).expect("a folder");
    // How much work is long depends on the machine; files with other numbers of threads are other traces.
    let shown = [5, 20, 80].into_iter().any(|threads| {
        (0..20).for_each(|number| write_threads(format!("{traces}/{number}.prof").as_ref(), threads + number, 5_000));
        let screen = on_terminal(&folder, &["ingest", &traces, &folder.path(&format!("fleet{threads}"))], &[]);
        // The files, the rate and the time that is left, such as `7 of 20 files ██ 3.1 MiB/8.9 MiB 4.2 MiB/s 1s`.
        let lines = screen.split("of 20 files").skip(1);
        lines
            .filter_map(|line| line.split("iB/s ").nth(1))
            .any(|rest| rest.trim_start().starts_with(|c: char| c.is_ascii_digit()))
    });
    assert!(shown, "no progress was shown, however many traces there are");
}

#[test]
#[cfg(feature = "sql")]
fn problems_are_reported_once_per_session() {
    let folder = demo();
    let cut = folder.path("cut.prof");
    let bytes = fs::read(folder.path("demo/game.prof")).expect("a sample");
    fs::write(&cut, &bytes[..bytes.len() * 3 / 5]).expect("a file");
    let query = "select 'answer ' || count(*) as n from spans;";
    let shown = on_terminal(&folder, &["query", &cut], &[query, query, query, ".quit"]);
    let answers = shown.lines().filter(|line| line.trim_start().starts_with("answer "));
    assert!(answers.count() >= 2, "{shown}");
    assert_eq!(shown.matches("[easyprofiler.truncated]").count(), 1, "{shown}");
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill().and_then(|()| self.0.wait());
    }
}

#[test]
fn the_browser_gets_an_address_that_works_once() {
    let folder = demo();
    let (browser, opened) = (folder.path("browser"), folder.path("opened"));
    fs::write(&browser, format!("#!/bin/sh\nprintf '%s' \"$1\" > '{opened}.new'\nmv '{opened}.new' '{opened}'\n"))
        .expect("a script");
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).expect("a mode");
    let mut command = Command::new(PROGRAM);
    command.args(["view", "--port", "0", &folder.path("demo/game.prof")]).env("BROWSER", &browser);
    for name in ["CI", "DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION", "SSH_TTY"] {
        command.env_remove(name);
    }
    let mut viewer = Running(command.stdout(Stdio::piped()).spawn().expect("the program starts"));
    let mut url = String::new();
    BufReader::new(viewer.0.stdout.take().expect("it is piped")).read_line(&mut url).expect("an address");
    let started = Instant::now();
    while !fs::exists(&opened).expect("a folder") {
        assert!(started.elapsed() < Duration::from_secs(20), "no browser was started");
        thread::sleep(Duration::from_millis(20));
    }
    let handed = fs::read_to_string(&opened).expect("an address");
    let token = url.trim().rsplit_once("token=").map(|(_, token)| token).expect("a token");
    assert!(handed.contains("/start/") && !handed.contains(token), "{handed} for {url}");
    let address = handed.strip_prefix("http://").expect("an address");
    let (host, path) = address.split_once('/').expect("a path");
    let status = || {
        let mut server = std::net::TcpStream::connect(host).expect("it listens");
        write!(server, "GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it reads");
        let mut line = String::new();
        BufReader::new(server).read_line(&mut line).expect("it answers");
        line.split(' ').nth(1).and_then(|code| code.parse::<u16>().ok()).expect("a status")
    };
    assert!((200..400).contains(&status()), "{handed}");
    assert!((400..500).contains(&status()), "{handed} works twice");
}
