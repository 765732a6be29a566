//! Which trace of OpenTelemetry a span belongs to, and who its parent is.
//!
//! A span without a parent is the root of a trace, as a request is; frames, ranges of time and switches, of which each
//! would be alone, are one trace for each thread. Numbers follow from those of the tables, so that what was written once
//! and is written again has the same.

use traceloom_passes::{Layer, Ordered, Roster, ThreadIndex};

/// The number of a span in its trace: that of its row, from 1, with a mark for switches.
#[inline]
pub(super) fn span_id(layer: Layer, id: i64) -> [u8; 8] {
    span_number(layer, id).to_be_bytes()
}

fn span_number(layer: Layer, id: i64) -> u64 {
    let number = (id as u64).wrapping_add(1);
    match layer {
        Layer::Switches => number | SWITCH,
        // The tables count from 0, so that this does not happen, but 0 would mean none.
        _ if number == 0 => SWITCH,
        _ => number,
    }
}

const SWITCH: u64 = 1 << 63;

/// What tells traces of one file apart.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Tree(u64);

impl Tree {
    /// The number of the trace, from the file's.
    #[inline]
    pub(super) fn trace_id(self, file: u64) -> [u8; 16] {
        (u128::from(file) << 64 | u128::from(self.0)).to_be_bytes()
    }
}

/// Where a span hangs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    pub(super) tree: Tree,
    pub(super) parent_id: Option<i64>,
    /// Whether it has a parent that is not here.
    pub(super) is_torn: bool,
}

/// The open spans of the thread at work. Spans come in the order of [`traceloom_passes::SpanOrder`].
#[derive(Debug, Default)]
pub(super) struct Ancestors {
    current: Option<(ThreadIndex, Layer)>,
    open: Vec<Open>,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    id: i64,
    end_ns: i64,
    tree: Tree,
}

/// Open spans that are looked at for a parent: it is the last one, save where spans overlap.
const MOST_LOOKED_AT: usize = 1 << 10;

impl Ancestors {
    /// A span begins.
    #[inline]
    pub(super) fn enter(&mut self, span: &Ordered, roster: &Roster) -> Branch {
        if self.current.replace((span.thread, span.layer)) != Some((span.thread, span.layer)) {
            self.open.clear();
        }
        if span.layer != Layer::Stack {
            let thread = span_number(span.layer, roster.thread(span.thread).id);
            let tree = Tree(SWITCH | (span.layer as u64) << 56 | thread);
            return Branch { tree, parent_id: None, is_torn: span.parent_id.is_some() };
        }
        while self.open.pop_if(|open| open.end_ns <= span.ts_ns && Some(open.id) != span.parent_id).is_some() {}
        let parent = span.parent_id.and_then(|id| {
            let mut nearest = self.open.iter().rev().take(MOST_LOOKED_AT);
            nearest.find(|open| open.id == id)
        });
        let tree = parent.map_or(Tree(span_number(span.layer, span.id)), |parent| parent.tree);
        let parent_id = parent.map(|parent| parent.id);
        self.open.push(Open { id: span.id, end_ns: span.end_ns, tree });
        Branch { tree, parent_id, is_torn: parent_id != span.parent_id }
    }

    /// The innermost span around a moment of a thread, behind the begins of all spans before it.
    pub(super) fn around(&mut self, thread: ThreadIndex, ts_ns: i64) -> Option<(Tree, i64)> {
        if self.current != Some((thread, Layer::Stack)) {
            return None;
        }
        while self.open.pop_if(|open| open.end_ns < ts_ns).is_some() {}
        self.open.last().map(|open| (open.tree, open.id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceloom_passes::LookId;

    fn span(id: i64, parent_id: Option<i64>, ts_ns: i64, end_ns: i64) -> Ordered {
        Ordered {
            thread: ThreadIndex(0),
            layer: Layer::Stack,
            id,
            parent_id,
            target_tid: None,
            depth: 0,
            ts_ns,
            dur_ns: Some(end_ns - ts_ns),
            end_ns,
            look: LookId(0),
        }
    }

    #[test]
    fn parents_are_those_of_the_tables_also_where_spans_overlap() {
        let spans = [
            span(0, None, 0, 10),
            span(1, Some(0), 2, 12),
            span(2, Some(0), 3, 4),
            span(3, Some(1), 5, 6),
            span(4, Some(3), 6, 6),
            span(5, None, 20, 21),
            span(6, Some(99), 20, 21),
        ];
        let (mut ancestors, roster) = (Ancestors::default(), Roster::default());
        let branches: Vec<Branch> = spans.iter().map(|span| ancestors.enter(span, &roster)).collect();
        let parents: Vec<_> = branches.iter().map(|branch| branch.parent_id).collect();
        assert_eq!(parents, [None, Some(0), Some(0), Some(1), Some(3), None, None]);
        assert!(branches[..5].iter().all(|branch| branch.tree == Tree(1) && !branch.is_torn));
        assert_eq!((branches[5].tree, branches[6].tree, branches[6].is_torn), (Tree(6), Tree(7), true));
    }

    #[test]
    fn numbers_are_never_zero() {
        for id in [0, -1, i64::MIN, i64::MAX] {
            assert_ne!(span_id(Layer::Stack, id), [0; 8]);
            assert_ne!(span_id(Layer::Switches, id), [0; 8]);
        }
        assert_ne!(span_id(Layer::Stack, 4), span_id(Layer::Switches, 4));
    }
}
