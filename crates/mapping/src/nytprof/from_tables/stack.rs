//! Spans of one thread as calls: each is entered and left, and none reaches out of the one around it.

use traceloom_core::Result;

use traceloom_passes::Ordered;

/// A loss: a call ends with the one around it.
pub(crate) const REACHES_OUT: &str = "ends of spans that reach out of the one around them";

/// The calls that are open.
///
/// Spans come in the order of [`traceloom_passes::SpanOrder`]. One that reaches out of the span around it, which happens in
/// damaged files, ends with that: a profiler knows calls only, and adds up what they took.
///
/// `(begin* finish)*`: finish at the end of each thread.
#[derive(Debug)]
pub(crate) struct Stack<T> {
    open: Vec<Open<T>>,
}

/// A call that is open.
#[derive(Debug)]
pub(crate) struct Open<T> {
    pub(crate) begin_ns: i64,
    pub(crate) end_ns: i64,
    /// What the calls in it took.
    pub(crate) children_ns: i64,
    depth: u32,
    pub(crate) item: T,
}

impl<T> Open<T> {
    /// How long it took, with and without the calls in it.
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
    /// Ends the calls that are over when a span begins; `ended` is told of each and of those around it.
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

    /// Enters a span; tells whether its end is not its own.
    pub(crate) fn begin(&mut self, span: &Ordered, item: T) -> bool {
        let around_ns = self.open.last().map_or(i64::MAX, |around| around.end_ns);
        let end_ns = span.end_ns.min(around_ns);
        self.open.push(Open { begin_ns: span.ts_ns, end_ns, children_ns: 0, depth: span.depth, item });
        end_ns != span.end_ns
    }

    /// The calls that are open, the outermost first.
    pub(crate) fn open(&self) -> &[Open<T>] {
        &self.open
    }

    /// Ends all that are open.
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

/// A span that ends when the next begins is around it only where it is less deep: both took no time.
#[inline]
fn has_ended<T>(open: &Open<T>, next: &Ordered) -> bool {
    open.end_ns < next.ts_ns || open.end_ns == next.ts_ns && open.depth >= next.depth
}
