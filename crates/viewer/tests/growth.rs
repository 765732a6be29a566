//! The cost of drawing is at most proportional to the trace. A separate process, because its memory is measured.

use peak_alloc::PeakAlloc;
use traceloom_core::Result;
use traceloom_mapping::{Options, Trace};
use traceloom_testkit::planted::assert_linear;
use traceloom_viewer::{Request, Router};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn pictures_cost_in_proportion_to_the_trace() {
    assert_linear("pictures_cost_in_proportion_to_the_trace", &[("scene", Box::new(draw))], &MEMORY);
}

/// Loads a trace and requests what the page shows first.
fn draw(trace: &Trace) -> Result<()> {
    let router = Router::new(Options::default(), |work| work());
    let source = trace.opened.source.clone();
    assert_eq!(router.open("name=grown", || Ok(source)).status, 200);
    let window = "from=0&to=1000000&px=1000&tracks=0,1,2&counters=0,1,2";
    for (path, query) in
        [("state", ""), ("picture", window), ("extras", window), ("minimap", "px=1000"), ("overview", "")]
    {
        let answer = router.answer(&Request { method: "GET", path, query, body: &[] });
        assert_eq!(answer.status, 200, "{path}: {}", String::from_utf8_lossy(&answer.body));
    }
    Ok(())
}
