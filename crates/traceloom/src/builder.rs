//! Builds a trace in memory.

use std::collections::HashMap;

use traceloom_core::{Error, Result};
use traceloom_model::{
    ClockKind, EventCategory, Fate, Filter, Halt, SpanCategory, TableSink, TableSource, Tables,
    allocations::Allocation,
    counters::Counter,
    events::Event,
    frees::Free,
    logs::Log,
    processes::Process,
    spans::Span,
    threads::Thread,
    traces::Trace,
    trackers::{Extent, FrameKey, Stacks},
};

/// Collects the contents of a trace; it is a source of tables, which a conversion can write in any format.
///
/// Times are nanoseconds since the start of the trace. Everything is held in memory.
///
/// ```
/// use traceloom::TraceBuilder;
///
/// let mut trace = TraceBuilder::new("game");
/// let main = trace.thread("main");
/// trace.begin(main, "frame", 0)?;
/// trace.begin(main, "draw", 1_000)?;
/// trace.end(main, 3_000)?;
/// trace.end(main, 4_000)?;
/// # #[cfg(feature = "export")] {
/// let mut bytes = Vec::new();
/// traceloom::Conversion::to("easyprofiler")?.write(&trace, &mut bytes)?;
/// # }
/// # Ok::<(), traceloom::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct TraceBuilder {
    name: String,
    unix_origin_ns: Option<i64>,
    extent: Extent,
    threads: Vec<OfThread>,
    spans: Vec<OfSpan>,
    /// Events, values and log entries, in the order of the calls.
    points: Vec<OfPoint>,
    allocations: Vec<OfAllocation>,
    frees: Vec<OfFree>,
    live: HashMap<u64, usize>,
}

#[derive(Debug)]
struct OfThread {
    name: String,
    /// Indexes of the open spans.
    open: Vec<usize>,
}

#[derive(Debug)]
struct OfSpan {
    thread: i64,
    name: String,
    parent: Option<usize>,
    depth: u32,
    ts_ns: i64,
    dur_ns: Option<i64>,
    /// Time of the children.
    inner_ns: i64,
}

#[derive(Debug)]
struct OfPoint {
    thread: i64,
    span: Option<usize>,
    ts_ns: i64,
    what: What,
}

#[derive(Debug)]
enum What {
    Event(String),
    Log { level: LogLevel, message: String },
    Value(String, f64),
}

#[derive(Debug)]
struct OfAllocation {
    id: i64,
    ts_ns: i64,
    address: u64,
    size_bytes: u64,
    stack: Vec<Place>,
    /// Its end: fate, event and time.
    end: Option<(Fate, i64, i64)>,
}

#[derive(Debug)]
struct OfFree {
    id: i64,
    ts_ns: i64,
    address: u64,
    allocation: Option<i64>,
}

/// A source location.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place {
    /// The function.
    pub function: String,
    /// Source file.
    pub file: String,
    /// Source line.
    pub line: u32,
}

/// The severity of a log entry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogLevel {
    /// Details for debugging.
    Debug,
    /// Normal operation.
    Info,
    /// A possible problem.
    Warn,
    /// A problem.
    Error,
}

impl LogLevel {
    /// The name of the level.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "DEBUG",
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }

    /// The number of the level in logs; the most severe level has the lowest number.
    const fn number(self) -> i64 {
        match self {
            Self::Error => 0,
            Self::Warn => 1,
            Self::Info => 2,
            Self::Debug => 3,
        }
    }
}

impl TraceBuilder {
    /// Creates an empty trace of a program.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the Unix time of the start of the trace, in nanoseconds.
    #[must_use]
    pub fn starting_at(mut self, unix_ns: i64) -> Self {
        self.unix_origin_ns = Some(unix_ns);
        self
    }

    /// The number of the thread with this name, which is added if needed.
    pub fn thread(&mut self, name: &str) -> usize {
        let known = self.threads.iter().position(|thread| thread.name == name);
        known.unwrap_or_else(|| {
            self.threads.push(OfThread { name: name.to_owned(), open: Vec::new() });
            self.threads.len() - 1
        })
    }

    /// Starts a span inside the open spans of the thread.
    pub fn begin(&mut self, thread: usize, name: impl Into<String>, ts_ns: i64) -> Result<()> {
        let number = self.spans.len();
        let open = &mut self.of_thread(thread)?.open;
        let (parent, depth) = (open.last().copied(), open.len() as u32);
        open.push(number);
        let (thread, name) = (thread as i64, name.into());
        self.spans.push(OfSpan { thread, name, parent, depth, ts_ns, dur_ns: None, inner_ns: 0 });
        self.extent.add(ts_ns);
        Ok(())
    }

    /// Ends the innermost open span of the thread.
    pub fn end(&mut self, thread: usize, ts_ns: i64) -> Result<()> {
        let Some(number) = self.of_thread(thread)?.open.pop() else {
            return Err(Error::usage("no span is open"));
        };
        let span = &mut self.spans[number];
        let dur_ns = ts_ns.saturating_sub(span.ts_ns);
        if dur_ns < 0 {
            return Err(Error::usage(format!("the span {} ends before it starts", span.name)));
        }
        span.dur_ns = Some(dur_ns);
        if let Some(parent) = span.parent {
            self.spans[parent].inner_ns += dur_ns;
        }
        self.extent.add(ts_ns);
        Ok(())
    }

    /// Adds an event.
    pub fn event(&mut self, thread: usize, name: impl Into<String>, ts_ns: i64) -> Result<()> {
        self.point(thread, ts_ns, What::Event(name.into()))
    }

    /// Adds a value.
    pub fn value(&mut self, thread: usize, name: impl Into<String>, ts_ns: i64, value: f64) -> Result<()> {
        self.point(thread, ts_ns, What::Value(name.into(), value))
    }

    /// Adds a log entry.
    pub fn log(&mut self, thread: usize, level: LogLevel, ts_ns: i64, message: impl Into<String>) -> Result<()> {
        self.point(thread, ts_ns, What::Log { level, message: message.into() })
    }

    /// Adds an allocation; the stack starts with the innermost frame.
    pub fn allocate(&mut self, ts_ns: i64, address: u64, size_bytes: u64, stack: Vec<Place>) {
        let id = self.next_id();
        if let Some(before) = self.live.insert(address, self.allocations.len()) {
            self.allocations[before].end = Some((Fate::Reused, id, ts_ns));
        }
        self.allocations.push(OfAllocation { id, ts_ns, address, size_bytes, stack, end: None });
        self.extent.add(ts_ns);
    }

    /// Adds a free.
    pub fn free(&mut self, ts_ns: i64, address: u64) {
        let id = self.next_id();
        let freed = self.live.remove(&address).map(|number| {
            self.allocations[number].end = Some((Fate::Freed, id, ts_ns));
            self.allocations[number].id
        });
        self.frees.push(OfFree { id, ts_ns, address, allocation: freed });
        self.extent.add(ts_ns);
    }

    fn next_id(&self) -> i64 {
        (self.allocations.len() + self.frees.len()) as i64
    }

    fn of_thread(&mut self, thread: usize) -> Result<&mut OfThread> {
        self.threads.get_mut(thread).ok_or_else(|| Error::usage(format!("unknown thread {thread}")))
    }

    fn point(&mut self, thread: usize, ts_ns: i64, what: What) -> Result<()> {
        let span = self.of_thread(thread)?.open.last().copied();
        self.points.push(OfPoint { thread: thread as i64, span, ts_ns, what });
        self.extent.add(ts_ns);
        Ok(())
    }

    fn fill(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        self.push_about(tables)?;
        for (id, span) in (0..).zip(&self.spans) {
            push_span(id, span, tables)?;
        }
        for (id, point) in (self.spans.len() as i64..).zip(&self.points) {
            push_point(id, point, tables)?;
        }
        self.push_memory(tables)
    }

    fn push_about(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let clock = if self.unix_origin_ns.is_some() { ClockKind::Wall } else { ClockKind::Monotonic };
        tables.push(Trace {
            path: &self.name,
            format: "".into(),
            version: "",
            producer: Some("Traceloom"),
            clock: clock.into(),
            unix_origin_ns: self.unix_origin_ns,
            first_ts_ns: self.extent.first(),
            last_ts_ns: self.extent.last(),
            ..Trace::default()
        })?;
        let (name, pid) = (Some(self.name.as_str().into()), Some(u64::from(std::process::id())));
        tables.push(Process { id: 0, pid, ppid: None, name, start_ts_ns: None, end_ts_ns: None })?;
        for (id, thread) in (0..).zip(&self.threads) {
            let (tid, name) = (Some(id as u64 + 1), Some(thread.name.as_str().into()));
            tables.push(Thread { id, tid, process_id: 0, name, kind: None, location: None })?;
        }
        Ok(())
    }

    fn push_memory(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let mut stacks = Stacks::default();
        for allocation in &self.allocations {
            let mut stack_id = None;
            for place in allocation.stack.iter().rev() {
                let function = tables.strings.intern(&place.function);
                let file = Some(tables.strings.intern(&place.file));
                let frame = stacks.frame(FrameKey { function, file, line: Some(place.line) }, tables)?;
                stack_id = Some(stacks.stack(stack_id, frame, tables)?);
            }
            let (fate, end_id, freed_ts_ns) = match allocation.end {
                Some((fate, id, ts_ns)) => (fate, Some(id), Some(ts_ns)),
                None => (Fate::Live, None, None),
            };
            tables.push(Allocation {
                id: allocation.id,
                ts_ns: allocation.ts_ns,
                thread_id: (!self.threads.is_empty()).then_some(0),
                address: allocation.address,
                size_bytes: allocation.size_bytes,
                stack_id,
                fate: fate.into(),
                freed_ts_ns,
                end_id,
                lifetime_ns: freed_ts_ns.map(|freed| freed - allocation.ts_ns),
            })?;
        }
        self.frees.iter().try_for_each(|free| {
            let OfFree { id, ts_ns, address, allocation } = *free;
            tables.push(Free { id, ts_ns, address, allocation_id: allocation })
        })
    }
}

fn push_span(id: i64, span: &OfSpan, tables: &mut Tables<'_>) -> Result<(), Halt> {
    tables.push(Span {
        id,
        parent_id: span.parent.map(|parent| parent as i64),
        thread_id: span.thread,
        depth: span.depth,
        ts_ns: span.ts_ns,
        dur_ns: span.dur_ns,
        self_ns: span.dur_ns.map(|dur_ns| dur_ns - span.inner_ns),
        name: span.name.as_str().into(),
        category: SpanCategory::Block.into(),
        ..Span::default()
    })
}

fn push_point(id: i64, point: &OfPoint, tables: &mut Tables<'_>) -> Result<(), Halt> {
    let (ts_ns, thread_id) = (point.ts_ns, Some(point.thread));
    match &point.what {
        What::Event(name) => tables.push(Event {
            id,
            ts_ns,
            thread_id,
            span_id: point.span.map(|span| span as i64),
            name: name.as_str().into(),
            category: EventCategory::Event.into(),
            definition_id: None,
        }),
        What::Log { level, message } => tables.push(Log {
            id,
            ts_ns: Some(ts_ns),
            thread_id,
            level: level.number(),
            level_name: level.as_str().into(),
            message,
            ..Log::default()
        }),
        What::Value(name, value) => tables.push(Counter {
            id,
            ts_ns,
            thread_id,
            name: name.as_str().into(),
            value: Some(*value),
            ..Counter::default()
        }),
    }
}

impl TableSource for TraceBuilder {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        let mut tables = Tables::new(1, filter.clone(), sink);
        self.fill(&mut tables).and_then(|()| tables.finish()).or_else(Halt::into_result)
    }
}
