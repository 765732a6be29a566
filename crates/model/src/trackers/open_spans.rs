//! Spans that have started but not ended, for formats that store start and end separately.

use traceloom_core::{Error, Limits, Result};

/// A span that has not ended.
#[derive(Clone, Copy, Debug)]
pub struct OpenSpan<T> {
    /// The id of its row.
    pub id: i64,
    /// Start of the span.
    pub ts_ns: i64,
    /// Total time of the children that have ended.
    pub children_ns: i64,
    /// Data that the mapper needs when the span ends.
    pub data: T,
}

/// A span that has ended, with the values that follow from its nesting.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ClosedSpan<T> {
    /// The id of its row.
    pub id: i64,
    /// The span around it.
    pub parent_id: Option<i64>,
    /// Number of spans around it.
    pub depth: u32,
    /// Start of the span.
    pub ts_ns: i64,
    /// Duration; `None` if the span was never closed.
    pub dur_ns: Option<i64>,
    /// Duration without the children; `None` if the span was never closed.
    pub self_ns: Option<i64>,
    /// The data that was passed to `begin`.
    pub data: T,
}

/// The open spans of one thread, the outermost first.
#[derive(Debug)]
pub struct OpenSpans<T> {
    spans: Vec<OpenSpan<T>>,
    most: usize,
}

impl<T> OpenSpans<T> {
    /// No open spans; at most as many can be open as entries may be kept.
    pub fn new(limits: &Limits) -> Self {
        Self { spans: Vec::new(), most: limits.entries }
    }

    /// Starts a span.
    pub fn begin(&mut self, id: i64, ts_ns: i64, data: T) -> Result<()> {
        if self.spans.len() >= self.most {
            return Err(Error::limit("open spans", self.spans.len() as u64 + 1, self.most as u64));
        }
        self.spans.push(OpenSpan { id, ts_ns, children_ns: 0, data });
        Ok(())
    }

    /// Ends the innermost span; `None` if none is open.
    pub fn end(&mut self, ts_ns: i64) -> Option<ClosedSpan<T>> {
        let span = self.spans.pop()?;
        let dur_ns = ts_ns.saturating_sub(span.ts_ns).max(0);
        let depth = self.spans.len() as u32;
        let parent = self.spans.last_mut();
        let parent_id = parent.map(|parent| {
            parent.children_ns = parent.children_ns.saturating_add(dur_ns);
            parent.id
        });
        let self_ns = dur_ns.saturating_sub(span.children_ns).max(0);
        let OpenSpan { id, ts_ns, data, .. } = span;
        Some(ClosedSpan { id, parent_id, depth, ts_ns, dur_ns: Some(dur_ns), self_ns: Some(self_ns), data })
    }

    /// Drops the innermost span, which was never closed; `None` if none is open.
    pub fn abandon(&mut self) -> Option<ClosedSpan<T>> {
        let OpenSpan { id, ts_ns, data, .. } = self.spans.pop()?;
        let depth = self.spans.len() as u32;
        let parent_id = self.spans.last().map(|parent| parent.id);
        Some(ClosedSpan { id, parent_id, depth, ts_ns, dur_ns: None, self_ns: None, data })
    }

    /// The innermost open span.
    pub fn innermost(&self) -> Option<&OpenSpan<T>> {
        self.spans.last()
    }

    /// The innermost open span, mutably.
    pub fn innermost_mut(&mut self) -> Option<&mut OpenSpan<T>> {
        self.spans.last_mut()
    }

    /// Number of open spans.
    pub fn depth(&self) -> usize {
        self.spans.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_closes_the_innermost_span_and_counts_for_the_one_around_it() {
        let mut spans = OpenSpans::new(&Limits::default());
        spans.begin(0, 10, 'a').expect("there is room");
        spans.begin(1, 12, 'b').expect("there is room");
        let inner = spans.end(17).expect("b is open");
        assert_eq!((inner.parent_id, inner.depth, inner.dur_ns, inner.self_ns), (Some(0), 1, Some(5), Some(5)));
        let outer = spans.end(20).expect("a is open");
        assert_eq!((outer.parent_id, outer.depth, outer.dur_ns, outer.self_ns), (None, 0, Some(10), Some(5)));
        assert_eq!(spans.end(21), None);
    }

    #[test]
    fn what_was_never_closed_has_no_duration() {
        let mut spans = OpenSpans::new(&Limits::default());
        spans.begin(7, 1, ()).expect("there is room");
        let span = spans.abandon().expect("one is open");
        assert_eq!((span.id, span.dur_ns, span.self_ns), (7, None, None));
    }

    #[test]
    fn depth_is_bounded() {
        let mut spans = OpenSpans::new(&Limits::with(|limits| limits.entries = 1));
        spans.begin(0, 0, ()).expect("the first fits");
        assert!(spans.begin(1, 0, ()).is_err());
    }
}
