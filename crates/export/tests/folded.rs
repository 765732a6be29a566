//! Folded stacks of allocations have the same sums as the flame graph.

mod support;

use std::collections::BTreeMap;

use traceloom_analysis::flame::{Flame, Options as FlameOptions, Weight};
use traceloom_export::{Options, by_id, write};
use traceloom_mapping::Trace;
use traceloom_model::{Filter, TableSource};

use support::traces;

/// Cost by stack.
type Costs = BTreeMap<String, u64>;

/// How both show an unknown stack and the separator of frames.
fn shown(frames: &str) -> String {
    let frames = frames.replace("(unknown stack)", "(unknown)");
    frames.replace(char::is_control, "?").replace("(no name)", "")
}

fn folded(trace: &Trace, variant: &str) -> Costs {
    let mut out = Vec::new();
    let options = Options { variant: Some(variant.to_owned()), ..Options::default() };
    write(by_id("folded").unwrap(), trace, &options, &mut out).unwrap();
    let mut costs = Costs::new();
    for line in std::str::from_utf8(&out).unwrap().lines() {
        let (frames, cost) = line.rsplit_once(' ').unwrap();
        *costs.entry(shown(frames)).or_default() += cost.parse::<u64>().unwrap();
    }
    costs
}

fn flame(trace: &Trace, weight: Weight) -> Costs {
    let mut flame = Flame::new(FlameOptions { weight, ..FlameOptions::default() });
    trace.pour(&Filter::default(), &mut flame).unwrap();
    let tree = flame.finish();
    let mut costs = Costs::new();
    for stack in tree.stacks() {
        // A frame cannot contain the separator of frames.
        let frames: Vec<String> = stack.frames.iter().map(|frame| frame.replace(';', ":")).collect();
        *costs.entry(shown(&frames.join(";"))).or_default() += stack.own;
    }
    costs.retain(|_, cost| *cost > 0);
    costs
}

#[test]
fn bytes_and_allocations_are_those_of_the_flame_graph() {
    let mut compared = 0;
    for (name, trace) in traces().into_iter().filter(|(_, trace)| trace.format() == "memlyze") {
        let bytes = folded(&trace, "bytes");
        assert_eq!(bytes, flame(&trace, Weight::Bytes), "bytes of {name}");
        assert_eq!(folded(&trace, "count"), flame(&trace, Weight::Count), "allocations of {name}");
        compared += usize::from(!bytes.is_empty());
    }
    assert!(compared > 10, "only {compared} traces have allocations");
}
