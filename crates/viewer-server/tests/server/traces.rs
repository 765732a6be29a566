//! Loading traces, and the handling of broken ones.

use std::{fs, io::Write, net::TcpStream, thread, time::Duration};

use traceloom_viewer_server::Options;

use crate::support::{Server, fixture, sample};

#[test]
fn every_format_shows_something() {
    for (format, what) in [
        ("cnanolog", "logs"),
        ("easyprofiler", "spans"),
        ("memlyze", "memory"),
        ("nytprof", "spans"),
        ("pynytprof", "bytes"),
        ("wtf", "spans"),
    ] {
        let (_trace, server) = Server::of_sample(format);
        let state = server.wait();
        assert_eq!(state["traces"][0]["state"], "ready", "{format}: {state}");
        let tracks = state["tracks"].as_array().expect("a list").iter();
        let spans: u64 = tracks.map(|track| track["spans"].as_u64().expect("a count")).sum();
        let found = if what == "spans" { spans as f64 } else { state["traces"][0][what].as_f64().unwrap_or(0.0) };
        assert!(found > 0.0, "{format}: {state}");
        let reach = ["from_ns", "to_ns"].map(|end| state["traces"][0][end].as_i64().expect("a time"));
        assert_eq!(what == "bytes", reach == [0, 0], "{format}: {reach:?}");
        let minimap = server.get("minimap?px=100").json();
        let sum = |key: &str| minimap[key].as_array().expect("a list").iter().filter_map(|v| v.as_f64()).sum::<f64>();
        assert!(what == "bytes" || sum("busy") + sum("points") + sum("memory") > 0.0, "{format}: {minimap}");
    }
}

#[test]
fn what_was_read_before_an_error_is_shown_with_it() {
    let trace = sample("easyprofiler");
    let bytes = fs::read(&trace.path).expect("the sample");
    let cut = trace.path.with_file_name("cut.prof");
    fs::write(&cut, &bytes[..bytes.len() * 2 / 3]).expect("a place to write");
    let lenient = Server::of_one(&cut);
    assert!(lenient.wait()["traces"][0]["findings"].as_u64() > Some(0));
    let ingest = traceloom_mapping::Options { read: traceloom_core::Options::strict(), ..Default::default() };
    let server = Server::with(Options { paths: vec![cut, trace.path.clone()], ingest, ..Options::default() });
    let state = server.wait();
    assert_eq!(state["traces"][0]["state"], "failed");
    assert!(state["traces"][0]["error"].as_str().is_some_and(|error| error.len() > 20), "{state}");
    assert_eq!(state["traces"][1]["state"], "ready");
    for question in ["minimap?px=10", "search?q=", "picture?from=0&to=1000000000&px=100&tracks=0,1,2,3"] {
        assert_eq!(server.get(question).status, 200, "{question}");
    }
}

#[test]
fn what_is_no_trace_is_told_and_the_others_are_shown() {
    let trace = sample("wtf");
    let paths = [fixture("easyprofiler", "README.md"), trace.path.clone(), "/no/such/file.prof".into()];
    let state = Server::of(&paths).wait();
    let states: Vec<_> = (0..3).map(|number| state["traces"][number]["state"].as_str().unwrap_or_default()).collect();
    assert_eq!(states, ["failed", "ready", "failed"]);
    assert!(state["traces"][0]["error"].as_str().is_some_and(|error| error.contains("README.md")), "{state}");
}

#[test]
fn a_dropped_file_is_loaded_whatever_its_name() {
    let trace = sample("easyprofiler");
    let bytes = fs::read(&trace.path).expect("the sample");
    let server = Server::of(&[]);
    assert_eq!(server.post("open?name=%3Cimg%20src%3Dx%3E%0A..%2Fgame.prof", &bytes).status, 200);
    let state = server.wait();
    assert_eq!(state["traces"][0]["state"], "ready");
    assert_eq!(state["traces"][0]["bytes"], bytes.len());
    assert!(!state["traces"][0]["path"].as_str().expect("a path").contains('\n'));
    let refused = server.post("open?name=noise", &[7; 100]);
    assert_eq!(refused.status, 422);
    assert!(refused.error().contains("noise"), "{}", refused.error());
    assert_eq!(server.wait()["traces"].as_array().map(Vec::len), Some(1), "a file that is not a trace leaves nothing");
    assert_eq!(server.post("open", &bytes).status, 400);
}

#[test]
fn a_file_that_is_too_long_or_half_there_is_not_loaded() {
    let server = Server::of(&[]);
    let token = ("x-traceloom-token", server.token());
    let huge = server.send("POST /api/open?name=huge HTTP/1.1", &[token, ("content-length", "99999999999")], &[]);
    assert_eq!(huge.status, 413);
    assert!(huge.error().contains("larger than 4 GiB"));
    let mut stream = TcpStream::connect(server.address()).expect("the server listens");
    let head = format!(
        "POST /api/open?name=half HTTP/1.1\r\nhost: {}\r\nx-traceloom-token: {}\r\ncontent-length: 1000\r\n\r\n",
        server.address(),
        server.token()
    );
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&[1; 500])).expect("it reads");
    drop(stream);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(server.wait()["traces"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_page_that_knows_all_is_told_little() {
    let (_trace, server) = Server::of_sample("easyprofiler");
    let revision = server.wait()["revision"].clone();
    let again = server.get(&format!("state?since={revision}")).json();
    assert_eq!(again["revision"], revision);
    assert!(again["tracks"].is_null());
    server.post("offset?trace=0&offset_ns=5", &[]);
    assert!(server.get(&format!("state?since={revision}")).json()["tracks"].is_array());
}

#[test]
fn a_trace_that_is_closed_leaves_nothing_behind() {
    let (game, log) = (sample("easyprofiler"), sample("cnanolog"));
    let server = Server::of(&[log.path.clone(), game.path.clone()]);
    let alone = Server::of_one(&game.path);
    let names = |server: &Server, text: &str| server.get(&format!("search?q={text}")).json()["spans"].clone();
    assert_eq!(server.post("close?trace=0", &[]).status, 200);
    let (left, only) = (server.wait(), alone.wait());
    assert_eq!(left["traces"][0]["state"], "closed");
    assert_eq!((&left["logs"], &left["traces"][1]["state"]), (&0.into(), &"ready".into()));
    assert_eq!(left["traces"][1]["trace_id"], only["traces"][0]["trace_id"]);
    assert_eq!(["from_ns", "to_ns"].map(|key| &left[key]), ["from_ns", "to_ns"].map(|key| &only[key]));
    assert_eq!(names(&server, ""), names(&alone, ""));
    assert_eq!(server.get("memory?trace=0").status, 404);
    assert_eq!(server.post("close?trace=1", &[]).status, 200);
    assert_eq!(names(&server, ""), 0);
    assert!(server.wait()["from_ns"].is_null());
    assert_eq!(server.post("close?trace=1", &[]).status, 404, "it is closed already");
    assert_eq!(server.post("close?trace=9", &[]).status, 404);
    let bytes = fs::read(&game.path).expect("the sample");
    assert_eq!(server.post("open?name=game.prof", &bytes).status, 200);
    assert_eq!(server.wait()["traces"][2]["state"], "ready");
    assert_eq!(names(&server, ""), names(&alone, ""));
}

#[test]
fn the_axis_reaches_over_switches_after_the_last_span() {
    let game = sample("easyprofiler");
    let bytes = fs::read(&game.path).expect("the sample");
    let cut = game.path.with_file_name("cut.prof");
    fs::write(&cut, &bytes[..40_000]).expect("it can be written");
    let server = Server::of(&[cut]);
    let state = server.wait();
    let last_span = server.get("next?q=&ts=9000000000000&back=true").json();
    let ends_ns = last_span["ts_ns"].as_i64().expect("a time") + last_span["dur_ns"].as_i64().unwrap_or(0);
    let to_ns = state["to_ns"].as_i64().expect("a time");
    assert!(to_ns > ends_ns + 500_000_000, "{to_ns} is where the spans end, {ends_ns}");
}
