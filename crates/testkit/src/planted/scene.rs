//! A trace under construction: rows of tables that are written to a real file.

use traceloom_core::{Error, Result, Source};
use traceloom_mapping::{FORMATS, Options, Trace};
use traceloom_model::{
    Filter, Halt, TableSink, TableSource, Tables, allocations::Allocation, counters::Counter, frames::Frame,
    frees::Free, logs::Log, processes::Process, spans::Span, stacks::Stack, switches::Switch, threads::Thread, traces,
};

/// Everything that a planted trace may hold; times are in nanoseconds.
#[derive(Debug, Default)]
pub struct Scene {
    /// Names of threads.
    pub threads: Vec<String>,
    /// Spans, in any order; those of one thread nest.
    pub spans: Vec<SpanRow>,
    /// Times off the processor: thread, start, duration, and the program that ran instead.
    pub switches: Vec<(usize, i64, i64, String)>,
    /// Values: name, time, value.
    pub values: Vec<(String, i64, f64)>,
    /// Log lines, in order.
    pub logs: Vec<LogRow>,
    /// Blocks, in order of their allocation.
    pub blocks: Vec<Block>,
    /// Frees of blocks that are already free: time and block.
    pub double_frees: Vec<(i64, usize)>,
}

/// A span.
#[derive(Clone, Debug)]
pub struct SpanRow {
    /// Index of the thread.
    pub thread: usize,
    /// Start.
    pub ts_ns: i64,
    /// Duration.
    pub dur_ns: i64,
    /// Name.
    pub name: String,
}

/// A log line.
#[derive(Clone, Debug)]
pub struct LogRow {
    /// Time of the line.
    pub ts_ns: i64,
    /// `INFO`, `WARN`, `ERROR`, …
    pub level: &'static str,
    /// File and line.
    pub place: (String, u32),
    /// Format string without arguments.
    pub text: String,
}

/// A block of memory.
#[derive(Clone, Debug)]
pub struct Block {
    /// When it was allocated.
    pub ts_ns: i64,
    /// When it was freed.
    pub freed_ns: Option<i64>,
    /// Size.
    pub bytes: u64,
    /// Frames, the innermost first: function, file, line.
    pub stack: Vec<(String, String, u32)>,
}

impl Scene {
    /// A scene with these threads.
    pub fn new(threads: &[&str]) -> Self {
        Self { threads: threads.iter().map(|name| (*name).to_owned()).collect(), ..Self::default() }
    }

    /// Adds a span; returns its end.
    pub fn span(&mut self, thread: usize, name: &str, ts_ns: i64, dur_ns: i64) -> i64 {
        let dur_ns = dur_ns.max(1);
        self.spans.push(SpanRow { thread, ts_ns, dur_ns, name: name.to_owned() });
        ts_ns + dur_ns
    }

    /// Writes a file of a format and opens it.
    pub fn written(&self, format: &str) -> Result<Trace> {
        let mapping = FORMATS.iter().find(|mapping| mapping.format.id == format);
        let mapping = mapping.ok_or_else(|| Error::usage(format!("no format {format}")))?;
        let mut bytes = Vec::new();
        traceloom_passes::write(mapping.target, self, &traceloom_passes::Options::default(), &mut bytes)?;
        Trace::new("planted".as_ref(), Source::bytes(bytes), Some(format), &Options::default())
    }

    fn fill(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let (mut first_ns, mut last_ns) = (i64::MAX, i64::MIN);
        let mut reach = |from: i64, to: i64| {
            first_ns = first_ns.min(from);
            last_ns = last_ns.max(to);
        };
        self.spans.iter().for_each(|span| reach(span.ts_ns, span.ts_ns + span.dur_ns));
        self.logs.iter().for_each(|line| reach(line.ts_ns, line.ts_ns));
        self.values.iter().for_each(|(_, ts_ns, _)| reach(*ts_ns, *ts_ns));
        self.blocks.iter().for_each(|block| reach(block.ts_ns, block.freed_ns.unwrap_or(block.ts_ns)));
        tables.push(Process { pid: Some(42), name: Some("planted".into()), ..Process::default() })?;
        for (id, name) in self.threads.iter().enumerate() {
            let name = Some(name.as_str().into());
            tables.push(Thread {
                id: id as i64,
                tid: Some(100 + id as u64),
                process_id: 0,
                name,
                ..Thread::default()
            })?;
        }
        self.fill_spans(tables)?;
        self.fill_points(tables)?;
        self.fill_memory(tables)?;
        tables.push(traces::Trace {
            path: "planted",
            format: "planted".into(),
            version: "1",
            clock: "monotonic".into(),
            first_ts_ns: Some(first_ns),
            last_ts_ns: Some(last_ns),
            ..traces::Trace::default()
        })
    }

    fn fill_spans(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let mut order: Vec<&SpanRow> = self.spans.iter().collect();
        order.sort_by_key(|span| (span.thread, span.ts_ns, -span.dur_ns));
        let mut self_ns: Vec<i64> = order.iter().map(|span| span.dur_ns).collect();
        let mut around: Vec<(Vec<usize>, usize)> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (id, span) in order.iter().enumerate() {
            let is_over = |outer: &usize| {
                order[*outer].thread != span.thread || order[*outer].ts_ns + order[*outer].dur_ns <= span.ts_ns
            };
            while open.last().is_some_and(is_over) {
                open.pop();
            }
            if let Some(outer) = open.last() {
                self_ns[*outer] -= span.dur_ns;
            }
            around.push((open.last().copied().into_iter().collect(), open.len()));
            open.push(id);
        }
        for (id, span) in order.iter().enumerate() {
            tables.push(Span {
                id: id as i64,
                parent_id: around[id].0.first().map(|outer| *outer as i64),
                thread_id: span.thread as i64,
                depth: around[id].1 as u32,
                ts_ns: span.ts_ns,
                dur_ns: Some(span.dur_ns),
                self_ns: Some(self_ns[id].max(0)),
                name: span.name.as_str().into(),
                category: "block".into(),
                ..Span::default()
            })?;
        }
        Ok(())
    }

    fn fill_points(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        for (id, (thread, ts_ns, dur_ns, name)) in self.switches.iter().enumerate() {
            let thread_id = *thread as i64;
            tables.push(Switch {
                id: id as i64,
                ts_ns: *ts_ns,
                dur_ns: *dur_ns,
                thread_id,
                target_tid: 999,
                name: name.as_str().into(),
            })?;
        }
        for (id, (name, ts_ns, value)) in self.values.iter().enumerate() {
            let (name, value) = (name.as_str().into(), Some(*value));
            tables.push(Counter {
                id: id as i64,
                ts_ns: *ts_ns,
                thread_id: Some(0),
                name,
                value,
                ..Counter::default()
            })?;
        }
        for (id, line) in self.logs.iter().enumerate() {
            tables.push(Log {
                id: id as i64,
                ts_ns: Some(line.ts_ns),
                thread_id: Some(0),
                level: 0,
                level_name: line.level.into(),
                file: Some(line.place.0.as_str().into()),
                line: Some(line.place.1),
                format: Some(line.text.as_str().into()),
                message: &line.text,
                definition_id: None,
            })?;
        }
        Ok(())
    }

    fn fill_memory(&self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let mut frames: Vec<&(String, String, u32)> = Vec::new();
        let mut stacks: Vec<(Option<i64>, i64)> = Vec::new();
        let mut by_block = Vec::new();
        for block in &self.blocks {
            let mut below: Option<i64> = None;
            for frame in block.stack.iter().rev() {
                let known = frames.iter().position(|known| *known == frame);
                let frame_id = known.unwrap_or_else(|| {
                    frames.push(frame);
                    frames.len() - 1
                }) as i64;
                let known = stacks.iter().position(|stack| *stack == (below, frame_id));
                below = Some(known.unwrap_or_else(|| {
                    stacks.push((below, frame_id));
                    stacks.len() - 1
                }) as i64);
            }
            by_block.push(below);
        }
        for (id, (function, file, line)) in frames.iter().enumerate() {
            tables.push(Frame {
                id: id as i64,
                function: function.as_str().into(),
                file: Some(file.as_str().into()),
                line: Some(*line),
            })?;
        }
        for (id, (parent_id, frame_id)) in stacks.iter().enumerate() {
            let depth = std::iter::successors(*parent_id, |at| stacks[*at as usize].0).count() as u32;
            tables.push(Stack { id: id as i64, parent_id: *parent_id, frame_id: *frame_id, depth })?;
        }
        // Events in time order; a free comes after its allocation.
        let mut events: Vec<(i64, u8, usize)> = Vec::new();
        for (number, block) in self.blocks.iter().enumerate() {
            events.push((block.ts_ns, 0, number));
            events.extend(block.freed_ns.map(|freed_ns| (freed_ns, 1, number)));
        }
        events.extend(self.double_frees.iter().map(|(ts_ns, number)| (*ts_ns, 2, *number)));
        events.sort_unstable();
        let mut ids = vec![(0_i64, None); self.blocks.len()];
        for (id, (_, kind, number)) in events.iter().enumerate() {
            match kind {
                0 => ids[*number].0 = id as i64,
                1 => ids[*number].1 = Some(id as i64),
                _ => {}
            }
        }
        let address = |number: usize| 0x10_0000 + number as u64 * 0x1000;
        for (id, (ts_ns, kind, number)) in events.iter().enumerate() {
            let block = &self.blocks[*number];
            if *kind == 0 {
                tables.push(Allocation {
                    id: id as i64,
                    ts_ns: *ts_ns,
                    thread_id: Some(0),
                    address: address(*number),
                    size_bytes: block.bytes,
                    stack_id: by_block[*number],
                    fate: if block.freed_ns.is_some() { "freed" } else { "live" }.into(),
                    freed_ts_ns: block.freed_ns,
                    end_id: ids[*number].1,
                    lifetime_ns: block.freed_ns.map(|freed_ns| freed_ns - ts_ns),
                })?;
            } else {
                let allocation_id = (*kind == 1).then_some(ids[*number].0);
                tables.push(Free { id: id as i64, ts_ns: *ts_ns, address: address(*number), allocation_id })?;
            }
        }
        Ok(())
    }
}

impl TableSource for Scene {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        let mut tables = Tables::new(1, filter.clone(), sink);
        self.fill(&mut tables).and_then(|()| tables.finish()).or_else(Halt::into_result)
    }
}
