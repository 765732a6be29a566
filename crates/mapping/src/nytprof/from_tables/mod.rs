//! NYTProf: one process per thread, one call per span.
//!
//! A profile records when each call is entered and left, the time between as statements, and the sums of everything at
//! its end. If a trace has such sums, as those of profilers do, they are used; for other traces they are computed from
//! the spans. [`lines`] describes how calls get their times.

pub(crate) mod header;
pub(crate) mod lines;
mod processes;
pub(crate) mod stack;
mod stream;
pub(crate) mod subs;
pub(crate) mod sums;
mod walk;

use std::io::Write;

use traceloom_core::Result;
use traceloom_model::Table;
use traceloom_nytprof::{Header, create};

pub(crate) use self::walk::RUNTIME;
use self::{
    header::{Facts, max_parts},
    lines::LineRows,
    processes::Processes,
    stream::{FileRows, Stream},
    subs::{CallRows, DefinitionRows, SourceRows},
    walk::Walk,
};
use traceloom_passes::{ArgRows, AttributeRows, Need, Pass, ROSTER, SpanRows, SpanSites, Target, Writer};

pub(crate) static TARGET: Target = Target {
    about: "Devel::NYTProf's tools (nytprofhtml, nytprofcsv, nytprofcalls): one process per thread, one call per span",
    needs: &[ROSTER, SUMS, &[Need::of::<FileRows<'_>>(), Need::of::<SourceRows<'_>>(), Need::of::<ArgRows<'_>>()]],
    writer: Writer::Pass(write),
    ..Target::of_format(&traceloom_nytprof::FORMAT)
};

/// The tables that the sums of a profile are made from.
pub(crate) const SUMS: &[Need] = &[
    Need::of::<AttributeRows<'_>>(),
    Need::of::<DefinitionRows<'_>>(),
    Need::of::<SpanRows<'_>>(),
    Need::of::<SpanSites<'_>>(),
    // The frames and stacks of a profile are derived from its calls.
    Need::shown(Table::Frames),
    Need::shown(Table::Stacks),
    Need::of::<LineRows<'_>>(),
    Need::of::<CallRows<'_>>(),
];

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let mut facts = Facts::read(pass)?;
    let ticks = facts.ticks(&pass.roster, max_parts(pass.spans.len()));
    let processes = Processes::new(pass);
    facts.attributes.extend(processes.names(pass));

    let mut stream = Stream::new(create(out, &Header::default())?, &pass.options.limits);
    facts.write(ticks, pass, &mut stream)?;
    let first = pass.spans.iter(&pass.roster)?.next().transpose()?;
    let first_ns = first.map(|span| pass.timeline.at(span.ts_ns));
    let current = processes.begin(0, first_ns, &mut stream)?;
    stream.define_files(pass)?;
    let mut walk = Walk::new(pass, &facts, ticks, stream)?;
    let current = walk.profile(pass, &processes, current)?;
    let mut stream = walk.end(pass)?;
    processes.end(&current, &mut stream)?;
    stream.finish()
}

/// The length of a tick.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    per_sec: u32,
    /// Whether it is the tick of the profiles themselves.
    is_own: bool,
}

impl Ticks {
    /// A number of nanoseconds, to the nearest tick.
    #[inline]
    fn of(self, ns: u64) -> u64 {
        if self.per_sec == 1_000_000_000 {
            return ns;
        }
        let ticks = (u128::from(ns) * u128::from(self.per_sec) + 500_000_000) / 1_000_000_000;
        // There are no more ticks than nanoseconds, unless the profile says so.
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// Whether the conversion is lossless.
    #[inline]
    fn is_exact(self, ns: u64) -> bool {
        // If a tick is not a whole number of nanoseconds, the tables hold the nearest nanosecond.
        let is_even = self.per_sec != 0 && 1_000_000_000 % self.per_sec == 0;
        self.per_sec == 1_000_000_000 || !is_even || ns.is_multiple_of(u64::from(1_000_000_000 / self.per_sec))
    }
}
