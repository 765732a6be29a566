//! Spans as calls: entered, left, and added up.

use std::io::Write;

use traceloom_core::{Limits, Loss, Result};
use traceloom_model::{Table, TableSource};
use traceloom_nytprof::{Nv, Record, Str, SubEntry, SubReturn, Writer};

use super::{
    Ticks,
    files::Files,
    header::Facts,
    lines::{Lines, tell},
    processes::{Current, Processes},
    stack::{Open, Stack},
    subs::{Subs, text},
    sums::{Edge, Place, Sums},
};
use traceloom_passes::{Args, Datum, Gathered, Layer, Look, LookId, NameId, NamePool, Ordered, Timeline, phrase};

/// The name of the program itself, which calls what nobody else does.
pub(crate) const RUNTIME: &str = "main::RUNTIME";

/// A call that is open.
#[derive(Clone, Copy, Debug)]
struct Call {
    name: NameId,
    /// Where it is, which is where its time goes.
    place: Place,
    /// Where it was called.
    site: Place,
    begin_ticks: u64,
    children_ticks: u64,
    /// What a profile has that is no whole number of ticks.
    stored: Option<[f64; 2]>,
}

/// The walk over all spans.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    timeline: &'a Timeline,
    clock: Clock,
    files: Files,
    subs: Subs,
    sums: Sums,
    /// Traces that have sums of their own.
    summed: Vec<bool>,
    facts: &'a Facts,
    /// Whether the calls of the current trace are told when they begin.
    tells_entries: bool,
    runtime: NameId,
    /// The place of each look among the first ones.
    of_looks: Vec<Place>,
}

/// Looks whose places are found without hashing.
const QUICK_LOOKS: usize = 1 << 18;

/// The clock of the process that is under way.
#[derive(Debug)]
struct Clock {
    ticks: Ticks,
    lines: Lines,
    trace: usize,
    /// When the process began, in the time of the output.
    begin_ns: u64,
    now: u64,
}

impl Clock {
    /// Moves on, as far as lines tell where the time went; gives the ticks that they do not explain.
    fn pass<W: Write>(&mut self, ns: u64, writer: &mut Writer<W>) -> Result<u64> {
        let then = self.ticks.of(ns.saturating_sub(self.begin_ns));
        let Some(gap @ 1..) = then.checked_sub(self.now) else { return Ok(0) };
        self.now = then;
        self.lines.pass(self.trace, gap, writer)
    }
}

impl<'a> Walk<'a> {
    #[expect(clippy::too_many_arguments, reason = "it is one pass with all that the target has")]
    pub(super) fn new(
        gathered: &mut Gathered,
        timeline: &'a Timeline,
        ticks: Ticks,
        files: Files,
        subs: Subs,
        lines: Lines,
        summed: Vec<bool>,
        facts: &'a Facts,
        limits: &Limits,
    ) -> Result<Self> {
        let clock = Clock { ticks, lines, trace: 0, begin_ns: 0, now: 0 };
        let (sums, runtime) = (Sums::new(limits.entries), gathered.names.intern(RUNTIME)?);
        let (tells_entries, of_looks) = (true, Vec::new());
        Ok(Self { timeline, clock, files, subs, sums, summed, facts, tells_entries, runtime, of_looks })
    }

    /// Writes the calls of all processes; the last one, which is given back, still has no end.
    pub(super) fn profile<W: Write>(
        &mut self,
        gathered: &mut Gathered,
        processes: &Processes,
        mut current: Current,
        writer: &mut Writer<W>,
        loss: &mut Loss,
    ) -> Result<Current> {
        let Gathered { roster, names, looks, spans, args, .. } = gathered;
        let mut spans = spans.iter(roster)?.peekable();
        let trace_of = |number: usize| {
            let process = processes.list.get(number)?;
            Some(process.thread.map_or(0, |index| roster.thread(index).trace))
        };
        for (number, process) in processes.list.iter().enumerate() {
            self.clock.trace = trace_of(number).unwrap_or(0);
            if number > 0 {
                processes.end(&current, writer)?;
                let first = spans.peek().and_then(|span| span.as_ref().ok());
                let first = first.filter(|span| Some(span.thread) == process.thread);
                let first_ns = first.map(|span| self.timeline.at(self.clock.trace, span.ts_ns));
                current = processes.begin(number, first_ns, writer)?;
            }
            (self.clock.begin_ns, self.clock.now) = (current.begin_ns, 0);
            self.tells_entries = self.facts.tells_entries(self.clock.trace);
            let mut stack = Stack::default();
            while let Some(span) =
                spans.next_if(|span| span.as_ref().map_or(true, |span| Some(span.thread) == process.thread))
            {
                let span = span?;
                if span.layer != Layer::Stack {
                    loss.lose("frames and ranges of time", || format!("spans {}", span.id));
                    continue;
                }
                let look = looks.get(span.look)?;
                stack.advance(&span, |over, around| self.leave(&over, around, names, writer))?;
                self.enter(&span, &look, &mut stack, (&mut *args, &mut *names), writer, loss)?;
            }
            stack.finish(|over, around| self.leave(&over, around, names, writer))?;
            if trace_of(number + 1) != Some(self.clock.trace) {
                let drained = self.clock.lines.drain(self.clock.trace, writer)?;
                self.clock.now = self.clock.now.saturating_add(drained);
            }
            current.ran_seconds = self.clock.now as f64 / f64::from(self.clock.ticks.per_sec);
        }
        Ok(current)
    }

    /// Writes what stands behind all calls.
    pub(super) fn end<W: Write>(
        self,
        source: &dyn TableSource,
        gathered: &mut Gathered,
        writer: &mut Writer<W>,
        loss: &mut Loss,
    ) -> Result<()> {
        let Self { subs, mut files, sums, summed, .. } = self;
        subs.write(source, gathered, &mut files, (&sums.finish(), &summed), writer, loss)
    }

    /// Moves on to a time. What no line explains goes to the place of the call, unless the trace has times of lines of
    /// its own, which it would spoil.
    fn pass<W: Write>(&mut self, ns: u64, place: Option<Place>, writer: &mut Writer<W>) -> Result<()> {
        let left = self.clock.pass(ns, writer)?;
        if left == 0 {
            return Ok(());
        }
        let place = match place.filter(|_| !self.clock.lines.knows(self.clock.trace)) {
            Some(place) => place,
            None => self.files.stand_in(self.runtime, writer)?,
        };
        tell(place, left, &mut 1, writer)
    }

    fn enter<W: Write>(
        &mut self,
        span: &Ordered,
        look: &Look,
        stack: &mut Stack<Call>,
        (args, names): (&mut Args, &mut NamePool),
        writer: &mut Writer<W>,
        loss: &mut Loss,
    ) -> Result<()> {
        let trace = self.clock.trace;
        self.count(span, loss);
        let around = stack.open().last().map(|open| open.item.place);
        let place = self.place(span.look, look, names, writer, loss)?;
        self.pass(self.timeline.at(trace, span.ts_ns), around, writer)?;
        let (site, stored) = self.take_args(span, args, names, loss)?;
        // What is cut takes less than the profile says.
        let is_cut = stack.open().last().is_some_and(|outer| span.end_ns > outer.end_ns);
        let stored = stored.filter(|_| !is_cut);
        let site = match site.or(around) {
            Some(site) => site,
            None => self.files.stand_in(self.runtime, writer)?,
        };
        let call = Call { name: look.name, place, site, begin_ticks: self.clock.now, children_ticks: 0, stored };
        if self.tells_entries {
            let Place { fid, line } = call.site;
            writer.write(&Record::SubEntry(SubEntry { caller_fid: fid, caller_line: line, odd_bytes: None }))?;
        }
        if stack.begin(span, call) {
            loss.lose("ends of spans that reach out of the one around them", || format!("spans {}", span.id));
        }
        if !self.summed[trace] {
            self.sums.enter(look.name);
        }
        Ok(())
    }

    fn leave<W: Write>(
        &mut self,
        over: &Open<Call>,
        around: &mut [Open<Call>],
        names: &mut NamePool,
        writer: &mut Writer<W>,
    ) -> Result<()> {
        let (call, trace) = (over.item, self.clock.trace);
        self.pass(self.timeline.at(trace, over.end_ns), Some(call.place), writer)?;
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
        writer.write(&Record::SubReturn(SubReturn { depth, incl_ticks, excl_ticks, name, odd_bytes: None }))?;
        match self.summed[trace] {
            true => Ok(()),
            false => self.sums.leave(Edge { callee: call.name, place: call.site, caller }, over.times_ns()),
        }
    }

    /// Counts what a call cannot say of a span.
    fn count(&self, span: &Ordered, loss: &mut Loss) {
        if span.dur_ns.is_none() {
            loss.lose("that spans were never closed", || format!("spans {}", span.id));
        }
        let is_exact = |ts_ns| {
            let ns = self.timeline.at(self.clock.trace, ts_ns).saturating_sub(self.clock.begin_ns);
            self.clock.ticks.is_exact(ns)
        };
        if !is_exact(span.ts_ns) || !is_exact(span.end_ns) {
            loss.lose("parts of times below a tick", || format!("spans {}", span.id));
        }
    }

    #[inline]
    fn place<W: Write>(
        &mut self,
        id: LookId,
        look: &Look,
        names: &mut NamePool,
        writer: &mut Writer<W>,
        loss: &mut Loss,
    ) -> Result<Place> {
        match self.of_looks.get(id.index()) {
            Some(place) if place.fid != 0 => Ok(*place),
            _ => self.find_place(id, look, names, writer, loss),
        }
    }

    #[cold]
    fn find_place<W: Write>(
        &mut self,
        id: LookId,
        look: &Look,
        names: &mut NamePool,
        writer: &mut Writer<W>,
        loss: &mut Loss,
    ) -> Result<Place> {
        if names.get(look.name)?.is_empty() {
            loss.lose("empty names", || "of a span".to_owned());
        }
        self.subs.note(look, loss)?;
        let place = self.files.of_look(look, names, writer)?;
        if id.index() < QUICK_LOOKS {
            if self.of_looks.len() <= id.index() {
                self.of_looks.resize(id.index() + 1, Place::default());
            }
            self.of_looks[id.index()] = place;
        }
        Ok(place)
    }

    /// The arguments that a profile gave its calls go back to where they were: the place of the call, and times.
    fn take_args(
        &self,
        span: &Ordered,
        args: &mut Args,
        names: &NamePool,
        loss: &mut Loss,
    ) -> Result<(Option<Place>, Option<[f64; 2]>)> {
        let (trace, files) = (self.clock.trace, &self.files);
        let (mut fid, mut line, mut incl, mut excl) = (None, None, None, None);
        args.visit(Table::Spans, trace, span.id, |arg| {
            match (names.resident(arg.key).unwrap_or(""), arg.value) {
                ("caller_file_id", Datum::Unsigned(id)) => fid = files.by_id(trace, id.cast_signed()),
                ("caller_line", Datum::Unsigned(number)) => line = u32::try_from(number).ok(),
                ("incl_ticks", Datum::Float(ticks)) => incl = Some(ticks),
                ("excl_ticks", Datum::Float(ticks)) => excl = Some(ticks),
                (key, _) => loss.lose(phrase(Table::Args), || format!("{key} of spans {}", span.id)),
            }
            Ok(())
        })?;
        let site = fid.zip(line).map(|(fid, line)| Place { fid, line });
        let stored = incl.zip(excl).filter(|_| self.clock.ticks.is_own).map(|(incl, excl)| [incl, excl]);
        Ok((site, stored))
    }
}
