//! Scene: for any input, the page is drawn and its requests are answered.

use traceloom_core::{Mode, Source};
use traceloom_mapping::Options;
use traceloom_viewer::{Request, Router};

use crate::{Choices, WIDE_WINDOW, options};

/// Loads `bytes` and requests a picture and one other response; the input decides which, so that a run is fast.
pub fn scene(bytes: &[u8]) {
    let mut reading = Options::default();
    reading.read = options(Mode::Lenient, WIDE_WINDOW);
    let router = Router::new(reading, |work| work());
    if router.open("name=fuzzed", || Ok(Source::bytes(bytes))).status != 200 {
        return;
    }
    let mut choices = Choices::of(bytes);
    let from_ns = choices.below(1 << 20);
    let window = format!("from={from_ns}&to={}&px=100&tracks=0,1:0-8&counters=0,1", from_ns * choices.below(1 << 16));
    let (path, query, body) = QUESTIONS[choices.below(QUESTIONS.len())];
    let whole = "from=0&to=1000000000&px=100&tracks=0,1,2&counters=0,1,2";
    for (path, query, body) in
        [("state", "", ""), ("picture", whole, ""), ("extras", window.as_str(), ""), (path, query, body)]
    {
        let method = if body.is_empty() { "GET" } else { "POST" };
        let answer = router.answer(&Request { method, path, query, body: body.as_bytes() });
        let text = String::from_utf8_lossy(&answer.body);
        assert!(answer.status < 500 && !text.contains("in Traceloom; please report it"), "{path}: {text}");
    }
}

/// Endpoints with a query or a body that fits most traces.
static QUESTIONS: &[(&str, &str, &str)] = &[
    ("minimap", "px=100", ""),
    ("search", "q=a", ""),
    ("next", "q=a&ts=0", ""),
    ("stats", "by=thread", ""),
    ("totals", "from=0&to=1000000", ""),
    ("frames", "", ""),
    ("definitions", "", ""),
    ("findings", "", ""),
    ("advice", "", ""),
    ("overview", "", ""),
    ("memory", "trace=0", ""),
    ("source", "", ""),
    ("source/file", "trace=0&file=0", ""),
    ("log", "", ""),
    ("log/line", "number=0", ""),
    ("span", "track=0&kind=0&depth=0&index=0", ""),
    ("around", "track=0&kind=0&depth=0&index=0", ""),
    ("switch", "track=0&index=0", ""),
    ("event", "track=0&id=0&ts=0", ""),
    ("flame", "", "{}"),
    ("flame", "", r#"{"view":"sandwich"}"#),
    ("flame", "", r#"{"weight":"leaked"}"#),
];
