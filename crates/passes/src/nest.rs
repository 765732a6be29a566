//! From intervals to begins and ends that nest, as stack-like formats need them.

use traceloom_core::Result;

use crate::Ordered;

/// Lanes beside each other; a span that fits into none of them is cut.
const MOST_LANES: usize = 32;

/// The open spans of one layer of one thread.
///
/// Spans come in the order of [`crate::SpanOrder`]. One that reaches out of the span around it, which happens in
/// damaged files and among ranges of time, goes to a lane of its own: in each lane begins and ends match. So does one
/// that is deeper than the tool can show.
///
/// `(begin* finish)*`: finish at the end of each layer of each thread.
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

/// Where a span went.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Placed {
    /// The lane: 0 for all that nest as they should.
    pub lane: usize,
    /// Where it ends: earlier than it should where no lane had room.
    pub end_ns: i64,
}

impl<T> Default for Nest<T> {
    fn default() -> Self {
        Self::deep(usize::MAX)
    }
}

impl<T> Nest<T> {
    /// With at most this many spans within each other in a lane, the last one excepted.
    pub fn deep(most_deep: usize) -> Self {
        Self { lanes: vec![Vec::new()], most_deep }
    }

    /// A span begins; `ended` is told, innermost first, of those before it that have ended in the lanes looked at.
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
            if lane + 1 == MOST_LANES {
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

    /// The spans around the one that began last in this lane, and itself, outermost first.
    pub fn open(&self, lane: usize) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.lanes.get(lane).map(Vec::as_slice).unwrap_or_default().iter().map(|open| &open.item)
    }

    /// Changes the span that began last in this lane, and the one around it.
    pub fn edit_open(&mut self, lane: usize, edit: impl FnOnce(Option<&mut T>, &mut T)) {
        match self.lanes.get_mut(lane).map(Vec::as_mut_slice) {
            Some([.., outer, own]) => edit(Some(&mut outer.item), &mut own.item),
            Some([own]) => edit(None, &mut own.item),
            _ => {}
        }
    }

    /// Ends all that are open.
    pub fn finish(&mut self, mut ended: impl FnMut(usize, i64, T) -> Result<()>) -> Result<()> {
        for (lane, stack) in self.lanes.iter_mut().enumerate() {
            while let Some(open) = stack.pop() {
                ended(lane, open.end_ns, open.item)?;
            }
        }
        Ok(())
    }
}

/// A span that ends when the next begins is around it only where it is less deep: both took no time.
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

    /// What happens, as text: `+1@5` is span 1 beginning at 5, `-1@9` its end, `/1` the lane.
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
