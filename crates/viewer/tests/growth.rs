//! The cost of every panel is at most proportional to the trace. A separate process, because its memory is measured.

mod support;

use peak_alloc::PeakAlloc;
use support::{ASKED, ask};
use traceloom_core::{Error, Result};
use traceloom_mapping::{Options, Trace};
use traceloom_testkit::planted::{Verb, assert_linear};
use traceloom_viewer::Router;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn panels_cost_in_proportion_to_the_trace() {
    let verbs: Vec<_> =
        ASKED.iter().map(|asked| -> Verb { (asked, Box::new(move |trace| show(trace, asked))) }).collect();
    assert_linear("panels_cost_in_proportion_to_the_trace", &verbs, &MEMORY);
}

/// Loads a trace and requests what a panel shows first.
fn show(trace: &Trace, asked: &str) -> Result<()> {
    let router = Router::new(Options::default(), |work| work());
    let source = trace.opened.source.clone();
    assert_eq!(router.open("name=grown", || Ok(source)).status, 200);
    let answer = ask(&router, asked);
    let text = || String::from_utf8_lossy(&answer.body).into_owned();
    match answer.status {
        200 => Ok(()),
        // A trace without names, for instance, has no histogram.
        400..500 => Err(Error::unsupported(text())),
        status => panic!("{asked}: {status} {}", text()),
    }
}
