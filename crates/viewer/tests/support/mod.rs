//! The panels of the page, for tests of their cost.

use traceloom_viewer::{Request, Response, Router};

/// The first request of every panel.
pub(crate) static ASKED: &[&str] = &[
    "state",
    "names",
    "picture?from=0&to=1000000&px=1000&tracks=0,1,2&counters=0,1,2",
    "extras?from=0&to=1000000&px=1000&tracks=0,1,2&counters=0,1,2",
    "minimap?px=1000",
    "overview",
    "stats",
    "stats?by=thread",
    "totals?from=0&to=1000000",
    "histogram?name=0",
    "frames",
    "search?q=a",
    "flame",
    "findings",
    "advice",
    "definitions",
    "source",
    "log?skip=0&take=200",
    "memory?trace=0",
    "changes?before=0&after=0",
    #[cfg(feature = "sql")]
    "sql",
];

/// The first query of the SQL panel for traces with spans.
const QUERY: &str = r#"{"sql":"select name, count(*) as calls, sum(dur_ns) as total_ns, sum(self_ns) as self_ns from spans group by name order by self_ns desc nulls last limit 50"}"#;

/// Sends a request of the list.
pub(crate) fn ask(router: &Router, asked: &str) -> Response {
    let (path, query) = asked.split_once('?').unwrap_or((asked, ""));
    let (method, body) = match path {
        "flame" => ("POST", "{}"),
        "sql" => ("POST", QUERY),
        _ => ("GET", ""),
    };
    let answer = router.answer(&Request { method, path, query, body: body.as_bytes() });
    assert!(!answer.body.starts_with(br#"{"problem""#), "{asked}: {}", String::from_utf8_lossy(&answer.body));
    answer
}
