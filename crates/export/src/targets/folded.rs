//! Folded stacks: one line per stack, with its frames separated by `;`, followed by its cost.

use std::io::Write;

use traceloom_core::Result;
use traceloom_model::Table;

use super::shows_time;
use traceloom_passes::{
    CallTree, Frames, HEAP, Heap, MAX_DEPTH, Need, Parent, Pass, Site, SpanRows, StackTree, Target, Thread, Variant,
    Writer, lose_outer_frames, push_folded_cost, push_folded_frame,
};

pub(super) static TARGET: Target = Target {
    id: "folded",
    name: "folded stacks",
    about: "flamegraph.pl, inferno, speedscope: the self cost of each stack, in nanoseconds or bytes",
    extensions: &["folded", "collapsed"],
    variants: &[
        Variant::new("best", "time if the trace has spans, otherwise bytes"),
        Variant::new("bytes", "bytes allocated"),
        Variant::new("count", "allocations"),
        Variant::new("live", "bytes allocated and never freed"),
        Variant::new("time", "nanoseconds of spans"),
    ],
    needs: &[&[Need::shown(Table::Traces), Need::shown(Table::Threads), Need::of::<SpanRows<'_>>()], HEAP],
    is_text: true,
    writer: Writer::Pass(write),
    ..Target::EMPTY
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let mut frames = Frames::by_name(pass.options.limits.entries);
    if shows_time(pass) {
        let CallTree { stacks, frames } = CallTree::new(pass, frames, |_| true)?;
        let labels = pass.roster.threads().iter().map(Thread::label).collect();
        let lines = Lines { stacks: &stacks, frames: &frames, labels, cost: |calls| calls.self_ns };
        lines.write(pass, out)?;
    } else {
        let cost: fn(&Site) -> u64 = match pass.variant {
            "count" => |site| site.allocated.objects,
            "live" => |site| site.live.bytes,
            _ => |site| site.allocated.bytes,
        };
        let heap = Heap::new(pass, &mut frames)?;
        // Stacks that differ only in lines are merged.
        let mut stacks = StackTree::default();
        stacks.absorb(Parent::Root(0), &heap.stacks, |sum: &mut u64, number| {
            *sum = sum.saturating_add(cost(&heap.stacks.nodes()[number as usize].weight));
        });
        let lines = Lines { stacks: &stacks, frames: &frames, labels: Vec::new(), cost: |sum| *sum };
        lines.write(pass, out)?;
    }
    Ok(())
}

/// Stacks to be written.
struct Lines<'a, W> {
    stacks: &'a StackTree<W>,
    frames: &'a Frames,
    /// The text before the stacks of each root, if any.
    labels: Vec<String>,
    cost: fn(&W) -> u64,
}

impl<W> Lines<'_, W> {
    fn write(&self, pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
        let Pass { names, loss, .. } = pass;
        let (mut line, mut path) = (Vec::new(), Vec::new());
        for (stack, number) in self.stacks.nodes().iter().zip(0..) {
            let cost = (self.cost)(&stack.weight);
            if cost == 0 {
                continue;
            }
            line.clear();
            if self.stacks.path(number, MAX_DEPTH, &mut path) {
                lose_outer_frames(loss);
            } else if let Some(label) = self.labels.get(stack.root as usize) {
                push_folded_frame(&mut line, label, loss);
            }
            for frame in path.iter().rev() {
                push_folded_frame(&mut line, names.get(self.frames.all[*frame as usize].name)?, loss);
            }
            push_folded_cost(&mut line, cost);
            out.write_all(&line)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use traceloom_model::{frames::Frame as FrameRow, stacks::Stack as StackRow, trackers::Extent};

    use super::*;
    use traceloom_passes::fixture::{Synthetic, allocation, push_main, written, written_with};

    #[test]
    fn self_times_add_up_by_stack() {
        let trace = Synthetic::spans(&[
            // Children before parents, as in EasyProfiler.
            ("b", 1, 1, Some(0), 10, Some(5)),
            ("b", 2, 1, Some(0), 20, Some(5)),
            ("a", 0, 0, None, 0, Some(100)),
            ("x;y\n", 3, 0, None, 200, Some(1)),
        ]);
        let (text, loss) = written(&TARGET, &trace);
        let mut lines: Vec<&str> = std::str::from_utf8(&text).unwrap().lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["main;a 90", "main;a;b 10", "main;x:y  1"]);
        assert!(loss.entries().any(|(what, count, _)| what == "separators in names of frames" && count == 1));
    }

    #[test]
    fn allocations_add_up_by_the_names_of_their_stack() {
        let trace = Synthetic::new(|tables| {
            for (id, line) in [(0, 1), (1, 2), (2, 3)] {
                let function = if id == 0 { "main" } else { "make" };
                tables.push(FrameRow { id, function: function.into(), file: None, line: Some(line) })?;
                let depth = u32::from(id > 0);
                tables.push(StackRow { id, parent_id: (id > 0).then_some(0), frame_id: id, depth })?;
            }
            for (id, stack_id, fate) in [(0, Some(1), "live"), (1, Some(2), "freed"), (2, None, "freed")] {
                tables.push(allocation(id, 100 + id as u64, stack_id, fate))?;
            }
            push_main(tables, Extent::default())
        });
        let folded = |variant: Option<&str>| {
            let options = traceloom_passes::Options {
                variant: variant.map(str::to_owned),
                ..traceloom_passes::Options::default()
            };
            String::from_utf8(written_with(&TARGET, &trace, &options).unwrap().0).unwrap()
        };
        assert_eq!(folded(None), "main;make 201\n(unknown stack) 102\n");
        assert_eq!(folded(Some("count")), "main;make 2\n(unknown stack) 1\n");
        assert_eq!(folded(Some("live")), "main;make 100\n");
        assert_eq!(folded(Some("time")), "");
    }

    #[test]
    fn a_span_without_an_end_lasts_to_the_end_of_the_trace() {
        let trace = Synthetic::spans(&[("a", 0, 0, None, 0, None), ("b", 1, 1, Some(0), 10, Some(30))]);
        let (text, loss) = written(&TARGET, &trace);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), ["main;a 10", "main;a;b 30"]);
        assert_eq!(loss.entries().count(), 1);
    }
}
