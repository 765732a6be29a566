//! Conversion to Devel::NYTProf's stream, which Perl loads.

use std::{collections::BTreeMap, fs, process::Command};

use traceloom_model::{Batches, Columns, Filter, Table, TableSource, Wanted, spans};

use crate::{
    Converted, assert_equal, convert, loses,
    picture::{Call, Picture, Span},
    support::{Made, place, push_trace, span},
    traces,
};

/// The parts of a span that the format holds: start, end, depth, name, source.
type Held = (i64, i64, u32, String, Option<(String, u32)>);

/// Nanoseconds per tick.
fn tick_ns(bytes: &[u8]) -> i64 {
    let text = String::from_utf8_lossy(bytes);
    let ticks = text.split("ticks_per_sec=").nth(1).and_then(|rest| rest.lines().next()).unwrap();
    1_000_000_000 / ticks.parse::<i64>().unwrap()
}

fn held(span: &Span, picture: &Picture, tick_ns: i64) -> Held {
    let time = |ns: i64| {
        let ns = ns.saturating_sub(picture.start_ns);
        // To the nearest tick.
        ns.saturating_add(tick_ns / 2) / tick_ns * tick_ns
    };
    let end_ns = span.end_ns.unwrap_or(picture.last_ns.max(span.ts_ns));
    let name = if span.name.is_empty() { "(no name)" } else { &span.name };
    let source = span.source.clone().filter(|(file, _)| !file.is_empty() && file != "/no-source");
    let source = source.map(|(file, line)| (file, line.unwrap_or(0)));
    (time(span.ts_ns), time(end_ns), span.depth, name.to_owned(), source)
}

pub(crate) fn assert_same(from: &Picture, to: &Converted, what: &str) {
    let tick_ns = tick_ns(&to.bytes);
    let is_stack = |span: &&Span| !matches!(&*span.category, "frame" | "range");
    let all = |picture: &Picture| -> Vec<Held> {
        let mut all: Vec<Held> =
            picture.spans.iter().filter(is_stack).map(|span| held(span, picture, tick_ns)).collect();
        // A sub has one location, and a span that extends beyond its parent is cut.
        let keeps_places = !loses(&to.loss, "further source locations of spans with the same name");
        let is_cut = loses(&to.loss, "ends of spans that extend beyond their parents");
        // Calls are stored as doubles, which can count ticks for 285 years.
        let is_far = from.last_ns.saturating_sub(from.start_ns) > 9_000_000_000_000_000_000;
        for (ts_ns, end_ns, depth, _, source) in &mut all {
            source.take_if(|_| !keeps_places);
            if is_far {
                (*ts_ns, *end_ns) = (0, 0);
            }
            if is_cut {
                (*end_ns, *depth) = (0, 0);
            }
        }
        all.sort_unstable();
        all
    };
    assert_equal(&all(&to.picture), &all(from), what);
}

/// The sums of a profile must be unchanged.
fn assert_same_sums(from: &Picture, to: &Converted, what: &str) {
    let own_lines = |picture: &Picture| -> Vec<_> {
        let mut sums: BTreeMap<(String, u32), (u64, i64)> = BTreeMap::new();
        for (file, line, calls, [_, excl_ns]) in picture.lines.iter().filter(|(file, ..)| file != "/no-source") {
            // Pynytprof can list a line twice; a stream sums it.
            let sum = sums.entry((file.clone(), *line)).or_default();
            *sum = (sum.0 + calls, sum.1.saturating_add(*excl_ns));
        }
        // A visit that took no time and was already counted leaves nothing.
        sums.into_iter().filter(|(_, sum)| *sum != (0, 0)).collect()
    };
    let odd_lines = [
        "negative times",
        "line numbers, times or counts too large for a NYTProf file",
        "visits of lines beyond four million",
    ];
    let keeps_lines = !odd_lines.into_iter().any(|what| loses(&to.loss, what));
    if keeps_lines && !from.lines.is_empty() {
        assert_equal(&own_lines(&to.picture), &own_lines(from), what);
    }
    assert_equal(&to.picture.sources, &from.sources, what);
    let calls = |picture: &Picture| -> Vec<Call> {
        let mut calls = picture.calls.clone();
        for (caller, _, file, line, _, times) in &mut calls {
            // Seconds in a double have nanosecond precision for a hundred days.
            let near = |ns: i64| if ns.unsigned_abs() >> 52 == 0 { ns } else { ns.saturating_add(1 << 20) >> 21 };
            *times = times.map(near);
            caller.take_if(|caller| caller.is_empty());
            if file.as_deref().is_none_or(|file| file == "/no-source" || file.is_empty()) {
                (*file, *line) = (None, None);
            }
        }
        calls.sort_unstable();
        calls
    };
    // A profile that was cut short has no sums of calls; those of its spans replace them.
    if !from.calls.is_empty() {
        assert_equal(&calls(&to.picture), &calls(from), what);
    }
}

#[test]
fn traces_of_every_format_keep_their_calls() {
    let (mut spans, mut sums) = (0, 0);
    for (name, trace) in traces() {
        let from = Picture::of(&trace);
        let to = convert(&trace, "nytprof", None, &name);
        assert_same(&from, &to, &name);
        spans += to.picture.spans.len();
        if matches!(trace.format(), "nytprof" | "pynytprof") {
            assert_same_sums(&from, &to, &name);
            sums += to.picture.calls.len() + to.picture.lines.len();
        }
    }
    assert!(spans > 4_000 && sums > 1_500, "{spans} spans and {sums} sums");
}

#[test]
fn compressed_streams_hold_the_same() {
    for (name, trace) in traces().into_iter().filter(|(_, trace)| trace.format() == "easyprofiler").take(2) {
        let plain = convert(&trace, "nytprof", None, &name);
        let packed = convert(&trace, "nytprof", Some("zlib9"), &name);
        assert!(packed.bytes.len() < plain.bytes.len());
        assert_eq!(packed.picture.spans, plain.picture.spans);
        assert_eq!(packed.picture.calls, plain.picture.calls);
    }
    let bad = traceloom_export::Options { variant: Some("zlib11".to_owned()), ..Default::default() };
    let trace = Made(|tables: &mut traceloom_model::Tables<'_>| push_trace("x", 1, tables));
    let target = traceloom_export::by_id("nytprof").unwrap();
    assert!(traceloom_export::write(target, &trace, &bad, &mut Vec::new()).is_err());
}

/// Calls, and seconds in total, self and recursive time, by name.
type Subs = BTreeMap<String, (u64, [f64; 3])>;

/// A span: its parent, total time, self time, and name.
type Row = (Option<i64>, i64, i64, String);

/// The spans of a trace that are calls, by id.
fn rows(trace: &dyn TableSource) -> BTreeMap<i64, Row> {
    let mut batches = Batches::of(Wanted::nothing().and(Table::Spans, Columns::ALL));
    trace.pour(&Filter::default(), &mut batches).unwrap();
    let mut rows = BTreeMap::new();
    for batch in batches.table(Table::Spans) {
        let view = spans::View::of(batch).unwrap();
        for row in (0..view.rows).filter(|row| !matches!(view.category.get(*row), "frame" | "range")) {
            let dur_ns = view.dur_ns.get(row).unwrap();
            let name = view.name.get(row).to_owned();
            rows.insert(view.id.get(row), (view.parent_id.get(row), dur_ns, dur_ns, name));
        }
    }
    let children: Vec<(i64, i64)> =
        rows.values().filter_map(|(parent, dur_ns, ..)| Some(((*parent)?, *dur_ns))).collect();
    for (parent, dur_ns) in children {
        rows.get_mut(&parent).unwrap().2 -= dur_ns;
    }
    rows
}

/// The ancestors of a span, the innermost first.
fn around<'r>(rows: &'r BTreeMap<i64, Row>, row: &Row) -> impl Iterator<Item = &'r Row> + use<'r> {
    std::iter::successors(row.0.map(|id| &rows[&id]), |row| row.0.map(|id| &rows[&id]))
}

/// The sums of the spans of a trace, computed independently.
fn added_up(trace: &dyn TableSource) -> Subs {
    let rows = rows(trace);
    let mut subs = Subs::new();
    for row in rows.values() {
        let (_, dur_ns, own_ns, name) = row;
        let is_inner = around(&rows, row).any(|other| other.3 == *name);
        let (calls, [incl, excl, recursive]) = subs.entry(name.clone()).or_default();
        *calls += 1;
        *excl += *own_ns as f64 / 1e9;
        *(if is_inner { recursive } else { incl }) += *dur_ns as f64 / 1e9;
    }
    subs
}

/// Stacks with their self time.
fn folded(trace: &dyn TableSource) -> BTreeMap<String, i64> {
    let rows = rows(trace);
    let mut stacks = BTreeMap::new();
    for row in rows.values() {
        let mut names: Vec<&str> = around(&rows, row).map(|row| row.3.as_str()).collect();
        names.insert(0, &row.3);
        names.reverse();
        *stacks.entry(names.join(";")).or_default() += row.2;
    }
    stacks.retain(|_, own_ns| *own_ns > 0);
    stacks
}

#[test]
fn perl_folds_the_same_stacks() {
    let mut stacks = 0;
    let folder = place("between-nytprof-folded");
    let is_call = |trace: &traceloom_mapping::Trace| matches!(trace.format(), "easyprofiler" | "wtf");
    for (name, trace) in traces().into_iter().filter(|(_, trace)| is_call(trace)) {
        let to = convert(&trace, "nytprof", None, &name);
        let has_line_ends = to.picture.spans.iter().any(|span| span.name.contains('\n'));
        if is_odd(&to) || has_line_ends || to.picture.spans.is_empty() || tick_ns(&to.bytes) != 1 {
            continue;
        }
        let file = folder.join(&name);
        fs::write(&file, &to.bytes).unwrap();
        let Ok(out) = Command::new("nytprofcalls").arg(&file).output() else {
            assert!(std::env::var("CI").as_deref() != Ok("true"), "nytprofcalls is missing");
            return eprintln!("skipped: nytprofcalls is missing (Debian package libdevel-nytprof-perl)");
        };
        let mut found: BTreeMap<String, i64> = BTreeMap::new();
        for line in String::from_utf8(out.stdout).unwrap().lines() {
            let (stack, own) = line.rsplit_once(' ').unwrap();
            *found.entry(stack.to_owned()).or_default() += own.parse::<i64>().unwrap();
        }
        found.retain(|_, own| *own > 0);
        assert_eq!(found, folded(&trace), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        stacks += found.len();
    }
    assert!(stacks > 100, "{stacks} stacks");
}

/// Whether spans could not be written unchanged.
fn is_odd(to: &Converted) -> bool {
    ["spans that were never closed, now closed", "ends of spans that extend beyond their parents", "empty names"]
        .into_iter()
        .any(|what| loses(&to.loss, what))
}

/// What Perl reads from files: the called subs, or why it does not load them.
fn load(folder: &str, files: &[(String, &[u8])]) -> Option<Vec<Subs>> {
    let has = Command::new("perl").args(["-MDevel::NYTProf::Data", "-e1"]).output();
    if !has.is_ok_and(|out| out.status.success()) {
        let reason = "perl or Devel::NYTProf is missing (Debian package libdevel-nytprof-perl)";
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}");
        eprintln!("skipped: {reason}");
        return None;
    }
    let folder = place(folder);
    let script = r#"
        $SIG{__WARN__} = sub {};
        for my $file (@ARGV) {
            my $profile = Devel::NYTProf::Data->new({filename => $file, quiet => 1, skip_collapse_evals => 1});
            for my $sub (values %{$profile->subname_subinfo_map}) {
                next unless $sub->calls;
                my @times = ($sub->incl_time, $sub->excl_time, $sub->recur_incl_time);
                printf "%s %s %.17g %.17g %.17g\n", unpack("H*", $sub->subname), $sub->calls, map { $_ // 0 } @times;
            }
            print "done\n";
        }"#;
    let paths: Vec<_> = files.iter().map(|(name, _)| folder.join(format!("{name}.nytprof"))).collect();
    for (path, (_, bytes)) in paths.iter().zip(files) {
        fs::write(path, bytes).unwrap();
    }
    let out = Command::new("perl").args(["-MDevel::NYTProf::Data", "-e", script]).args(&paths).output().unwrap();
    let (text, error) = (String::from_utf8(out.stdout).unwrap(), String::from_utf8_lossy(&out.stderr));
    let mut loaded = vec![Subs::new()];
    for line in text.lines() {
        if line == "done" {
            loaded.push(Subs::new());
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let [name, calls, incl, excl, recursive] = words[..] else { panic!("{line}") };
        let hex = |at: usize| u8::from_str_radix(&name[at..at + 2], 16).unwrap();
        let name = String::from_utf8((0..name.len()).step_by(2).map(hex).collect()).unwrap();
        let times = [incl, excl, recursive].map(|time| time.parse().unwrap());
        loaded.last_mut().unwrap().insert(name, (calls.parse().unwrap(), times));
    }
    loaded.pop();
    assert_eq!(loaded.len(), files.len(), "Perl ends at {:?}: {error}", files.get(loaded.len()).map(|(name, _)| name));
    Some(loaded)
}

fn assert_close(found: &Subs, expected: &Subs, what: &str) {
    let names = |subs: &Subs| subs.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected), "{what}");
    for (name, (calls, times)) in expected {
        let (found_calls, found_times) = &found[name];
        assert_eq!(found_calls, calls, "{what}: {name}");
        for (found, expected) in found_times.iter().zip(times) {
            // Half a nanosecond per call, and the rounding of long times in a double.
            let room = 0.6e-9 * (*calls as f64).max(1.0) + expected.abs() * 1e-12;
            assert!((found - expected).abs() <= room, "{what}: {name}: {found} {expected}");
        }
    }
}

#[test]
fn perl_loads_the_results_and_adds_up_the_same() {
    let mut converted = Vec::new();
    for (name, trace) in traces() {
        let to = convert(&trace, "nytprof", None, &name);
        let has_own = matches!(trace.format(), "nytprof" | "pynytprof");
        let expected = (!has_own && !is_odd(&to)).then(|| added_up(&trace));
        converted.push((name, to, expected));
    }
    let files: Vec<_> = converted.iter().map(|(name, to, _)| (name.clone(), &*to.bytes)).collect();
    let Some(loaded) = load("between-nytprof", &files) else { return };
    let (mut subs, mut compared) = (0, 0);
    for ((name, to, expected), found) in converted.iter().zip(&loaded) {
        let mut ours = Subs::new();
        for (_, callee, _, _, count, times) in &to.picture.calls {
            let (calls, sums) = ours.entry(callee.clone()).or_default();
            *calls += count;
            let [incl, excl, recursive] = times.map(|ns| ns as f64 / 1e9);
            // Perl reports no recursive time if there is no inclusive time.
            *sums = [sums[0] + incl, sums[1] + excl, sums[2] + recursive];
        }
        ours.retain(|_, (calls, _)| *calls > 0);
        assert_close(found, &ours, name);
        if let Some(expected) = expected {
            assert_close(found, expected, name);
            compared += expected.len();
        }
        subs += found.len();
    }
    assert!(subs > 500 && compared > 100, "{subs} subs, {compared} of them of other formats");
}

#[test]
fn long_times_and_hostile_names_come_through() {
    let names = ["plain", "line\nfeed\r\t\0\u{1}", "</script>", "\"quoted\" \\ ;", "größe😀\u{2028}", "a::b", "%s%n"];
    const YEAR_NS: i64 = 365 * 86_400_000_000_000;
    let trace = Made(move |tables: &mut traceloom_model::Tables<'_>| {
        for (id, name) in (0..).zip(names) {
            tables.push(span(id, 0, None, id * YEAR_NS, Some(YEAR_NS / 2 + 300), name))?;
        }
        push_trace("long", 7 * YEAR_NS, tables)
    });
    let from = Picture::of(&trace);
    let to = convert(&trace, "nytprof", None, "long");
    assert_same(&from, &to, "long");
    assert!(to.bytes.len() < 16 << 20, "{} bytes", to.bytes.len());
    let Some(loaded) = load("between-nytprof-long", &[("long".to_owned(), &to.bytes)]) else { return };
    let mut expected: Vec<_> = names.into_iter().map(str::to_owned).collect();
    expected.sort_unstable();
    assert_eq!(loaded[0].keys().cloned().collect::<Vec<_>>(), expected);
}
