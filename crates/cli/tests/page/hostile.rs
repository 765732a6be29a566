//! Malicious traces.

use std::{fs, path::PathBuf};

use traceloom_model::{Halt, Tables, events::Event, processes::Process, spans::Span, threads::Thread, traces::Trace};
use traceloom_testkit::planted::Made;

use crate::served::{place, sample, traceloom, written};

/// Names that a page could misinterpret.
pub(crate) const NAMES: [&str; 10] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg onload=alert(1)>",
    "'; alert(1); '",
    "javascript:alert(1)",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)}",
    "line\nfeed\r\ttab \u{1}\u{1b}[31m\u{7f}",
    "\u{202e}desrever\u{2028}\u{feff}",
    "=cmd|' /C calc'!A0",
    "größe 😀 &lt;b&gt; &amp;",
];

/// A name that is longer than any screen is wide.
pub(crate) fn long_name() -> String {
    "<b>long</b> ".repeat(2_000)
}

/// One span and one event per name.
fn fill(tables: &mut Tables<'_>) -> Result<(), Halt> {
    let long = long_name();
    let names = NAMES.into_iter().chain([long.as_str()]);
    for (id, name) in (0..).zip(names) {
        let (name, thread_id, definition_id, ts_ns) = (name.into(), 0, None, id * 1_000_000);
        tables.push(Span {
            id,
            thread_id,
            ts_ns,
            dur_ns: Some(900_000),
            self_ns: Some(900_000),
            name,
            category: "block".into(),
            definition_id,
            file: Some(name),
            line: Some(1),
            ..Span::default()
        })?;
        let (thread_id, span_id, category) = (Some(thread_id), Some(id), "event".into());
        tables.push(Event { id, ts_ns: ts_ns + 1_000, thread_id, span_id, name, category, definition_id })?;
    }
    let name = Some(NAMES[1].into());
    tables.push(Thread { id: 0, tid: Some(7), process_id: 0, name, kind: None, location: None })?;
    tables.push(Process { id: 0, pid: Some(7), ppid: None, name, start_ts_ns: None, end_ts_ns: None })?;
    tables.push(Trace {
        path: NAMES[1],
        format: "easyprofiler".into(),
        version: "",
        clock: "steady".into(),
        first_ts_ns: Some(0),
        last_ts_ns: Some(12_000_000),
        ..Trace::default()
    })
}

/// Traces of every format with such names.
pub(crate) fn traces(test: &str) -> Vec<PathBuf> {
    let samples = sample(test, "");
    let place = place(&format!("{test}-made"));
    let mut files = Vec::new();
    for (target, file) in [("easyprofiler", "<img src=x onerror=alert(2)>.prof"), ("wtf", "names.wtf-trace")] {
        files.push(place.join(file));
        written(&Made(fill), target, &place.join(file));
    }
    let plain = place.join("plain.out");
    let compressed = samples.join("nytprof.out");
    traceloom(&["convert", "--to", "nytprof:plain", compressed.to_str().unwrap(), plain.to_str().unwrap()]);
    let made =
        [(samples.join("service.clog"), &LOG[..]), (samples.join("shop.mlyze"), &MEMORY[..]), (plain, &PROFILE[..])];
    for (from, replaced) in made {
        let to = place.join(format!("hostile-{}", from.file_name().unwrap().display()));
        let bytes = replaced.iter().fold(fs::read(from).unwrap(), |bytes, pair| replace(bytes, *pair));
        fs::write(&to, bytes).unwrap();
        files.push(to);
    }
    files
}

/// Texts of the samples and their replacements, of the same length so that all offsets stay the same.
type Pair = (&'static str, &'static str);

const LOG: [Pair; 3] = [
    ("service %s starting, %d workers", "<img src=x onerror=alert(%s)>%d"),
    ("/orders/42/items", "<svg onload=b()>"),
    ("src/metrics.c", "<i>x.c</i>\"'&"),
];
const MEMORY: [Pair; 3] =
    [("shop/templates.py", "<svg onload=b(1)>"), ("handle_request", "<b>handle</b>'"), ("sale begins", "<s>sale</s>")];
const PROFILE: [Pair; 3] = [
    ("/srv/shop/lib/Shop/Price.pm", "<img src=x onerror=alert()>"),
    ("Shop::Price::line_price", "<svg onload=alert(1)>::"),
    ("my ($order) = @_;", "<svg onload=b(1)>"),
];

fn replace(bytes: Vec<u8>, (from, to): Pair) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut out = Vec::with_capacity(bytes.len());
    let (mut rest, mut found) = (&bytes[..], 0);
    while let Some(first) = rest.first() {
        let (taken, kept) = if rest.starts_with(from) { (from.len(), to) } else { (1, std::slice::from_ref(first)) };
        found += usize::from(taken > 1);
        out.extend_from_slice(kept);
        rest = &rest[taken..];
    }
    assert!(found > 0, "the sample has no {}", String::from_utf8_lossy(from));
    out
}
