//! NYTProf: a process a thread, a call a span.
//!
//! A profile tells of each call when it is entered and left, of the time between as statements, and adds everything up
//! at its end. Where a trace has such sums of its own, as those of profilers do, they are taken; for others they are
//! made of the spans. See [`lines`] for how calls come to their times.

mod files;
pub(crate) mod header;
mod lines;
mod processes;
pub(crate) mod stack;
mod subs;
pub(crate) mod sums;
mod walk;

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_model::Table;
use traceloom_nytprof::{Header, create, edit::level_of};

pub(crate) use self::walk::RUNTIME;
use self::{files::Files, header::Facts, lines::Lines, processes::Processes, subs::Subs, walk::Walk};
use traceloom_passes::{Descriptor, Gathered, Need, Request, SPAN_COLUMNS, Target, Timeline};

/// NYTProf.
#[derive(Debug)]
pub(crate) struct Nytprof;

static DESCRIPTOR: Descriptor = Descriptor::of_format(
    &traceloom_nytprof::FORMAT,
    "Devel::NYTProf's own tools (nytprofhtml, nytprofcsv, nytprofcalls): a process a thread, a call a span",
    &[
        Need::of(Table::Traces, &[]),
        Need::of(Table::Attributes, &[]),
        Need::of(Table::Processes, &[]),
        Need::of(Table::Threads, &[]),
        Need::of(Table::Definitions, &["kind", "name", "file", "line", "last_line"]),
        Need::of(Table::Files, &[]),
        Need::of(Table::Sources, &[]),
        Need::by_begin(Table::Spans, SPAN_COLUMNS),
        // Those of a profile are made of its calls.
        Need::of(Table::Frames, &["line"]),
        Need::of(Table::Stacks, &["depth"]),
        Need::of(Table::LineTimes, &[]),
        Need::of(Table::Calls, &[]),
        Need::of(Table::Args, &[]),
    ],
);

impl Target for Nytprof {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let Request { source, options, .. } = *request;
        let level = level_of(request.variant)?;
        let (limits, is_whole) = (&options.limits, options.slice == Default::default());
        let mut loss = Loss::default();
        let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
        let timeline = Timeline::new(&gathered.roster);
        let mut facts = Facts::read(source, &mut gathered, limits, &mut loss)?;
        let ticks = facts.ticks(&gathered);
        let processes = Processes::new(&gathered.roster, &timeline, &mut loss);
        facts.attributes.extend(processes.names(&gathered.roster, &mut loss));

        let mut writer = create(out, &Header::default())?;
        facts.write(ticks, level, &gathered, &timeline, &mut writer, &mut loss)?;
        let first = gathered.spans.iter(&gathered.roster)?.next().transpose()?;
        let first_ns = first.map(|span| timeline.at(gathered.roster.thread(span.thread).trace, span.ts_ns));
        let current = processes.begin(0, first_ns, &mut writer)?;
        let mut files = Files::new(source, &mut gathered, limits, &mut writer)?;
        let subs = Subs::read(source, &mut gathered, limits)?;
        let lines = Lines::read(source, &mut gathered, (is_whole, limits), ticks, &mut files, &mut writer, &mut loss)?;
        let summed = subs::summed(source, &mut gathered, is_whole, &mut loss)?;
        let mut walk = Walk::new(&mut gathered, &timeline, ticks, files, subs, lines, summed, &facts, limits)?;
        let current = walk.profile(&mut gathered, &processes, current, &mut writer, &mut loss)?;
        walk.end(source, &mut gathered, &mut writer, &mut loss)?;
        processes.end(&current, &mut writer)?;
        writer.finish()?;
        Ok(loss)
    }
}

/// The length of a tick.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    per_sec: u32,
    /// Whether it is that of the profiles themselves.
    is_own: bool,
}

impl Ticks {
    /// So many nanoseconds, to the nearest tick.
    #[inline]
    fn of(self, ns: u64) -> u64 {
        if self.per_sec == 1_000_000_000 {
            return ns;
        }
        let ticks = (u128::from(ns) * u128::from(self.per_sec) + 500_000_000) / 1_000_000_000;
        // There are no more ticks than nanoseconds, unless the profile says so.
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// Whether nothing is lost.
    #[inline]
    fn is_exact(self, ns: u64) -> bool {
        // Of a tick that is no whole number of nanoseconds, tables have the nearest.
        let is_even = self.per_sec != 0 && 1_000_000_000 % self.per_sec == 0;
        self.per_sec == 1_000_000_000 || !is_even || ns.is_multiple_of(u64::from(1_000_000_000 / self.per_sec))
    }
}
