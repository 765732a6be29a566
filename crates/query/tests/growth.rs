//! The cost of SQL and of a store is at most proportional to the trace. A separate process, because its memory is
//! measured.

use peak_alloc::PeakAlloc;
use traceloom_core::Result;
use traceloom_mapping::Trace;
use traceloom_query::{Options, Session, store};
use traceloom_testkit::planted::assert_linear;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Reads every column, groups by name, and joins a table with itself.
static QUERIES: &[&str] = &[
    "select * from spans",
    "select * from logs",
    "select * from args",
    "select * from allocations",
    "select name, count(*), sum(dur_ns) from spans group by name order by 2 desc",
    "select count(*) from spans s join spans p on p.id = s.parent_id",
];

#[test]
fn queries_and_stores_cost_in_proportion_to_the_trace() {
    let test = "queries_and_stores_cost_in_proportion_to_the_trace";
    assert_linear(test, &[("query", Box::new(query)), ("store", Box::new(keep))], &MEMORY);
}

fn query(trace: &Trace) -> Result<()> {
    let options = Options { threads: Some(1), ..Options::default() };
    let session = Session::new(vec![trace.clone()], Vec::new(), &options)?;
    for sql in QUERIES {
        let mut answer = session.ask(sql)?;
        while answer.next()?.is_some() {}
    }
    Ok(())
}

fn keep(trace: &Trace) -> Result<()> {
    let folder = tempfile::tempdir()?;
    store::write(std::slice::from_ref(trace), &folder.path().join("store"), &store::Options::default(), &mut |_| {})
        .map(drop)
}
