//! Folded stacks: one line a stack, its frames separated by `;`, and what it cost.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_bytes::{Error, Loss, Result};
use traceloom_model::{Table, TableSource};

use crate::{
    Descriptor, Gathered, Layer, NameId, Need, Nest, Options, Ordered, Target, ThreadIndex,
    text::{fold::push_frame, number::push_u64},
};

/// Folded stacks.
#[derive(Debug)]
pub(super) struct Folded;

static DESCRIPTOR: Descriptor = Descriptor {
    id: "folded",
    name: "folded stacks",
    about: "flamegraph.pl, inferno, speedscope: self time of each stack in nanoseconds",
    extensions: &["folded", "collapsed"],
    variants: &[],
    needs: &[
        Need::of(Table::Traces, &[]),
        Need::of(Table::Threads, &[]),
        Need::by_begin(Table::Spans, &["parent_id", "thread_id", "depth", "ts_ns", "dur_ns", "name", "category"]),
    ],
    is_text: true,
};

impl Target for Folded {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, source: &dyn TableSource, options: &Options, out: &mut dyn Write) -> Result<Loss> {
        let mut loss = Loss::default();
        let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
        let mut stacks = Stacks::new(options.limits.entries);
        add_up(&mut gathered, &mut stacks, &mut loss)?;
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

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Parent {
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
        if let Some((_, _, sum)) = self.stacks.get_mut(open.stack) {
            *sum = sum.saturating_add(own_ns.unsigned_abs());
        }
        Ok(())
    }

    fn write(&self, gathered: &mut Gathered, loss: &mut Loss, out: &mut dyn Write) -> Result<()> {
        let (mut line, mut path) = (Vec::new(), Vec::new());
        for (number, (_, _, own_ns)) in self.stacks.iter().enumerate().filter(|(_, (_, _, own_ns))| *own_ns > 0) {
            line.clear();
            path.clear();
            let mut parent = Parent::Stack(number);
            while let Parent::Stack(number) = parent {
                let (below, name, _) = self.stacks[number];
                path.push(name);
                parent = below;
            }
            if let Parent::Thread(thread) = parent {
                push_frame(&mut line, &gathered.roster.thread(thread).label(), loss);
            }
            for name in path.iter().rev() {
                line.push(b';');
                push_frame(&mut line, gathered.names.get(*name)?, loss);
            }
            line.push(b' ');
            push_u64(&mut line, *own_ns);
            line.push(b'\n');
            out.write_all(&line)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Synthetic, written};

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
    fn a_span_without_an_end_lasts_to_the_end_of_the_trace() {
        let trace = Synthetic::spans(&[("a", 0, 0, None, 0, None), ("b", 1, 1, Some(0), 10, Some(30))]);
        let (text, loss) = written(&Folded, &trace);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().collect::<Vec<_>>(), ["main;a 10", "main;a;b 30"]);
        assert_eq!(loss.entries().count(), 1);
    }
}
