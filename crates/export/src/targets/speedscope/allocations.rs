//! Allocations as stacks with weights.

use traceloom_core::Result;

use super::Output;
use traceloom_passes::{Heap, MAX_DEPTH, Pass, Site, lose_outer_frames};

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

/// Writes the bytes and the number of allocations, and those still live.
pub(super) fn write(pass: &mut Pass<'_>, output: &mut Output<'_>) -> Result<()> {
    let heap = Heap::new(pass, &mut output.frames)?;
    let out = &mut output.out;
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
                lose_outer_frames(&mut pass.loss);
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
