//! Allocations as stacks with weights.

use traceloom_core::{Loss, Result};
use traceloom_model::TableSource;

use super::out::Out;
use traceloom_passes::{Frames, Gathered, Heap, MAX_DEPTH, Options, Site};

/// A profile of allocations.
struct Kind {
    name: &'static str,
    unit: &'static str,
    weight: fn(&Site) -> u64,
}

const KINDS: [Kind; 3] = [
    Kind { name: "allocated bytes", unit: "bytes", weight: |site| site.allocated.bytes },
    Kind { name: "allocations", unit: "none", weight: |site| site.allocated.objects },
    Kind { name: "live bytes", unit: "bytes", weight: |site| site.live.bytes },
];

/// Writes what was allocated, how often, and what is left of it.
pub(super) fn write(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    options: &Options,
    frames: &mut Frames,
    out: &mut Out<'_>,
    loss: &mut Loss,
) -> Result<()> {
    let heap = Heap::new(source, gathered, options, frames, loss)?;
    for (number, kind) in KINDS.iter().enumerate() {
        let mut path = Vec::new();
        let weight = |number: u32| (kind.weight)(&heap.stacks.nodes()[number as usize].weight);
        let stacks = || (0..heap.stacks.nodes().len() as u32).filter(|number| weight(*number) > 0);
        if stacks().next().is_none() {
            continue;
        }
        out.json.begin_object().key("type").string("sampled").key("name").string(kind.name);
        out.json.key("unit").string(kind.unit).key("samples").begin_array();
        for stack in stacks() {
            if heap.stacks.path(stack, MAX_DEPTH, &mut path) && number == 0 {
                loss.lose("outer parts of deep call stacks", || format!("of {MAX_DEPTH} frames and more"));
            }
            out.json.begin_array();
            for frame in path.iter().rev() {
                out.json.unsigned((*frame).into());
            }
            out.json.end_array();
            out.flush_when_full()?;
        }
        out.json.end_array().key("weights").begin_array();
        let mut sum = 0_u64;
        for stack in stacks() {
            sum = sum.saturating_add(weight(stack));
            out.json.unsigned(weight(stack));
            out.flush_when_full()?;
        }
        out.json.end_array().key("startValue").unsigned(0).key("endValue").unsigned(sum).end_object();
    }
    Ok(())
}
