//! Folded stacks: one line a stack, its frames separated by `;`, and what it cost.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_core::{Error, Loss, Result};
use traceloom_model::{Table, TableSource};

use crate::text::fold::push_frame;
use traceloom_core::text::number::push_u64;
use traceloom_passes::{
    Descriptor, Frames, Gathered, Heap, Layer, MOST_DEEP, NameId, Need, Nest, Options, Ordered, Request, Site, Target,
    ThreadIndex, Variant, lose_rows,
};

/// Folded stacks.
#[derive(Debug)]
pub(super) struct Folded;

static DESCRIPTOR: Descriptor = Descriptor {
    id: "folded",
    name: "folded stacks",
    about: "flamegraph.pl, inferno, speedscope: what each stack cost itself, in nanoseconds or bytes",
    extensions: &["folded", "collapsed"],
    variants: &[
        Variant { id: "best", about: "time where the trace has spans, else bytes" },
        Variant { id: "bytes", about: "bytes allocated" },
        Variant { id: "count", about: "allocations" },
        Variant { id: "live", about: "bytes allocated and never freed" },
        Variant { id: "time", about: "nanoseconds of spans" },
    ],
    needs: &[
        Need::of(Table::Traces, &[]),
        Need::of(Table::Threads, &[]),
        Need::by_begin(Table::Spans, &["parent_id", "thread_id", "depth", "ts_ns", "dur_ns", "name", "category"]),
        Need::of(Table::Allocations, &["ts_ns", "thread_id", "size_bytes", "stack_id", "fate"]),
        Need::of(Table::Frees, &["allocation_id"]),
        Need::of(Table::Stacks, &[]),
        Need::of(Table::Frames, &["function"]),
    ],
    is_text: true,
    ..Descriptor::EMPTY
};

impl Target for Folded {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let Request { source, options, variant, .. } = *request;
        let mut loss = Loss::default();
        let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
        let mut stacks = Stacks::new(options.limits.entries);
        let has_time = !gathered.spans.is_empty() || gathered.rows(Table::Allocations) == 0;
        if variant == "time" || variant == "best" && has_time {
            lose_rows(&gathered, &[Table::Allocations, Table::Frees, Table::Stacks, Table::Frames], &mut loss);
            add_up(&mut gathered, &mut stacks, &mut loss)?;
        } else {
            lose_rows(&gathered, &[Table::Spans], &mut loss);
            let weight: fn(&Site) -> u64 = match variant {
                "count" => |site| site.allocated.objects,
                "live" => |site| site.live.bytes,
                _ => |site| site.allocated.bytes,
            };
            add_allocations(source, &mut gathered, options, weight, &mut stacks, &mut loss)?;
        }
        stacks.write(&mut gathered, &mut loss, out)?;
        Ok(loss)
    }
}

/// An open span: its stack, and the time that it and its children took.
struct Open {
    stack: usize,
    begin_ns: i64,
    children_ns: i64,
}

fn add_up(gathered: &mut Gathered, stacks: &mut Stacks, loss: &mut Loss) -> Result<()> {
    let Gathered { roster, looks, spans, .. } = gathered;
    let mut nest = Nest::default();
    let mut current = None;
    for span in spans.iter(roster)? {
        let span = span?;
        if span.layer != Layer::Stack {
            loss.lose("frames and ranges of time", || format!("spans {}", span.id));
            continue;
        }
        if current.replace(span.thread) != Some(span.thread) {
            nest.finish(|_, end_ns, open| stacks.end(&open, end_ns))?;
        }
        count_oddities(&span, loss);
        let name = looks.get(span.look)?.name;
        let placed =
            nest.begin(&span, Open { stack: 0, begin_ns: span.ts_ns, children_ns: 0 }, |_, end_ns, open| {
                stacks.end(&open, end_ns)
            })?;
        let around = nest.open(placed.lane).rev().nth(1).map(|open| open.stack);
        let stack = stacks.find(around.map_or(Parent::Thread(span.thread), Parent::Stack), name)?;
        nest.edit_open(placed.lane, |outer, own| {
            own.stack = stack;
            if let Some(outer) = outer {
                outer.children_ns = outer.children_ns.saturating_add(placed.end_ns.saturating_sub(span.ts_ns));
            }
        });
    }
    nest.finish(|_, end_ns, open| stacks.end(&open, end_ns))
}

fn count_oddities(span: &Ordered, loss: &mut Loss) {
    if span.dur_ns.is_none() {
        loss.lose("that spans were never closed", || format!("spans {}", span.id));
    }
}

/// Adds allocations: stacks that differ in lines only are one.
fn add_allocations(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    options: &Options,
    weight: fn(&Site) -> u64,
    stacks: &mut Stacks,
    loss: &mut Loss,
) -> Result<()> {
    let mut frames = Frames::new(options.limits.entries);
    let heap = Heap::new(source, gathered, options, &mut frames, loss)?;
    let mut numbers: Vec<usize> = Vec::with_capacity(heap.sites.len());
    for site in &heap.sites {
        // A site comes after the one that it stands on.
        let below = site.below.and_then(|below| numbers.get(below as usize));
        let name = frames.all[site.frame as usize].name;
        let stack = stacks.find(below.map_or(Parent::None, |below| Parent::Stack(*below)), name)?;
        stacks.add(stack, weight(site));
        numbers.push(stack);
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Parent {
    None,
    Stack(usize),
    Thread(ThreadIndex),
}

/// Distinct stacks, each a name on top of another.
struct Stacks {
    numbers: HashMap<(Parent, NameId), usize>,
    stacks: Vec<(Parent, NameId, u64)>,
    most: usize,
}

impl Stacks {
    fn new(most: usize) -> Self {
        Self { numbers: HashMap::new(), stacks: Vec::new(), most }
    }

    fn find(&mut self, parent: Parent, name: NameId) -> Result<usize> {
        let Self { numbers, stacks, most } = self;
        if stacks.len() >= *most {
            return Err(Error::limit("distinct stacks", stacks.len() as u64 + 1, *most as u64));
        }
        Ok(*numbers.entry((parent, name)).or_insert_with(|| {
            stacks.push((parent, name, 0));
            stacks.len() - 1
        }))
    }

    fn end(&mut self, open: &Open, end_ns: i64) -> Result<()> {
        let own_ns = end_ns.saturating_sub(open.begin_ns).saturating_sub(open.children_ns).max(0);
        self.add(open.stack, own_ns.unsigned_abs());
        Ok(())
    }

    fn add(&mut self, stack: usize, cost: u64) {
        if let Some((_, _, sum)) = self.stacks.get_mut(stack) {
            *sum = sum.saturating_add(cost);
        }
    }

    fn write(&self, gathered: &mut Gathered, loss: &mut Loss, out: &mut dyn Write) -> Result<()> {
        let (mut line, mut path) = (Vec::new(), Vec::new());
        for (number, (_, _, cost)) in self.stacks.iter().enumerate().filter(|(_, (_, _, cost))| *cost > 0) {
            line.clear();
            if let Some(thread) = self.path(number, &mut path, loss) {
                push_frame(&mut line, &gathered.roster.thread(thread).label(), loss);
                line.push(b';');
            }
            for name in path.iter().rev() {
                push_frame(&mut line, gathered.names.get(*name)?, loss);
                line.push(b';');
            }
            line.pop();
            line.push(b' ');
            push_u64(&mut line, *cost);
            line.push(b'\n');
            out.write_all(&line)?;
        }
        Ok(())
    }

    /// The names of a stack, innermost first, and its thread, where it has one.
    fn path(&self, number: usize, path: &mut Vec<NameId>, loss: &mut Loss) -> Option<ThreadIndex> {
        path.clear();
        let mut parent = Parent::Stack(number);
        while let Parent::Stack(number) = parent {
            let (below, name, _) = self.stacks[number];
            match path.len() < MOST_DEEP {
                true => path.push(name),
                false => {
                    loss.lose("outer parts of deep call stacks", || format!("of {MOST_DEEP} frames and more"));
                    return None;
                }
            }
            parent = below;
        }
        match parent {
            Parent::Thread(thread) => Some(thread),
            _ => None,
        }
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
            // Children before parents, as EasyProfiler has them.
            ("b", 1, 1, Some(0), 10, Some(5)),
            ("b", 2, 1, Some(0), 20, Some(5)),
            ("a", 0, 0, None, 0, Some(100)),
            ("x;y\n", 3, 0, None, 200, Some(1)),
        ]);
        let (text, loss) = written(&Folded, &trace);
        let mut lines: Vec<&str> = std::str::from_utf8(&text).unwrap().lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["main;a 90", "main;a;b 10", "main;x:y  1"]);
        assert!(loss.entries().any(|(what, count, _)| what == "frames with characters that separate" && count == 1));
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
            let options = Options { variant: variant.map(str::to_owned), ..Options::default() };
            String::from_utf8(written_with(&Folded, &trace, &options).unwrap().0).unwrap()
        };
        assert_eq!(folded(None), "main;make 201\n(unknown stack) 102\n");
        assert_eq!(folded(Some("count")), "main;make 2\n(unknown stack) 1\n");
        assert_eq!(folded(Some("live")), "main;make 100\n");
        assert_eq!(folded(Some("time")), "");
    }

    #[test]
    fn a_span_without_an_end_lasts_to_the_end_of_the_trace() {
        let trace = Synthetic::spans(&[("a", 0, 0, None, 0, None), ("b", 1, 1, Some(0), 10, Some(30))]);
        let (text, loss) = written(&Folded, &trace);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), ["main;a 10", "main;a;b 30"]);
        assert_eq!(loss.entries().count(), 1);
    }
}
