//! Stacks of the NYTProf corpus, equal to the output of nytprofcalls, and of traces built row by row.

#[allow(dead_code, reason = "each test needs a part of it")]
mod made;

use std::{collections::BTreeMap, fs, path::PathBuf};
use traceloom_core::TimeRange;

use traceloom_analysis::flame::{Flame, Options, Weight};
use traceloom_mapping::{Trace, open};
use traceloom_model::{Batches, Filter, Halt, Table, TableSource, Tables, Wanted, select, spans::Span};
use traceloom_testkit::nytprofcalls_name;

use crate::made::{Made, span, thread};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/nytprof")
}

fn stacks(source: &dyn TableSource, options: Options) -> Vec<(Vec<String>, u64, u64)> {
    let mut flame = Flame::new(options);
    source.pour(&Filter::default(), &mut flame).expect("the tables are there");
    let tree = flame.finish();
    let stacks = tree.stacks().into_iter();
    stacks.map(|stack| (stack.frames.iter().map(|name| (*name).to_owned()).collect(), stack.own, stack.count)).collect()
}

select! {
    struct Clocks of traces { clock_hz }
}

fn ticks_per_second(trace: &Trace) -> u128 {
    let mut batches = Batches::of(Wanted::nothing().and(Table::Traces, Clocks::COLUMNS));
    trace.pour(&Filter::default(), &mut batches).expect("the trace is read");
    let batch = batches.table(Table::Traces).next().expect("a trace has its row");
    Clocks::of(batch).unwrap().clock_hz.get(0).expect("the rate of the clock").into()
}

/// Stacks and ticks of a golden; bytes that are not UTF-8 are read as Latin-1, as in the tables.
fn golden(bytes: &[u8]) -> BTreeMap<String, u64> {
    let mut stacks = BTreeMap::new();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let at = line.iter().rposition(|byte| *byte == b' ').expect("a stack and a number");
        let names = line[..at].split(|byte| *byte == b';').map(|name| match std::str::from_utf8(name) {
            Ok(name) => name.to_owned(),
            Err(_) => name.iter().map(|byte| char::from(*byte)).collect(),
        });
        let ticks: u64 = std::str::from_utf8(&line[at + 1..]).expect("digits").parse().expect("ticks");
        *stacks.entry(names.collect::<Vec<_>>().join(";")).or_insert(0) += ticks;
    }
    stacks
}

#[test]
fn stacks_are_those_of_the_original() {
    let (mut files, mut lines) = (0, 0);
    for entry in fs::read_dir(folder().join("devel-nytprof-6.12")).expect("the corpus") {
        let path = entry.expect("an entry").path();
        let name = path.to_string_lossy().into_owned();
        let Some(base) = name.strip_suffix(".folded.txt") else { continue };
        let trace =
            open(format!("{base}.nytprof").as_ref(), None, &traceloom_mapping::Options::default()).expect("it opens");
        let rate = ticks_per_second(&trace);
        let mut found = BTreeMap::new();
        let options = Options { weight: Weight::SelfTime, ..Options::default() };
        for (frames, own_ns, _) in stacks(&trace, options) {
            let stack = frames.iter().map(|name| nytprofcalls_name(name)).collect::<Vec<_>>().join(";");
            assert_eq!(u128::from(own_ns) * rate % 1_000_000_000, 0, "{stack} of {base}");
            *found.entry(stack).or_insert(0) += (u128::from(own_ns) * rate / 1_000_000_000) as u64;
        }
        let expected = golden(&fs::read(&path).expect("the golden"));
        assert_eq!(found, expected, "{base}");
        (files, lines) = (files + 1, lines + expected.len());
    }
    assert!(files > 40 && lines > 300, "{files} files, {lines} stacks");
}

/// `outer` around `inner` twice, on one thread, and `inner` alone on another.
fn nested() -> Made<impl Fn(&mut Tables<'_>) -> Result<(), Halt>> {
    Made(|tables: &mut Tables<'_>| {
        tables.push(thread(0, "main"))?;
        tables.push(thread(1, "worker"))?;
        let inside = |id, ts_ns| Span { parent_id: Some(0), depth: 1, ..span(id, 0, "inner", ts_ns, 10) };
        tables.push(Span { self_ns: Some(75), ..span(0, 0, "outer", 0, 100) })?;
        tables.push(inside(1, 5))?;
        tables.push(inside(2, 50))?;
        tables.push(Span { category: "frame".into(), ..span(3, 0, "frame 1", 0, 100) })?;
        tables.push(Span { dur_ns: None, self_ns: None, ..span(4, 0, "open", 101, 0) })?;
        tables.push(span(5, 1, "inner", 7, 30))
    })
}

fn owned(stacks: &[(&[&str], u64, u64)]) -> Vec<(Vec<String>, u64, u64)> {
    let names = |frames: &[&str]| frames.iter().map(|name| (*name).to_owned()).collect();
    stacks.iter().map(|(frames, own, count)| (names(frames), *own, *count)).collect()
}

#[test]
fn weights_differ() {
    let by = |weight| stacks(&nested(), Options { weight, ..Options::default() });
    let inner: &[&str] = &["inner"];
    let open: &[&str] = &["open"];
    let of = |outer, inside, alone, open_own| {
        owned(&[(inner, alone, 1), (open, open_own, 1), (&["outer"], outer, 1), (&["outer", "inner"], inside, 2)])
    };
    assert_eq!(by(Weight::Time), of(80, 20, 30, 0));
    // The self time from the tables, which may differ from the time without children.
    assert_eq!(by(Weight::SelfTime), of(75, 20, 30, 0));
    assert_eq!(by(Weight::Count), of(1, 2, 1, 1));
    assert_eq!(by(Weight::Bytes), []);
}

#[test]
fn stacks_can_be_turned_round_and_kept_apart_by_thread() {
    let reversed = stacks(&nested(), Options { is_reversed: true, ..Options::default() });
    let expected = owned(&[(&["inner"], 30, 1), (&["inner", "outer"], 20, 2), (&["open"], 0, 1), (&["outer"], 80, 1)]);
    assert_eq!(reversed, expected);
    let by_thread = stacks(&nested(), Options { by_thread: true, ..Options::default() });
    let expected = owned(&[
        (&["main", "open"], 0, 1),
        (&["main", "outer"], 80, 1),
        (&["main", "outer", "inner"], 20, 2),
        (&["worker", "inner"], 30, 1),
    ]);
    assert_eq!(by_thread, expected);
}

#[test]
fn a_range_may_have_children_of_several_parents_that_start_before_it() {
    let made = Made(|tables: &mut Tables<'_>| {
        tables.push(thread(0, "main"))?;
        for (id, name, from) in [(0, "first", 0), (1, "second", 10)] {
            tables.push(Span { depth: id as u32, ..span(id, 0, name, from, 90) })?;
            tables.push(Span {
                parent_id: Some(id),
                depth: id as u32 + 1,
                ..span(id + 2, 0, "inner", 50 + from, 5)
            })?;
        }
        Ok(())
    });
    let options = Options { range: TimeRange::between(50, 100), ..Options::default() };
    assert_eq!(stacks(&made, options), owned(&[(&["inner"], 10, 2)]));
}

#[test]
fn a_range_has_the_spans_that_start_in_it() {
    let between = |from, to| stacks(&nested(), Options { range: TimeRange::between(from, to), ..Options::default() });
    assert_eq!(between(5, 51), owned(&[(&["inner"], 50, 3)]), "their parent starts before");
    assert_eq!(between(5, 50), owned(&[(&["inner"], 40, 2)]), "the end does not belong to it");
}

#[test]
fn allocations_have_stacks_of_their_own() {
    let path = folder().join("../memlyze/memlyze-0.1.0-encoder/api_medium.mlyze");
    let trace = open(&path, None, &traceloom_mapping::Options::default()).expect("the fixture opens");
    let golden = fs::read(path.with_extension("json")).expect("the golden");
    let golden: serde_json::Value = serde_json::from_slice(&golden).expect("JSON");
    let by = |weight| stacks(&trace, Options { weight, ..Options::default() }).iter().map(|stack| stack.1).sum::<u64>();
    assert_eq!(Some(by(Weight::Bytes)), golden["summary"]["alloc_bytes"].as_u64());
    assert_eq!(Some(by(Weight::Count)), golden["summary"]["alloc"].as_u64());
    let deepest =
        stacks(&trace, Options { weight: Weight::Bytes, ..Options::default() }).iter().map(|stack| stack.0.len()).max();
    assert!(deepest > Some(1), "{deepest:?}");
}
