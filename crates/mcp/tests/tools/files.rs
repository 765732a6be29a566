//! Tools that write files or return links, resources and prompts.

use std::{
    fs,
    io::{self, Read, Write},
    net::TcpStream,
    time::Duration,
};

use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams, ResourceContents};
use serde_json::json;
use traceloom::{Slice, TimeRange, Trace};

use crate::{
    crafted::trace_of,
    support::{Bench, text},
};

#[tokio::test]
async fn slices_and_conversions_are_those_of_the_library() {
    let bench = Bench::new().await;
    for format in crate::support::formats() {
        let path = bench.sample(format);
        let trace = Trace::open(&path).expect("opens");
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("out");
        let output = format!("slice-{format}.{extension}");
        let arguments = json!({ "trace": text(&path), "output": output, "from_ns": 0, "to_ns": 5_000_000 });
        let mut expected = Vec::new();
        let range = TimeRange::between(0, 5_000_000);
        match trace.slice(&Slice { range, ..Slice::default() }, &mut expected) {
            Ok(_) => {
                let written = bench.ask("slice", arguments).await["from_trace"].clone();
                let bytes = fs::read(bench.folder.path().join(&output)).expect("it was written");
                assert!(bytes == expected, "{format}");
                assert_eq!(written["size_bytes"], expected.len());
            }
            Err(error) => assert!(bench.refusal("slice", arguments).await.contains(&error.kind().to_string())),
        }

        let output = format!("{format}.json");
        bench.ask("convert", json!({ "trace": text(&path), "output": output, "to": "chrome" })).await;
        let mut expected = Vec::new();
        trace.write_as("chrome", &mut expected).expect("a conversion");
        assert!(fs::read(bench.folder.path().join(&output)).expect("it was written") == expected, "{format}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn files_have_the_mode_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    bench.ask("slice", json!({ "trace": text(&path), "output": "slice.prof", "to_ns": 5_000_000 })).await;
    bench.ask("convert", json!({ "trace": text(&path), "output": "chrome.json", "to": "chrome" })).await;
    bench.ask("report", json!({ "traces": [text(&path)], "output": "report.html" })).await;
    let mode = |name: &str| fs::metadata(bench.folder.path().join(name)).expect("it was written").permissions().mode();
    fs::write(bench.folder.path().join("plain"), "").expect("there is room");
    for name in ["slice.prof", "chrome.json", "report.html"] {
        assert_eq!(mode(name), mode("plain"), "{name}");
    }
}

#[tokio::test]
async fn a_slice_has_only_the_threads_that_it_was_asked_for() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let trace = Trace::open(&path).expect("opens");
    let threads = vec!["Loader".to_owned()];
    let arguments = json!({ "trace": text(&path), "output": "loader.prof", "threads": threads });
    bench.ask("slice", arguments).await;
    let (mut all, mut expected) = (Vec::new(), Vec::new());
    trace.slice(&Slice::default(), &mut all).expect("a slice");
    trace.slice(&Slice { threads, ..Slice::default() }, &mut expected).expect("a slice");
    assert!(expected.len() < all.len());
    assert!(fs::read(bench.folder.path().join("loader.prof")).expect("it was written") == expected);
}

#[tokio::test]
async fn a_report_is_that_of_the_program() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let mut report = traceloom_report::Report::default();
    report.add(&Trace::open(&path).expect("opens")).expect("a report");
    for (output, expected) in [("a.html", report.to_html()), ("a.md", report.to_markdown())] {
        bench.ask("report", json!({ "traces": [text(&path)], "output": output })).await;
        assert_eq!(fs::read_to_string(bench.folder.path().join(output)).expect("it was written"), expected);
    }
    bench.ask("report", json!({ "traces": [text(&path), text(&path)], "output": "both.html" })).await;
}

#[tokio::test]
async fn nothing_is_written_elsewhere_or_over_a_file() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let elsewhere = tempfile::tempdir().expect("there is room");
    let outside = elsewhere.path().join("out.json");
    for output in [text(&outside), "../out.json", "/out.json", text(&path), "", "."] {
        let arguments = json!({ "trace": text(&path), "output": output, "to": "chrome" });
        let refused = bench.refusal("convert", arguments).await;
        assert!(!refused.is_empty(), "{output}");
    }
    assert!(!outside.exists());
    let wrong = json!({ "trace": text(&path), "output": "new.json", "to": "nonsense" });
    bench.refusal("convert", wrong).await;
    let left: Vec<_> = fs::read_dir(bench.folder.path()).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "a refusal leaves no file: {left:?}");
}

#[tokio::test]
async fn a_link_leads_to_the_running_viewer() {
    let bench = Bench::new().await;
    let path = bench.sample("easyprofiler");
    let ask = |from: i64| json!({ "trace": text(&path), "from_ns": from, "to_ns": from + 1000, "name": "Draw" });
    let url = bench.ask("link", ask(5)).await["from_trace"]["url"].as_str().expect("an address").to_owned();
    let again = bench.ask("link", ask(7)).await["from_trace"]["url"].as_str().expect("an address").to_owned();
    let (page, place) = url.split_once('#').expect("a place");
    assert_eq!(again.split_once('#').map(|(page, _)| page), Some(page), "one viewer serves both");
    assert!(place.contains("%22from%22%3A5") && place.contains("Draw"), "{place}");
    assert_eq!(status(page).expect("it runs"), "HTTP/1.1 200 OK");
}

#[tokio::test]
async fn a_link_shows_the_file_as_it_is_now() {
    let bench = Bench::new().await;
    let path = bench.folder.path().join("run.prof");
    let mut pages = Vec::new();
    for names in [[&b"first"[..], b"x"], [b"second", b"y"]] {
        fs::write(&path, trace_of(&names)).expect("there is room");
        let url = bench.ask("link", json!({ "trace": text(&path) })).await["from_trace"]["url"].clone();
        pages.push(url.as_str().expect("an address").to_owned());
    }
    assert_ne!(pages[0], pages[1]);
    assert_eq!(status(&pages[1]).expect("it runs"), "HTTP/1.1 200 OK");
    assert!(is_stopped(&pages[0]).await, "the viewer of the older file is stopped");
}

/// Whether a viewer stops, which may still take connections for a moment.
async fn is_stopped(page: &str) -> bool {
    for _ in 0..200 {
        if status(page).map_or(true, |status| status.is_empty()) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

/// The status line of the page at an address; an error if nobody listens there.
fn status(page: &str) -> io::Result<String> {
    let address = page.strip_prefix("http://").and_then(|rest| rest.split('/').next()).expect("a host");
    let path = page.split_once(address).map(|(_, path)| path).expect("a path");
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
    let answer = io::read_to_string(stream.take(1 << 20))?;
    Ok(answer.lines().next().unwrap_or_default().to_owned())
}

#[tokio::test]
async fn links_to_several_traces_stay_valid() {
    let bench = Bench::new().await;
    let mut pages = Vec::new();
    for format in crate::support::formats() {
        let path = bench.sample(format);
        let url = bench.ask("link", json!({ "trace": text(&path) })).await["from_trace"]["url"].clone();
        pages.push(url.as_str().and_then(|url| url.split('#').next()).expect("an address").to_owned());
    }
    let recent = pages.split_off(pages.len() - 4);
    for page in &recent {
        assert_eq!(status(page).expect("it runs"), "HTTP/1.1 200 OK");
    }
    for page in &pages {
        assert!(is_stopped(page).await, "older viewers are stopped");
    }
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let bench = Bench::new().await;
    let all = bench.client.list_all_resources().await.expect("resources");
    let uris: Vec<&str> = all.iter().map(|resource| resource.uri.as_str()).collect();
    for uri in ["traceloom://docs/tables", "traceloom://docs/sql", "traceloom://findings"] {
        assert!(uris.contains(&uri), "{uri}");
    }
    for format in crate::support::formats() {
        assert!(uris.contains(&format!("traceloom://docs/formats/{format}").as_str()), "{format}");
    }
    for uri in uris {
        let read = bench.client.read_resource(ReadResourceRequestParams::new(uri)).await.expect("it can be read");
        let [ResourceContents::TextResourceContents { text, .. }] = read.contents.as_slice() else { panic!("{uri}") };
        assert!(text.starts_with("# "), "{uri}");
    }
    let read = bench.client.read_resource(ReadResourceRequestParams::new("traceloom://findings")).await.expect("codes");
    let [ResourceContents::TextResourceContents { text, .. }] = read.contents.as_slice() else { panic!("no text") };
    let codes = traceloom_open::FORMATS.iter().flat_map(|format| format.rules());
    codes.for_each(|rule| assert!(text.contains(&format!("| `{}` | {} |", rule.code, rule.severity)), "{}", rule.code));
    let wrong = bench.client.read_resource(ReadResourceRequestParams::new("file:///etc/passwd")).await;
    assert!(wrong.is_err());
}

#[tokio::test]
async fn prompts_are_listed_and_filled_in() {
    let bench = Bench::new().await;
    let all = bench.client.list_all_prompts().await.expect("prompts");
    let names: Vec<&str> = all.iter().map(|prompt| prompt.name.as_str()).collect();
    assert_eq!(names, ["why_slow", "what_regressed", "what_leaks", "what_does_the_log_say"]);
    for prompt in &all {
        let arguments = prompt.arguments.iter().flatten();
        let values = arguments.map(|argument| (argument.name.clone(), json!(format!("a \u{1b}[2J{}", argument.name))));
        let values: serde_json::Map<_, _> = values.collect();
        let request = GetPromptRequestParams::new(&prompt.name);
        assert!(bench.client.get_prompt(request.clone()).await.is_err(), "{} needs arguments", prompt.name);
        let filled = bench.client.get_prompt(request.with_arguments(values.clone())).await.expect("a prompt");
        let said = format!("{:?}", filled.messages);
        assert!(!said.contains('\u{1b}') && values.keys().all(|name| said.contains(name)), "{said}");
    }
}
