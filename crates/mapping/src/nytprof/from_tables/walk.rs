//! Writes spans as calls: entered, left, and summed.

use traceloom_core::{Loss, Result};
use traceloom_nytprof::{Nv, Record, Str, SubEntry, SubReturn};

use super::{
    Ticks,
    header::{Facts, max_parts},
    lines::{Lines, MAX_TICKS, tell},
    processes::{Current, Processes},
    stack::{Open, REACHES_OUT, Stack},
    stream::Stream,
    subs::{self, Subs, text},
    sums::{Edge, Place, Sums},
};
use traceloom_passes::{
    Args, Datum, FRAMES_AND_RANGES, Layer, Look, LookId, NEVER_CLOSED, NameId, NamePool, Ordered, Pass, Timeline,
    lose_arg,
};

/// The name of the program itself, which is the caller of outermost calls.
pub(crate) const RUNTIME: &str = "main::RUNTIME";

/// An open call.
#[derive(Clone, Copy, Debug)]
struct Call {
    name: NameId,
    /// Its location, which gets its time.
    place: Place,
    /// The call site.
    site: Place,
    begin_ticks: u64,
    children_ticks: u64,
    /// Times from a profile that are not a whole number of ticks.
    stored: Option<[f64; 2]>,
}

/// The walk over all spans.
pub(super) struct Walk<'a, 'o> {
    timeline: Timeline,
    clock: Clock,
    stream: Stream<'o>,
    subs: Subs,
    sums: Sums,
    /// Traces that have sums.
    summed: Vec<bool>,
    facts: &'a Facts,
    /// Whether the calls of the current trace are recorded when they start.
    tells_entries: bool,
    runtime: NameId,
    /// The location of each of the first looks.
    of_looks: Vec<Place>,
    /// Number of statements that may still be used for times.
    parts_left: u64,
    /// Ticks for which no statement was left.
    untold: u64,
}

/// The parts of a pass that the walk needs besides the spans.
struct Tools<'p> {
    names: &'p mut NamePool,
    args: &'p mut Args,
    loss: &'p mut Loss,
}

/// Number of looks whose locations are found without hashing.
const QUICK_LOOKS: usize = 1 << 18;

/// The clock of the current process.
#[derive(Debug)]
struct Clock {
    ticks: Ticks,
    lines: Lines,
    trace: usize,
    /// Start of the process, in output time.
    begin_ns: u64,
    now: u64,
}

impl Clock {
    /// Advances the clock as far as line times account for it; returns the ticks that they do not account for.
    fn pass(&mut self, ns: u64, stream: &mut Stream<'_>) -> Result<u64> {
        let then = self.ticks.of(ns.saturating_sub(self.begin_ns));
        let Some(gap @ 1..) = then.checked_sub(self.now) else { return Ok(0) };
        self.now = then;
        self.lines.pass(self.trace, gap, stream)
    }
}

impl<'a, 'o> Walk<'a, 'o> {
    /// Reads the subs, and the sums of lines and calls that traces have.
    pub(super) fn new(pass: &mut Pass<'_>, facts: &'a Facts, ticks: Ticks, mut stream: Stream<'o>) -> Result<Self> {
        let subs = Subs::read(pass)?;
        let lines = Lines::read(pass, ticks, &mut stream)?;
        Ok(Self {
            timeline: pass.timeline,
            clock: Clock { ticks, lines, trace: 0, begin_ns: 0, now: 0 },
            stream,
            subs,
            sums: Sums::new(pass.options.limits.entries),
            summed: subs::summed(pass)?,
            facts,
            tells_entries: true,
            runtime: pass.names.intern(RUNTIME)?,
            of_looks: Vec::new(),
            parts_left: max_parts(pass.spans.len()),
            untold: 0,
        })
    }

    /// Writes the calls of all processes; returns the last one, which has not ended yet.
    pub(super) fn profile(
        &mut self,
        pass: &mut Pass<'_>,
        processes: &Processes,
        mut current: Current,
    ) -> Result<Current> {
        let Pass { roster, names, looks, spans, args, loss, .. } = pass;
        let mut tools = Tools { names, args, loss };
        let mut spans = spans.iter(roster)?.peekable();
        let trace_of = |number: usize| {
            let process = processes.list.get(number)?;
            Some(process.thread.map_or(0, |index| roster.thread(index).trace))
        };
        for (number, process) in processes.list.iter().enumerate() {
            self.clock.trace = trace_of(number).unwrap_or(0);
            if number > 0 {
                processes.end(&current, &mut self.stream)?;
                let first = spans.peek().and_then(|span| span.as_ref().ok());
                let first = first.filter(|span| Some(span.thread) == process.thread);
                let first_ns = first.map(|span| self.timeline.at(span.ts_ns));
                current = processes.begin(number, first_ns, &mut self.stream)?;
            }
            (self.clock.begin_ns, self.clock.now) = (current.begin_ns, 0);
            self.tells_entries = self.facts.tells_entries(self.clock.trace);
            let mut stack = Stack::default();
            while let Some(span) =
                spans.next_if(|span| span.as_ref().map_or(true, |span| Some(span.thread) == process.thread))
            {
                let span = span?;
                if span.layer != Layer::Stack {
                    span.lose(FRAMES_AND_RANGES, tools.loss);
                    continue;
                }
                let look = looks.get(span.look)?;
                stack.advance(&span, |over, around| self.leave(&over, around, tools.names))?;
                self.enter(&span, &look, &mut stack, &mut tools)?;
            }
            stack.finish(|over, around| self.leave(&over, around, tools.names))?;
            if trace_of(number + 1) != Some(self.clock.trace) {
                let drained = self.clock.lines.drain(self.clock.trace, &mut self.stream)?;
                self.clock.now = self.clock.now.saturating_add(drained);
            }
            current.ran_seconds = self.clock.now as f64 / f64::from(self.clock.ticks.per_sec);
        }
        Ok(current)
    }

    /// Writes everything that comes after the calls.
    pub(super) fn end(self, pass: &mut Pass<'_>) -> Result<Stream<'o>> {
        let Self { subs, mut stream, sums, summed, untold, .. } = self;
        if untold > 0 {
            pass.loss.lose("call times too long for a NYTProf file", || format!("{untold} ticks"));
        }
        subs.write(pass, &sums.finish(), &summed, &mut stream)?;
        Ok(stream)
    }

    /// Advances to a time. Ticks that no line accounts for go to the location of the call, unless the trace has line
    /// times, which this would distort.
    fn pass(&mut self, ns: u64, place: Option<Place>) -> Result<()> {
        let left = self.clock.pass(ns, &mut self.stream)?;
        if left == 0 {
            return Ok(());
        }
        let place = match place.filter(|_| !self.clock.lines.knows(self.clock.trace)) {
            Some(place) => place,
            None => self.stream.stand_in(self.runtime)?,
        };
        // A call of a few bytes can last 292 years.
        let told = left.min(self.parts_left.saturating_mul(MAX_TICKS));
        self.parts_left -= told.div_ceil(MAX_TICKS).min(self.parts_left);
        self.untold = self.untold.saturating_add(left - told);
        tell(place, told, &mut 1, &mut self.stream)
    }

    fn enter(&mut self, span: &Ordered, look: &Look, stack: &mut Stack<Call>, tools: &mut Tools<'_>) -> Result<()> {
        self.count(span, tools.loss);
        let around = stack.open().last().map(|open| open.item.place);
        let place = self.place(span.look, look, tools)?;
        self.pass(self.timeline.at(span.ts_ns), around)?;
        let (site, stored) = self.take_args(span, tools)?;
        // A call that is cut short takes less time than the profile says.
        let is_cut = stack.open().last().is_some_and(|outer| span.end_ns > outer.end_ns);
        let stored = stored.filter(|_| !is_cut);
        let site = match site.or(around) {
            Some(site) => site,
            None => self.stream.stand_in(self.runtime)?,
        };
        let call = Call { name: look.name, place, site, begin_ticks: self.clock.now, children_ticks: 0, stored };
        if self.tells_entries {
            let Place { fid, line } = call.site;
            self.stream.put(&Record::SubEntry(SubEntry { caller_fid: fid, caller_line: line, odd_bytes: None }))?;
        }
        if stack.begin(span, call) {
            span.lose(REACHES_OUT, tools.loss);
        }
        if !self.summed[self.clock.trace] {
            self.sums.enter(look.name);
        }
        Ok(())
    }

    fn leave(&mut self, over: &Open<Call>, around: &mut [Open<Call>], names: &mut NamePool) -> Result<()> {
        let call = over.item;
        self.pass(self.timeline.at(over.end_ns), Some(call.place))?;
        let incl = self.clock.now - call.begin_ticks;
        let excl = incl.saturating_sub(call.children_ticks);
        let depth = around.len() as u32 + 1;
        let caller = match around.last_mut() {
            Some(outer) => {
                outer.item.children_ticks += incl;
                outer.item.name
            }
            None => self.runtime,
        };
        let [incl_ticks, excl_ticks] = call.stored.unwrap_or([incl as f64, excl as f64]).map(Nv::from);
        let name = Str::new(text(call.name, names)?.as_bytes());
        self.stream.put(&Record::SubReturn(SubReturn { depth, incl_ticks, excl_ticks, name, odd_bytes: None }))?;
        if self.summed[self.clock.trace] {
            return Ok(());
        }
        self.sums.leave(Edge { callee: call.name, place: call.site, caller }, over.times_ns())
    }

    /// Counts the properties of a span that a call cannot hold.
    fn count(&self, span: &Ordered, loss: &mut Loss) {
        if span.dur_ns.is_none() {
            span.lose(NEVER_CLOSED, loss);
        }
        let is_exact = |ts_ns| {
            let ns = self.timeline.at(ts_ns).saturating_sub(self.clock.begin_ns);
            self.clock.ticks.is_exact(ns)
        };
        if !is_exact(span.ts_ns) || !is_exact(span.end_ns) {
            span.lose("fractions of a tick", loss);
        }
    }

    #[inline]
    fn place(&mut self, id: LookId, look: &Look, tools: &mut Tools<'_>) -> Result<Place> {
        match self.of_looks.get(id.index()) {
            Some(place) if place.fid != 0 => Ok(*place),
            _ => self.find_place(id, look, tools),
        }
    }

    #[cold]
    fn find_place(&mut self, id: LookId, look: &Look, tools: &mut Tools<'_>) -> Result<Place> {
        if tools.names.get(look.name)?.is_empty() {
            tools.loss.lose("empty names", || "of a span".to_owned());
        }
        self.subs.note(look, tools.loss)?;
        let place = self.stream.of_look(look, tools.names)?;
        if id.index() < QUICK_LOOKS {
            if self.of_looks.len() <= id.index() {
                self.of_looks.resize(id.index() + 1, Place::default());
            }
            self.of_looks[id.index()] = place;
        }
        Ok(place)
    }

    /// Restores the arguments that the calls of a profile had: the call site and times.
    fn take_args(&self, span: &Ordered, tools: &mut Tools<'_>) -> Result<(Option<Place>, Option<[f64; 2]>)> {
        let (trace, stream) = (self.clock.trace, &self.stream);
        let (mut fid, mut line, mut incl, mut excl) = (None, None, None, None);
        let (owner, Tools { names, args, loss }) = (span.owner(trace), tools);
        args.visit(owner, |arg| {
            match (names.resident(arg.key).unwrap_or(""), arg.value) {
                ("caller_file_id", Datum::Unsigned(id)) => fid = stream.by_id(trace, id.cast_signed()),
                ("caller_line", Datum::Unsigned(number)) => line = u32::try_from(number).ok(),
                ("incl_ticks", Datum::Float(ticks)) => incl = Some(ticks),
                ("excl_ticks", Datum::Float(ticks)) => excl = Some(ticks),
                _ => lose_arg(owner, &arg, names, loss),
            }
            Ok(())
        })?;
        let site = fid.zip(line).map(|(fid, line)| Place { fid, line });
        let stored = incl.zip(excl).filter(|_| self.clock.ticks.is_own).map(|(incl, excl)| [incl, excl]);
        Ok((site, stored))
    }
}
