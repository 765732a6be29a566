//! Reports of every fixture are valid HTML, checked by `html-validate`.

use std::{
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

use traceloom_core::Source;
use traceloom_mapping::Trace;
use traceloom_open::{FORMATS, Format};
use traceloom_report::Report;
use traceloom_testkit::{each_case, npm};

/// The page about a trace, with its source if it has lines.
fn page(trace: &Trace) -> Option<String> {
    let mut report = Report::default();
    if report.add_with_source(trace, |_| Ok(())).is_err() {
        report.add(trace).ok()?;
    }
    Some(report.to_html())
}

/// The page about a comparison.
fn comparison(format: &dyn Format) -> String {
    let sample = format.sample().expect("it has a sample");
    let trace = Trace::new(sample.file_name.as_ref(), Source::bytes(sample.bytes), None, &Default::default());
    let trace = trace.expect("it opens");
    let mut report = Report::default();
    report.compare(&[&trace], &[&trace], None).expect("it can be read");
    report.add(&trace).expect("it can be read");
    report.to_html()
}

#[test]
fn reports_of_every_fixture_are_valid() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/validate");
    let modules = Path::new(env!("CARGO_TARGET_TMPDIR")).join("html-validate-npm");
    if let Err(reason) = npm::install(&package, &modules) {
        return npm::skip(&reason);
    }
    let folder = tempfile::tempdir().expect("there is room");
    fs::copy(package.join(".htmlvalidate.json"), folder.path().join(".htmlvalidate.json")).expect("there is room");
    let count = AtomicUsize::new(0);
    let write = |name: &str, page: &str| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        fs::write(folder.path().join(format!("{number}-{}.html", name.replace('/', "-"))), page)
            .expect("there is room");
    };
    each_case(|_, case, bytes| {
        let trace = Trace::new(case.name.as_ref(), Source::bytes(bytes), None, &Default::default());
        if let Some(page) = trace.ok().as_ref().and_then(page) {
            write(&case.name, &page);
        }
    });
    assert!(count.load(Ordering::Relaxed) > 100, "{count:?} reports");
    FORMATS.iter().for_each(|format| write("comparison", &comparison(*format)));
    let out = Command::new("node")
        .arg(modules.join("node_modules/.bin/html-validate"))
        .args(["--ext", "html", "--formatter", "text"])
        .arg(folder.path())
        .output()
        .expect("node starts, as npm did");
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stdout).lines().take(20).collect::<Vec<_>>().join("\n")
    );
}
