//! The cost of a report is at most proportional to its trace. A separate process, because its memory is measured.

use peak_alloc::PeakAlloc;
use traceloom_report::Report;
use traceloom_testkit::planted::assert_linear;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn reports_cost_in_proportion_to_the_trace() {
    let report = |trace: &traceloom_mapping::Trace| {
        let mut report = Report::default();
        report.add(trace)?;
        report.compare(&[trace], &[trace], None)?;
        drop((report.to_html(), report.to_markdown(), report.to_json()));
        Ok(())
    };
    assert_linear("reports_cost_in_proportion_to_the_trace", &[("report", Box::new(report))], &MEMORY);
}
