//! Reports in a real browser.

use std::path::Path;

use serde_json::{Map, Value, json};
use traceloom_core::Source;
use traceloom_mapping::Trace;
use traceloom_report::Report;
use traceloom_testkit::Browser;

#[test]
fn everybody_can_read_a_report_in_both_themes() {
    let Some(browser) = Browser::or_skip(Path::new(env!("CARGO_TARGET_TMPDIR"))) else { return };
    let mut pages = Map::new();
    for format in traceloom_open::FORMATS {
        let sample = format.sample().expect("it has a sample");
        let source = Source::bytes(sample.bytes);
        let trace = Trace::new(sample.file_name.as_ref(), source, None, &Default::default()).expect("it opens");
        let mut report = Report::default();
        report.compare(&[&trace], &[&trace], None).expect("it can be read");
        if report.add_with_source(&trace, |_| Ok(())).is_err() {
            report.add(&trace).expect("it can be read");
        }
        pages.insert(sample.file_name.to_owned(), Value::from(report.to_html()));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/access.mjs");
    browser.run(&script, &json!({ "pages": pages }));
}
