//! Reports of every fixture are small, static and well-formed, and names cannot break out of them.

use traceloom_analysis::{
    lines::{Cost, File, Profile, Sub},
    notes::Note,
};
use traceloom_core::Source;
use traceloom_mapping::Trace;
use traceloom_model::{Filter, Halt, TableSink, TableSource, Tables, spans::Span, threads::Thread, traces};
use traceloom_report::{MAX_BYTES, Report};
use traceloom_testkit::each_case;

fn open(name: &str, bytes: Vec<u8>) -> Option<Trace> {
    Trace::new(name.as_ref(), Source::bytes(bytes), None, &Default::default()).ok()
}

fn demo(format: &str, name: &str) -> Trace {
    let format = traceloom_open::FORMATS.iter().find(|known| known.descriptor().id == format).expect("a format");
    open(name, format.sample().expect("it has a sample").bytes).expect("it opens")
}

fn html(trace: &dyn TableSource) -> String {
    let mut report = Report::default();
    report.add(trace).expect("it can be read");
    report.to_html()
}

/// Every element is closed in the right order, and no attribute holds a bare `<`.
fn check(page: &str, name: &str) {
    assert!(page.len() <= MAX_BYTES, "{name}: {} bytes", page.len());
    assert!(page.starts_with("<!DOCTYPE html>"), "{name}");
    assert!(page.contains("default-src 'none'; style-src 'unsafe-inline'"), "{name}");
    let bad = |c: char| c.is_control() && c != '\n' || traceloom_core::is_bidi_control(c);
    assert!(!page.contains(bad), "{name}: a control character is left");
    let mut open: Vec<&str> = Vec::new();
    let mut rest = &page["<!DOCTYPE html>".len()..];
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').unwrap_or_else(|| panic!("{name}: a tag without an end"));
        let tag = &rest[start + 1..end];
        assert!(!tag.contains('<') && tag.matches('"').count().is_multiple_of(2), "{name}: {tag}");
        rest = &rest[end + 1..];
        if let Some(closed) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(closed), "{name}");
            continue;
        }
        let (element, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(ELEMENTS.contains(&element), "{name}: <{tag}>");
        for attribute in attributes.split('"').step_by(2).map(str::trim).filter(|text| !text.is_empty()) {
            assert!(ATTRIBUTES.contains(&attribute.trim_end_matches('=')), "{name}: {attribute} in <{tag}>");
            assert!(attribute != "href=" || tag.contains("href=\"#"), "{name}: {tag}");
        }
        if element != "meta" {
            open.push(element);
        }
    }
    assert!(open.is_empty(), "{name}: {open:?}");
}

static ELEMENTS: &[&str] = &[
    "html", "head", "meta", "title", "details", "summary", "a", "i", "tfoot", "style", "body", "main", "h1", "h2",
    "h3", "p", "span", "small", "strong", "code", "pre", "ul", "ol", "li", "div", "table", "thead", "tbody", "tr",
    "th", "td", "svg", "g", "path", "rect", "text",
];

static ATTRIBUTES: &[&str] = &[
    "lang",
    "id",
    "href",
    "scope",
    "title",
    "colspan",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "tabindex",
    "viewBox",
    "role",
    "aria-label",
    "d",
    "x",
    "y",
    "width",
    "height",
];

#[test]
fn the_report_of_every_fixture_is_small_and_well_formed_and_the_same_twice() {
    each_case(|_, case, bytes| {
        let Some(trace) = open("fixture", bytes) else { return };
        let mut report = Report::default();
        if report.add(&trace).is_err() {
            return;
        }
        let page = report.to_html();
        check(&page, &case.name);
        let mut with_source = Report::default();
        if with_source.add_with_source(&trace, |_| Ok(())).is_ok() {
            check(&with_source.to_html(), &case.name);
        }
        assert!(page == html(&trace), "{}: the second report differs", case.name);
    });
}

#[test]
fn a_report_has_every_section_that_the_trace_has_data_for() {
    let has = |page: &str, words: &[&str]| words.iter().for_each(|word| assert!(page.contains(word), "{word}"));
    let game = html(&demo("easyprofiler", "game.prof"));
    has(
        &game,
        &["Findings", "The whole trace", "Most self time", "Flame graph of the time", "Slow spans, and why", "Collide"],
    );
    let memory = html(&demo("memlyze", "service.mlyze"));
    has(&memory, &["Never freed", "In use at the peak", "Flame graph of the bytes", "memory in use"]);
    let log = html(&demo("cnanolog", "service.clog"));
    has(&log, &["First errors", "Last errors", "query failed", "src/db.c:310"]);
    let profile = html(&demo("nytprof", "nytprof.out"));
    has(&profile, &["Hottest source lines", "Flame graph"]);
}

/// A trace in which every text starts with the same one.
struct Made {
    text: &'static str,
    /// The length of names after that.
    tail: usize,
    spans: i64,
}

const SMALL: Made = Made { text: "work", tail: 0, spans: 40 };

fn hostile(tail: usize) -> Made {
    Made { text: EVIL, tail, spans: 2_000 }
}

const EVIL: &str =
    "\"><script>alert(1)</script><img src=x onerror=alert(1)>&amp;'\u{202e}\u{1b}[31m\u{0}</style></title>";

impl Made {
    fn fill(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let name = |number: i64| format!("{} {number}{}", self.text, "x\"<&".repeat(self.tail));
        let label = name(0);
        let thread =
            Thread { id: 0, tid: None, process_id: 0, name: Some(label.as_str().into()), kind: None, location: None };
        tables.push(thread)?;
        for id in 0..self.spans {
            let text = name(id % 500);
            tables.push(Span {
                id,
                ts_ns: id * 1_000,
                dur_ns: Some(900 + id % 7),
                self_ns: Some(900 + id % 7),
                name: text.as_str().into(),
                category: "block".into(),
                ..Span::default()
            })?;
        }
        tables.push(traces::Trace {
            path: self.text,
            format: self.text.into(),
            version: self.text,
            producer: Some(self.text),
            clock: "monotonic".into(),
            first_ts_ns: Some(0),
            last_ts_ns: Some(self.spans * 1_000),
            ..traces::Trace::default()
        })
    }
}

impl TableSource for Made {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> traceloom_core::Result<()> {
        let mut tables = Tables::new(7, filter.clone(), sink);
        match self.fill(&mut tables).and_then(|()| tables.finish()) {
            Ok(()) => Ok(()),
            Err(halt) => halt.into_result(),
        }
    }
}

#[test]
fn hostile_names_inject_nothing_however_long_they_are() {
    for length in [0, 10, 10_000] {
        let page = html(&hostile(length));
        check(&page, "hostile");
        assert!(page.contains("&lt;script&gt;") && page.contains("\\u{202e}"), "the name is shown, escaped");
        let mut report = Report::default();
        report.add(&hostile(length)).expect("it can be read");
        let markdown = report.to_markdown();
        assert!(!markdown.contains('<') && markdown.len() < 60_000, "{} bytes", markdown.len());
    }
}

#[test]
fn notes_inject_nothing_and_stay_below_the_limit() {
    let text = "</ul><script>alert(1)</script>\u{202e} ".repeat(90);
    let note = |ts_ns: i64| Note { ts_ns, dur_ns: Some(5), name: Some(text.clone()), text: text.clone() };
    let mut report = Report::default();
    report.add(&demo("easyprofiler", "game.prof")).expect("it can be read");
    report.annotate((0..10_000).map(note).collect());
    let page = report.to_html();
    check(&page, "notes");
    assert!(page.contains("<h3>Notes</h3>") && page.contains("more notes are not shown"));
    assert!(!report.to_markdown().contains('<'));
}

#[test]
fn many_traces_stay_below_the_limit() {
    let mut report = Report::default();
    (0..40).for_each(|_| report.add(&hostile(100)).expect("it can be read"));
    let page = report.to_html();
    check(&page, "many");
    assert!(page.contains("more traces are not shown"));
}

#[test]
fn a_profile_with_source_stays_below_the_limit_and_what_is_missing_is_named() {
    let trace = demo("nytprof", "nytprof.out");
    let name = |number: u32| format!("{EVIL} {number}{}", "x\"<&".repeat(50));
    let file = |number: u32, lines: u32| File {
        name: name(number),
        source: (0..lines).map(|line| (line, name(line))).collect(),
        lines: (0..lines).step_by(3).map(|line| (line, Cost { count: 7, incl_ns: 1_000, excl_ns: None })).collect(),
        ..File::default()
    };
    let page = |fill: &dyn Fn(&mut Profile)| {
        let mut report = Report::default();
        let add = |profile: &mut Profile| {
            fill(profile);
            Ok(())
        };
        report.add_with_source(&trace, add).expect("it has lines");
        let page = report.to_html();
        check(&page, "source");
        page
    };
    let many = page(&|profile| profile.files.extend((100..1_100).map(|number| (number.into(), file(number, 30)))));
    assert!(many.contains("source files, with") && many.len() > MAX_BYTES / 2, "{} bytes", many.len());
    let huge = page(&|profile| profile.files = [(1, file(1, 20_000))].into());
    assert!(huge.contains("1 of 1 source files, with"), "nothing of it fits, which is said");
    let cold =
        page(&|profile| profile.files = [(1, File { lines: [(1, Cost::default())].into(), ..file(1, 3_000) })].into());
    assert!(cold.contains("only the lines with figures are listed"));
    page(&|profile| profile.subs.extend((0..5_000).map(|number| (name(number), Sub::default()))));
    page(&|profile| profile.attributes.extend((0..5_000).map(|number| (name(number), name(number)))));
}

#[test]
fn many_profiles_with_source_stay_below_the_limit() {
    let trace = demo("nytprof", "nytprof.out");
    let mut report = Report::default();
    (0..60).for_each(|_| report.add_with_source(&trace, |_| Ok(())).expect("it has lines"));
    let page = report.to_html();
    check(&page, "many");
    assert!(page.contains("more traces are not shown") && page.contains("<table class=\"code\">"));
}

#[test]
fn a_comparison_comes_first_and_counts_what_got_worse() {
    let (before, after) = (demo("easyprofiler", "game.prof"), demo("wtf", "game.wtf-trace"));
    let mut report = Report::default();
    assert_eq!(report.compare(&[&before], &[&before], Some(0.05)).expect("it can be read"), 0);
    report.add(&before).expect("it can be read");
    let page = report.to_html();
    check(&page, "comparison");
    assert!(page.find("What changed") < page.find("Most self time") && page.contains("Nothing changed."));
    let mut report = Report::default();
    report.compare(&[&before], &[&after], None).expect("it can be read");
    let page = report.to_html();
    check(&page, "comparison");
    assert!(page.contains(" new") && page.contains(" gone") && page.contains("colored by change"));
    assert!(report.to_json()["comparison"]["rows"].as_array().is_some_and(|rows| !rows.is_empty()));
}

/// A small trace with fixed times, without the style, which is a separate file; `TRACELOOM_BLESS=1` updates its report.
#[test]
fn a_small_report_is_as_it_was() {
    let page = html(&SMALL).replace(concat!("traceloom ", env!("CARGO_PKG_VERSION")), "traceloom");
    let page = page.replace(include_str!("../src/style.css"), "");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/small.html");
    if std::env::var_os("TRACELOOM_BLESS").is_some() {
        std::fs::write(path, &page).expect("the snapshot can be written");
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert!(page == expected, "the report differs from {path}; `cargo xtask bless` renews it");
}
