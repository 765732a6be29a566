//! Assigns spans to OpenTelemetry traces and parents.
//!
//! A span without a parent is the root of a trace, as a request is. Frames, time ranges and switches, each of which
//! would be a trace by itself, form one trace per thread. Ids are derived from those of the tables, so writing the same
//! rows again gives the same ids.

use traceloom_passes::{Layer, Ordered, Roster, ThreadIndex};

/// The id of a span in its trace: that of its row, from 1, with a mark for switches.
#[inline]
pub(super) fn span_id(layer: Layer, id: i64) -> [u8; 8] {
    span_number(layer, id).to_be_bytes()
}

fn span_number(layer: Layer, id: i64) -> u64 {
    let number = (id as u64).wrapping_add(1);
    match layer {
        Layer::Switches => number | SWITCH,
        // The tables count from 0, so this does not happen, but 0 would mean none.
        _ if number == 0 => SWITCH,
        _ => number,
    }
}

const SWITCH: u64 = 1 << 63;

/// Distinguishes the traces of one file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Tree(u64);

impl Tree {
    /// The id of the trace, derived from that of the file.
    #[inline]
    pub(super) fn trace_id(self, file: u64) -> [u8; 16] {
        (u128::from(file) << 64 | u128::from(self.0)).to_be_bytes()
    }
}

/// The position of a span in its trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    pub(super) tree: Tree,
    pub(super) parent_id: Option<i64>,
    /// Whether its parent is missing.
    pub(super) is_torn: bool,
}

/// The open spans of the current thread. Spans arrive in the order of [`traceloom_passes::SpanOrder`].
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

/// Maximum number of open spans that are searched for a parent; it is the last one, unless spans overlap.
const MAX_SEARCHED: usize = 1 << 10;

impl Ancestors {
    /// Starts a span.
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
            let mut nearest = self.open.iter().rev().take(MAX_SEARCHED);
            nearest.find(|open| open.id == id)
        });
        let tree = parent.map_or(Tree(span_number(span.layer, span.id)), |parent| parent.tree);
        let parent_id = parent.map(|parent| parent.id);
        self.open.push(Open { id: span.id, end_ns: span.end_ns, tree });
        Branch { tree, parent_id, is_torn: parent_id != span.parent_id }
    }

    /// The innermost span of a thread around a point in time, after all spans that start earlier have been entered.
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
