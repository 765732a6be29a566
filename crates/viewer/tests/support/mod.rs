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
];

/// Sends a request of the list.
pub(crate) fn ask(router: &Router, asked: &str) -> Response {
    let (path, query) = asked.split_once('?').unwrap_or((asked, ""));
    let (method, body) = if path == "flame" { ("POST", b"{}".as_slice()) } else { ("GET", b"".as_slice()) };
    router.answer(&Request { method, path, query, body })
}
