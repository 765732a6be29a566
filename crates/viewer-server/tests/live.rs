//! A trace is shown while it is being written, from a program or from a file.

use std::{
    fs,
    io::Read,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value as Json;
use traceloom_core::live::Address;
use traceloom_record::{Recorder, span};
use traceloom_testkit::client;
use traceloom_viewer_server::{Keep, Live, LiveSource, Options, Viewer, numbered, start};

/// A process has one recorder at a time.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn watch(from: LiveSource, keep: Keep) -> Viewer {
    start(Options { live: Some(Live { from, keep }), ..Options::default() }).expect("the program lets us watch")
}

fn program(socket: &Path, output: &Path) -> LiveSource {
    let address = Address::Unix(socket.into());
    LiveSource::Program { address, token: None, output: output.into() }
}

/// The state that the page would get.
fn state(viewer: &Viewer) -> Json {
    let mut client = client::ask(viewer.url(), "GET /api/state", "").expect("the server reads it");
    let mut answer = String::new();
    #[expect(clippy::disallowed_methods, reason = "the server is ours")]
    client.read_to_string(&mut answer).expect("it answers");
    let body = answer.split_once("\r\n\r\n").expect("a body").1;
    let json = &body[body.find('{').expect("JSON")..=body.rfind('}').expect("JSON")];
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// Waits until the state of the page satisfies a condition.
fn until(viewer: &Viewer, is_so: impl Fn(&Json) -> bool) -> Json {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let state = state(viewer);
        if is_so(&state) {
            return state;
        }
        assert!(Instant::now() < end, "{state:#}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn spans(state: &Json) -> u64 {
    state["tracks"].as_array().into_iter().flatten().filter_map(|track| track["spans"].as_u64()).sum()
}

fn work(rounds: usize) {
    for _ in 0..rounds {
        let _outer = span!("outer");
        let _inner = span!("inner");
    }
}

#[test]
fn the_page_grows_with_the_program_and_the_file_has_everything() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (socket, output) = (folder.path().join("live.sock"), folder.path().join("seen.wtf-trace"));
    let recorder = Recorder::new().serve(socket.to_str().unwrap()).start().unwrap();
    let viewer = watch(program(&socket, &output), Keep::default());
    until(&viewer, |state| state["traces"][0]["format"] == "wtf");
    let has_value = |state: &Json| state["counters"].as_array().is_some_and(|counters| counters.len() == 1);
    for round in 1..=3 {
        work(100);
        traceloom_record::warn!("round %d", round as i32);
        traceloom_record::value!("load", round as f64);
        let state = until(&viewer, |state| spans(state) == round * 200 && state["logs"] == round && has_value(state));
        assert_eq!(state["traces"][0]["state"], "live");
        assert_eq!(state["tracks"][0]["name"], thread::current().name().unwrap());
        assert_eq!(state["traces"][0]["live"]["dropped"], 0);
    }
    recorder.close().unwrap();
    let state = until(&viewer, |state| state["traces"][0]["state"] == "ready");
    assert_eq!(state["traces"][0]["live"]["end"], "the program has ended; waiting until it starts again");
    assert_eq!(spans(&state), 600);
    let saved = start(Options { paths: vec![output], ..Options::default() }).unwrap();
    let state = until(&saved, |state| state["traces"][0]["state"] == "ready");
    assert_eq!(spans(&state), 600);
}

#[test]
fn a_program_that_comes_back_is_watched_again() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (socket, output) = (folder.path().join("live.sock"), folder.path().join("seen.wtf-trace"));
    let recorder = Recorder::new().serve(socket.to_str().unwrap()).start().unwrap();
    // So short that the first run is too old as soon as the second one starts.
    let viewer = watch(program(&socket, &output), Keep { age_ns: 1, ..Keep::default() });
    until(&viewer, |state| state["traces"][0]["format"] == "wtf");
    work(100);
    recorder.close().unwrap();
    until(&viewer, |state| state["traces"][0]["state"] == "ready");
    // It stores a new token.
    let recorder = Recorder::new().serve(socket.to_str().unwrap()).start().unwrap();
    until(&viewer, |state| state["traces"][1]["format"] == "wtf" && state["traces"][0]["live"].is_null());
    work(10);
    until(&viewer, |state| state["traces"][0]["state"] == "closed" && state["traces"][1]["state"] == "live");
    recorder.close().unwrap();
    until(&viewer, |state| state["traces"][1]["state"] == "ready");
    for (path, expected) in [(output.clone(), 200), (numbered(&output, 2), 20)] {
        let saved = start(Options { paths: vec![path], ..Options::default() }).unwrap();
        let state = until(&saved, |state| state["traces"][0]["state"] == "ready");
        assert_eq!(spans(&state), expected);
    }
}

#[test]
fn a_program_with_another_token_is_not_watched() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let (socket, output) = (folder.path().join("live.sock"), folder.path().join("seen.wtf-trace"));
    let problem = |from| {
        let live = Some(Live { from, keep: Keep::default() });
        start(Options { live, ..Options::default() }).expect_err("it is refused").to_string()
    };
    let address = Address::Unix(socket.clone());
    let wrong = LiveSource::Program { address, token: Some("wrong".to_owned()), output: output.clone() };
    assert!(problem(wrong.clone()).contains("cannot connect"));
    let recorder = Recorder::new().serve(socket.to_str().unwrap()).start().unwrap();
    assert!(problem(wrong).contains("the token is wrong"));
    assert!(!output.exists());
    recorder.close().unwrap();
}

#[test]
fn a_file_is_shown_while_it_is_written_and_old_spans_are_forgotten() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.wtf-trace");
    let recorder = Recorder::new().wtf_trace(&file).start().unwrap();
    let keep = Keep { age_ns: 1_000_000_000, bytes: 1 << 30 };
    let viewer = watch(LiveSource::File(file), keep);
    work(100);
    traceloom_record::flush().unwrap();
    until(&viewer, |state| spans(state) == 200);
    thread::sleep(Duration::from_millis(1_500));
    work(1);
    traceloom_record::flush().unwrap();
    let state = until(&viewer, |state| spans(state) == 2);
    assert!(state["from_ns"].as_i64().unwrap() > 0);
    recorder.close().unwrap();
}

#[test]
fn what_does_not_fit_is_in_the_file_only() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.wtf-trace");
    let recorder = Recorder::new().wtf_trace(&file).start().unwrap();
    let keep = Keep { bytes: 256 << 10, ..Keep::default() };
    let viewer = watch(LiveSource::File(file.clone()), keep);
    let (mut recorded, mut most) = (0, 0);
    // Spans of a hundred times as many bytes, and as many log lines and values.
    while recorded < 400_000 {
        work(10_000);
        // Alternating, because the server drops whole ranges of time, and a busy machine may pause anywhere.
        for number in 0..1000 {
            traceloom_record::info!("line %d", number);
            traceloom_record::value!("load", f64::from(number));
        }
        traceloom_record::flush().unwrap();
        recorded += 20_000;
        let bytes = fs::metadata(&file).unwrap().len();
        let state = until(&viewer, |state| state["traces"][0]["bytes"] == bytes);
        most = most.max(spans(&state));
    }
    let state = state(&viewer);
    let lines = state["logs"].as_u64().unwrap();
    let values = state["counters"][0]["samples"].as_u64().unwrap();
    // A span takes 24 bytes and some for its level of detail; a step holds 20 000 before some are dropped.
    assert!((2_000..60_000).contains(&most), "{most} spans");
    assert!((1..5_000).contains(&lines), "{lines} lines");
    assert!((1..5_000).contains(&values), "{values} values");
    recorder.close().unwrap();
}

#[test]
fn a_log_is_shown_while_it_is_written() {
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.clog");
    let recorder = Recorder::new().clog(&file).start().unwrap();
    traceloom_record::info!("first");
    traceloom_record::flush().unwrap();
    let viewer = watch(LiveSource::File(file), Keep::default());
    until(&viewer, |state| state["logs"] == 1);
    for round in 2..6 {
        traceloom_record::info!("round %d", round);
        traceloom_record::flush().unwrap();
        until(&viewer, |state| state["logs"] == round);
    }
    recorder.close().unwrap();
    until(&viewer, |state| state["logs"] == 5);
}
