//! Spans of one thread as calls: each is entered and left, and none extends beyond the one around it.

use traceloom_core::Result;

use traceloom_passes::Ordered;

/// A loss: a call ends with the one around it.
pub(crate) const REACHES_OUT: &str = "ends of spans that extend beyond their parents";

/// The open calls.
///
/// Spans arrive in the order of [`traceloom_passes::SpanOrder`]. A span that extends beyond the span around it, which
/// happens in damaged files, is ended with it: a profiler has only nested calls, and sums their times.
///
/// Call order: `(begin* finish)*`. Call `finish` at the end of each thread.
#[derive(Debug)]
pub(crate) struct Stack<T> {
    open: Vec<Open<T>>,
}

/// An open call.
#[derive(Debug)]
pub(crate) struct Open<T> {
    pub(crate) begin_ns: i64,
    pub(crate) end_ns: i64,
    /// Total time of the calls inside it.
    pub(crate) children_ns: i64,
    depth: u32,
    pub(crate) item: T,
}

impl<T> Open<T> {
    /// Total time and self time.
    pub(crate) fn times_ns(&self) -> (u64, u64) {
        let incl = self.end_ns.saturating_sub(self.begin_ns);
        (incl.max(0).unsigned_abs(), incl.saturating_sub(self.children_ns).max(0).unsigned_abs())
    }
}

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Self { open: Vec::new() }
    }
}

impl<T> Stack<T> {
    /// Ends the calls that are over when a span starts; `ended` is called with each of them and the calls around it.
    pub(crate) fn advance(
        &mut self,
        span: &Ordered,
        mut ended: impl FnMut(Open<T>, &mut [Open<T>]) -> Result<()>,
    ) -> Result<()> {
        while let Some(over) = self.open.pop_if(|open| has_ended(open, span)) {
            self.end(over, &mut ended)?;
        }
        Ok(())
    }

    /// Enters a span; returns whether its end was moved.
    pub(crate) fn begin(&mut self, span: &Ordered, item: T) -> bool {
        let around_ns = self.open.last().map_or(i64::MAX, |around| around.end_ns);
        let end_ns = span.end_ns.min(around_ns);
        self.open.push(Open { begin_ns: span.ts_ns, end_ns, children_ns: 0, depth: span.depth, item });
        end_ns != span.end_ns
    }

    /// The open calls, the outermost first.
    pub(crate) fn open(&self) -> &[Open<T>] {
        &self.open
    }

    /// Ends all open calls.
    pub(crate) fn finish(&mut self, mut ended: impl FnMut(Open<T>, &mut [Open<T>]) -> Result<()>) -> Result<()> {
        while let Some(over) = self.open.pop() {
            self.end(over, &mut ended)?;
        }
        Ok(())
    }

    fn end(&mut self, over: Open<T>, ended: &mut impl FnMut(Open<T>, &mut [Open<T>]) -> Result<()>) -> Result<()> {
        if let Some(around) = self.open.last_mut() {
            around.children_ns = around.children_ns.saturating_add(over.end_ns.saturating_sub(over.begin_ns));
        }
        ended(over, &mut self.open)
    }
}

/// A span that ends exactly when the next starts encloses it only if it is less deep: both have zero length.
#[inline]
fn has_ended<T>(open: &Open<T>, next: &Ordered) -> bool {
    open.end_ns < next.ts_ns || open.end_ns == next.ts_ns && open.depth >= next.depth
}
