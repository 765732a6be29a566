//! Turns intervals into nested starts and ends, as stack-based formats need them.

use traceloom_core::Result;

use crate::Ordered;

/// Maximum number of parallel lanes; a span that fits in none of them is cut.
const MAX_LANES: usize = 32;

/// The open spans of one layer of one thread.
///
/// Spans arrive in the order of [`crate::SpanOrder`]. A span that extends beyond the span around it, which happens in
/// damaged files and among time ranges, goes to another lane, so that starts and ends match in each lane. So does a
/// span that is nested more deeply than the tool can show.
///
/// Call order: `(begin* finish)*`. Call `finish` at the end of each layer of each thread.
#[derive(Debug)]
pub struct Nest<T> {
    lanes: Vec<Vec<Open<T>>>,
    most_deep: usize,
}

#[derive(Debug)]
struct Open<T> {
    end_ns: i64,
    depth: u32,
    item: T,
}

/// Where a span was placed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Placed {
    /// The lane: 0 for all spans that nest properly.
    pub lane: usize,
    /// The end of the span: earlier than in the trace if no lane had room.
    pub end_ns: i64,
}

impl<T> Default for Nest<T> {
    fn default() -> Self {
        Self::deep(usize::MAX)
    }
}

impl<T> Nest<T> {
    /// Limits the nesting depth of each lane except the last.
    pub fn deep(most_deep: usize) -> Self {
        Self { lanes: vec![Vec::new()], most_deep }
    }

    /// Starts a span; `ended` is called, innermost first, for earlier spans that have ended in the lanes examined.
    #[inline]
    pub fn begin(
        &mut self,
        span: &Ordered,
        item: T,
        mut ended: impl FnMut(usize, i64, T) -> Result<()>,
    ) -> Result<Placed> {
        let mut end_ns = span.end_ns;
        let mut lane = 0;
        loop {
            let stack = &mut self.lanes[lane];
            while let Some(open) = stack.pop_if(|open| has_ended(open, span)) {
                ended(lane, open.end_ns, open.item)?;
            }
            let Some(around) = stack.last() else { break };
            if lane + 1 == MAX_LANES {
                end_ns = end_ns.min(around.end_ns);
                break;
            }
            if end_ns <= around.end_ns && stack.len() < self.most_deep {
                break;
            }
            lane += 1;
            if lane == self.lanes.len() {
                self.lanes.push(Vec::new());
            }
        }
        self.lanes[lane].push(Open { end_ns, depth: span.depth, item });
        Ok(Placed { lane, end_ns })
    }

    /// The open spans of this lane, outermost first; the last one is the one that started last.
    pub fn open(&self, lane: usize) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.lanes.get(lane).map(Vec::as_slice).unwrap_or_default().iter().map(|open| &open.item)
    }

    /// Changes the span that started last in this lane, and the span around it.
    pub fn edit_open(&mut self, lane: usize, edit: impl FnOnce(Option<&mut T>, &mut T)) {
        match self.lanes.get_mut(lane).map(Vec::as_mut_slice) {
            Some([.., outer, own]) => edit(Some(&mut outer.item), &mut own.item),
            Some([own]) => edit(None, &mut own.item),
            _ => {}
        }
    }

    /// Ends all open spans.
    pub fn finish(&mut self, mut ended: impl FnMut(usize, i64, T) -> Result<()>) -> Result<()> {
        for (lane, stack) in self.lanes.iter_mut().enumerate() {
            while let Some(open) = stack.pop() {
                ended(lane, open.end_ns, open.item)?;
            }
        }
        Ok(())
    }
}

/// A span that ends exactly when the next starts encloses it only if it is less deep: both have zero length.
#[inline]
fn has_ended<T>(open: &Open<T>, next: &Ordered) -> bool {
    open.end_ns < next.ts_ns || open.end_ns == next.ts_ns && open.depth >= next.depth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Layer, LookId, ThreadIndex};

    fn span(id: i64, depth: u32, ts_ns: i64, end_ns: i64) -> Ordered {
        let (thread, layer, look) = (ThreadIndex(0), Layer::Stack, LookId(0));
        Ordered {
            thread,
            layer,
            id,
            parent_id: None,
            target_tid: None,
            depth,
            ts_ns,
            dur_ns: Some(end_ns - ts_ns),
            end_ns,
            look,
        }
    }

    /// The events as text: `+1@5` means that span 1 starts at 5, `-1@9` that it ends at 9, `/1` is the lane.
    fn events(spans: &[Ordered]) -> Vec<String> {
        let mut events = Vec::new();
        let mut nest = Nest::default();
        for span in spans {
            let mut ended = Vec::new();
            let placed = nest
                .begin(span, span.id, |lane, end_ns, id| {
                    ended.push(format!("-{id}@{end_ns}/{lane}"));
                    Ok(())
                })
                .unwrap();
            events.extend(ended);
            events.push(format!("+{}@{}/{}", span.id, span.ts_ns, placed.lane));
        }
        nest.finish(|lane, end_ns, id| {
            events.push(format!("-{id}@{end_ns}/{lane}"));
            Ok(())
        })
        .unwrap();
        events
    }

    #[test]
    fn ends_come_innermost_first_and_before_the_next_begin() {
        let spans = [span(0, 0, 0, 10), span(1, 1, 2, 5), span(2, 1, 5, 10), span(3, 0, 10, 11)];
        assert_eq!(
            events(&spans),
            ["+0@0/0", "+1@2/0", "-1@5/0", "+2@5/0", "-2@10/0", "-0@10/0", "+3@10/0", "-3@11/0"]
        );
    }

    #[test]
    fn spans_that_take_no_time_keep_their_children() {
        let spans = [span(0, 0, 5, 5), span(1, 1, 5, 5), span(2, 0, 5, 6)];
        assert_eq!(events(&spans), ["+0@5/0", "+1@5/0", "-1@5/0", "-0@5/0", "+2@5/0", "-2@6/0"]);
    }

    #[test]
    fn what_reaches_out_goes_to_a_lane_of_its_own() {
        let spans = [span(0, 0, 0, 10), span(1, 1, 5, 15), span(2, 1, 6, 8), span(3, 0, 20, 21)];
        assert_eq!(
            events(&spans),
            ["+0@0/0", "+1@5/1", "+2@6/0", "-2@8/0", "-0@10/0", "+3@20/0", "-3@21/0", "-1@15/1"]
        );
    }

    #[test]
    fn what_is_too_deep_goes_to_a_lane_of_its_own() {
        let mut nest = Nest::deep(2);
        let lanes: Vec<usize> =
            (0..5).map(|depth| nest.begin(&span(0, depth, 0, 9), (), |_, _, ()| Ok(())).unwrap().lane).collect();
        assert_eq!(lanes, [0, 0, 1, 1, 2]);
    }

    #[test]
    fn what_finds_no_lane_is_cut() {
        let spans: Vec<Ordered> = (0..40).map(|number| span(number, 0, number, 100 + number)).collect();
        let mut nest = Nest::default();
        let placed: Vec<Placed> = spans.iter().map(|span| nest.begin(span, (), |_, _, ()| Ok(())).unwrap()).collect();
        assert_eq!((placed[31].lane, placed[31].end_ns), (31, 131));
        assert_eq!((placed[39].lane, placed[39].end_ns), (31, 131));
    }
}
