//! `capture`, against a program that replays a recorded session.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::{Command, Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime},
};

use super::{Folder, assert_snapshot, fixture, stderr, stdout, traceloom};

/// The behavior of the program for each connection, in order.
#[derive(Clone, Copy)]
enum Life {
    /// Serves the connection to its end.
    Whole,
    /// Closes the connection at the first request for the frame time.
    LosesConnection,
    /// Dies after this many bytes of the blocks.
    DiesAfter(usize),
    /// Has no blocks.
    Empty,
    /// Closes the connection after this many captures.
    Captures(usize),
}

/// The bytes that the recorded program sent in reply to a request.
fn reply(session: &[u8], kind: u8) -> &[u8] {
    match kind {
        1 => &session[186..191],
        3 => &session[204..],
        7 => &session[8..173],
        14 => &session[173..186],
        _ => &[],
    }
}

fn session() -> Vec<u8> {
    fs::read(fixture("easy_profiler-2.1.0/net_session.bin")).expect("a fixture")
}

/// Starts the program; returns the requests that it received.
fn program(lives: &'static [Life]) -> (String, JoinHandle<Vec<Vec<u8>>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let served = thread::spawn(move || {
        let connections = lives.iter().map(|life| {
            let (stream, _) = listener.accept().expect("a client");
            serve(stream, *life)
        });
        connections.collect()
    });
    (address, served)
}

fn serve(mut stream: TcpStream, life: Life) -> Vec<u8> {
    let (session, mut requests) = (session(), Vec::new());
    stream.write_all(&session[..8]).expect("a client");
    let mut head = [0; 5];
    while stream.read_exact(&mut head).is_ok() {
        assert_eq!(head[..4], [0x8d, 0xa1, 0x33, 0x01]);
        requests.push(head[4]);
        let mut extra = match head[4] {
            10 => vec![0; 5],
            11 | 12 => vec![0],
            _ => Vec::new(),
        };
        stream.read_exact(&mut extra).expect("the rest of a request");
        requests.extend(extra);
        let reply = reply(&session, head[4]);
        let reply = match (life, head[4]) {
            (Life::LosesConnection, 14) => return requests,
            (Life::DiesAfter(bytes), 3) => &reply[..9 + bytes],
            (Life::Empty, 3) => &reply[reply.len() - 5..],
            _ => reply,
        };
        stream.write_all(reply).expect("a client");
        let captures = requests.iter().filter(|request| **request == 3).count();
        if matches!(life, Life::DiesAfter(_) if captures == 1) || matches!(life, Life::Captures(all) if captures == all)
        {
            return requests;
        }
    }
    requests
}

fn capture(folder: &Folder, address: &str, more: &[&str]) -> Output {
    let output = folder.path("c.prof");
    traceloom(&[&["capture", "--for", "700ms", "-o", &output, address], more].concat())
}

#[test]
fn a_capture_is_the_file_that_the_program_sent() {
    let folder = Folder::new();
    let (address, served) = program(&[Life::Whole]);
    let output = capture(&folder, &address, &["--set", "Net job=off", "--event-tracing", "off"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read(folder.path("c.prof")).expect("a capture"), session()[213..2003]);
    assert!(stderr(&output).contains("frame time 22 µs, longest 31 µs"), "{}", stderr(&output));
    assert!(stderr(&output).contains("c.prof, 1790 B"), "{}", stderr(&output));
    let requests = served.join().expect("the program").remove(0);
    assert_eq!(requests, [&[11, 0, 7, 10, 2, 0, 0, 0, 0, 1][..], &[14, 3]].concat());

    let again = capture(&folder, &address, &[]);
    assert_eq!(again.status.code(), Some(2));
    assert!(stderr(&again).contains("already exists; choose another name with -o"), "{}", stderr(&again));
}

#[test]
fn blocks_are_listed() {
    let (address, _) = program(&[Life::Whole]);
    let output = traceloom(&["capture", "--list", &address]);
    assert_snapshot("capture-list", &stdout(&output));
}

#[test]
fn the_hottest_names_of_a_program_are_those_of_its_captures() {
    let folder = Folder::new();
    let captured = folder.path("c.prof");
    fs::write(&captured, &session()[213..2003]).expect("a file");
    let of_file = traceloom(&["top", &captured]);
    assert_eq!(stdout(&of_file), stdout(&traceloom(&["stats", "--limit", "20", &captured])));

    let (address, served) = program(&[Life::Whole]);
    let live = traceloom(&["top", "--every", "100ms", "--rounds", "2", &address]);
    assert!(live.status.success(), "{}", stderr(&live));
    assert_eq!(stdout(&live), stdout(&of_file).repeat(2));
    assert_eq!(served.join().expect("the program"), [[1, 3, 1, 3]]);
}

#[test]
fn the_last_seconds_of_a_file_that_is_still_written_are_shown() {
    let folder = Folder::new();
    let file = folder.path("written.prof");
    fs::copy(fixture("easy_profiler-2.1.0/v210_nested_threads.prof"), &file).expect("a copy");
    let top = |changed: SystemTime, rounds: &str| {
        let written = fs::File::options().append(true).open(&file).expect("the copy");
        written.set_modified(changed).expect("the time of a file");
        stdout(&traceloom(&["top", "--every", "1ms", "--rounds", rounds, &file]))
    };
    let stats = |more: &[&str]| stdout(&traceloom(&[&["stats", "--limit", "20", &file], more].concat()));
    // Its last time is at 2711855 ns; a modification time in the future stays recent while the test runs.
    let (last, whole) = (stats(&["--range", "1711855ns.."]), stats(&[]));
    assert_ne!(last, whole);
    let to_come = SystemTime::now() + Duration::from_secs(3600);
    assert_eq!(top(to_come, "1"), last);
    assert_eq!(top(to_come, "3"), last.repeat(3));
    assert_eq!(top(SystemTime::UNIX_EPOCH, "3"), whole, "nobody writes a file that is old");
}

/// The number of blocks with a name in a file.
fn calls(file: &str) -> u64 {
    let stats = traceloom(&["stats", "--json", "--name", "Net frame", file]);
    let stats: serde_json::Value = serde_json::from_str(&stdout(&stats)).unwrap_or_default();
    stats["spans"][0]["calls"].as_u64().unwrap_or(0)
}

#[test]
fn captures_are_shown_one_after_the_other_as_one_trace() {
    let folder = Folder::new();
    let (once, output) = (folder.path("once.prof"), folder.path("live.prof"));
    fs::write(&once, &session()[213..2003]).expect("a file");
    // The program disconnects after two captures and comes back.
    let (address, served) = program(&[Life::Captures(2), Life::Whole]);
    let mut view = Command::new(env!("CARGO_BIN_EXE_traceloom"));
    let view = view.args(["view", "--no-open", "--live", &address, "-o", &output]).stdout(Stdio::piped());
    let mut view = view.spawn().expect("the program starts");
    let end = Instant::now() + Duration::from_secs(60);
    while calls(&output) < 3 * calls(&once) {
        assert!(Instant::now() < end, "{} of {}", calls(&output), 3 * calls(&once));
        thread::sleep(Duration::from_millis(50));
    }
    view.kill().and_then(|()| view.wait()).expect("an end");
    let requests = served.join().expect("the program");
    assert_eq!(requests[0], [1, 3, 1, 3]);
    assert_eq!(requests[1][..3], [1, 3, 1]);
    assert!(calls(&once) > 0);
}

#[test]
#[cfg(unix)]
fn the_hottest_names_of_a_program_that_sends_what_it_records() {
    let folder = Folder::new();
    let socket = folder.path("live.sock");
    let recorder = traceloom_record::Recorder::new().serve(&socket).start().expect("a recorder");
    let is_over = Arc::new(AtomicBool::new(false));
    let worker = thread::spawn({
        let is_over = Arc::clone(&is_over);
        move || {
            while !is_over.load(Ordering::Relaxed) {
                let _span = traceloom_record::span!("Simulate");
                thread::sleep(Duration::from_millis(1));
            }
        }
    });
    let live = traceloom(&["top", "--every", "400ms", "--rounds", "2", &socket]);
    is_over.store(true, Ordering::Relaxed);
    worker.join().expect("the program");
    recorder.close().expect("an end");
    assert!(live.status.success(), "{}", stderr(&live));
    assert_eq!(stdout(&live).matches("Simulate").count(), 2, "{}", stdout(&live));
}

#[test]
fn a_lost_connection_is_opened_again() {
    let folder = Folder::new();
    let (address, served) = program(&[Life::LosesConnection, Life::Whole]);
    let output = capture(&folder, &address, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(fs::read(folder.path("c.prof")).expect("a capture"), session()[213..2003]);
    // The second greeting says that nothing is being recorded, so this is a new program.
    assert!(stderr(&output).contains("the program was restarted; the capture starts again"), "{}", stderr(&output));
    let requests = served.join().expect("the program");
    assert_eq!(requests[0], [1, 14]);
    assert_eq!(requests[1].first().zip(requests[1].last()), Some((&1, &3)));
}

#[test]
fn the_blocks_of_a_program_that_dies_are_kept() {
    let folder = Folder::new();
    let (address, _) = program(&[Life::DiesAfter(1000)]);
    let output = capture(&folder, &address, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read(folder.path("c.prof")).expect("a capture"), session()[213..1213]);
    assert!(stderr(&output).contains("is incomplete, 1000 of 1790 bytes: "), "{}", stderr(&output));
    let (whole, broken) = (folder.path("whole.prof"), folder.path("c.prof"));
    assert!(traceloom(&["repair", &broken, &whole]).status.success());
    assert!(traceloom(&["check", "--strict", &whole]).status.success());
}

#[test]
fn nothing_is_written_where_nothing_came() {
    for (lives, sentence) in [
        (&[Life::Empty][..], "the program has recorded nothing"),
        (&[Life::DiesAfter(0)], "the program closed the connection"),
    ] {
        let folder = Folder::new();
        let (address, _) = program(lives);
        let output = capture(&folder, &address, &[]);
        assert!(!output.status.success());
        assert!(stderr(&output).contains(sentence), "{}", stderr(&output));
        assert!(folder.names().is_empty());
    }
}

#[test]
fn wrong_peers_and_wishes_get_one_sentence() {
    let folder = Folder::new();
    let (address, _) = program(&[Life::Whole]);
    let output = capture(&folder, &address, &["--set", "Net jib=off"]);
    assert!(stderr(&output).contains("the program has no block `Net jib`"), "{}", stderr(&output));

    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let web = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").expect("a client");
    });
    let output = capture(&folder, &address, &[]);
    web.join().expect("the server");
    assert!(stderr(&output).contains("does not speak EasyProfiler's protocol"), "{}", stderr(&output));
    let nobody = capture(&folder, &address, &[]);
    assert_eq!(nobody.status.code(), Some(2));
    assert!(stderr(&nobody).contains("cannot connect to EasyProfiler at 127.0.0.1:"), "{}", stderr(&nobody));
    assert!(folder.names().is_empty());
}

#[test]
#[cfg(unix)]
fn an_interrupt_ends_the_capture() {
    let folder = Folder::new();
    let (address, served) = program(&[Life::Whole]);
    let mut capture = Command::new(env!("CARGO_BIN_EXE_traceloom"));
    let capture = capture.args(["capture", "--quiet", "-o", &folder.path("c.prof"), &address]);
    let mut capture = capture.spawn().expect("the program starts");
    // The first request is sent after the handler was installed.
    thread::sleep(Duration::from_millis(1500));
    let kill = Command::new("kill").args(["-INT", &capture.id().to_string()]).status();
    assert!(kill.expect("kill starts").success());
    assert!(capture.wait().expect("an end").success());
    assert_eq!(fs::read(folder.path("c.prof")).expect("a capture"), session()[213..2003]);
    served.join().expect("the program");
}
