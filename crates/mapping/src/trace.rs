//! One trace: its identity, and the path of its records to a sink.

use std::{
    fmt,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::Arc,
};

use traceloom_core::{Error, Findings, Mode, Notes, Result, Source, Turns, in_turns};
use traceloom_model::{Filter, Flow, Halt, Kept, Table, TableSink, TableSource, Tables, Wanted};
use traceloom_open::Opened;
use twox_hash::XxHash64;

use crate::{
    FORMATS,
    pipeline::{self, Outlet, Share, Step},
    prepared::{Preparation, Prepared, Shared},
    shared,
};

/// How to make tables.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How to read the file.
    pub read: traceloom_core::Options,
    /// Selects rows; others may be left out.
    pub filter: Filter,
    /// Whether evals of one call site are merged in `line_times` and `calls` (NYTProf).
    pub merge_evals: bool,
    /// Called at the end of each walk over the file with the findings of that walk.
    pub told: Option<Told>,
}

/// Gets the path of a file and the findings of a walk over it.
#[derive(Clone)]
pub struct Told(Arc<Report>);

type Report = dyn Fn(&Path, &Findings) + Send + Sync;

impl Told {
    /// Calls `report` for every walk.
    pub fn new(report: impl Fn(&Path, &Findings) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }
}

impl fmt::Debug for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Told").finish_non_exhaustive()
    }
}

/// A trace that can be converted to tables any number of times; cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Path of the file.
    pub path: PathBuf,
    /// Its format and bytes.
    pub opened: Opened,
    /// The value of `trace_id`.
    pub id: u64,
    /// How to make its tables.
    pub options: Options,
    prepared: Shared,
}

/// Opens a file and detects its format, unless `from` names it.
pub fn open(path: &Path, from: Option<&str>, options: &Options) -> Result<Trace> {
    let source = Source::open(path, &options.read.limits)?;
    Trace::new(path, source, from, options)
}

impl Trace {
    /// A trace from any source; `path` is its name.
    pub fn new(path: &Path, source: Source, from: Option<&str>, options: &Options) -> Result<Self> {
        let opened = traceloom_open::open(source, path, from, &options.read)?;
        let id = identity(&opened.source)?;
        Ok(Self { path: path.to_owned(), opened, id, options: options.clone(), prepared: Shared::default() })
    }

    /// The id of the format.
    pub fn format(&self) -> &'static str {
        self.opened.format.descriptor().id
    }

    /// The same trace, for reading a few facts: it reports no findings, which a full read will do, and no thread reads
    /// ahead of a sink that stops early.
    pub fn quiet(&self) -> impl TableSource {
        Quiet(self)
    }
}

struct Quiet<'t>(&'t Trace);

impl TableSource for Quiet<'_> {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        let Self(trace) = self;
        let mut options = Options { filter: filter.clone(), told: None, ..trace.options.clone() };
        options.read.limits.threads = 1;
        ingest(trace, &options, sink)
    }
}

impl TableSource for Trace {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        ingest(self, &Options { filter: filter.clone(), ..self.options.clone() }, sink)
    }

    fn keep(&self) -> Kept {
        self.prepared.keep()
    }
}

/// The id is derived from the contents, so that a copy or a compressed file is the same trace.
const IDENTITY_BYTES: usize = 64 << 10;

fn identity(source: &Source) -> Result<u64> {
    let length = source.len()?;
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(source.prefix(IDENTITY_BYTES)?);
    let mut last = vec![0; IDENTITY_BYTES];
    let read = source.read_full(length.saturating_sub(IDENTITY_BYTES as u64), &mut last)?;
    bytes.extend(last.iter().take(read));
    Ok(XxHash64::oneshot(0, &bytes))
}

/// The input of a mapper.
pub(crate) struct Input<'a> {
    pub(crate) source: &'a Source,
    pub(crate) path: &'a Path,
    pub(crate) options: &'a Options,
    /// Whether this walk has to find all problems of the file.
    pub(crate) is_checked: bool,
    pub(crate) share: &'a dyn Share,
    /// The data that the format prepares for the wanted columns, if they need it.
    prepared: Option<&'a Prepared>,
}

impl<'a> Input<'a> {
    /// The prepared data, of the type that the format prepares.
    pub(crate) fn prepared<T: 'static>(&self) -> Option<&'a T> {
        self.prepared?.downcast_ref()
    }
}

/// Fills the tables that the sink wants; returns early, without an error, when the sink says stop.
///
/// The rows of a trace and their ids are the same whatever is wanted, and batches are the same for any number of
/// threads. The sink stays on the caller's thread.
pub fn ingest(trace: &Trace, options: &Options, sink: &mut dyn TableSink) -> Result<()> {
    let id = trace.format();
    let mapping = FORMATS.iter().find(|mapping| mapping.format.id == id);
    let mapping = mapping.ok_or_else(|| Error::internal(format!("{id} has no tables")))?;
    let wanted = Wanted::of(sink);
    let split = mapping.split.filter(|split| (split.pays)(&wanted));
    let source = &trace.opened.source;
    let in_file = |error: Error| error.in_file(&trace.path);
    let limits = &options.read.limits;
    let walks = match limits.threads {
        0 | 1 => 0,
        _ if split.is_none() => 1,
        _ => pipeline::walks(source, limits).map_err(in_file)?,
    };
    let split = split.filter(|_| walks > 1);
    let preparation = mapping.preparation.filter(|preparation| (preparation.is_needed)(&wanted));
    let prepare = |preparation: &Preparation| trace.prepared.get_or(|| (preparation.prepare)(source, &options.read));
    let prepared = preparation.map(prepare).transpose().map_err(in_file)?;
    let mut joined = split.and_then(|split| split.join).map(|join| join(limits));
    let notes = Notes::new(walks);
    let walk = |turns: &mut Turns<'_, Step>| {
        // Checks change no row unless they refuse the file, and only the findings of the first walk are reported.
        let reports = turns.is_first() || options.read.mode == Mode::Strict;
        let is_checked = reports && !wanted.columns(Table::Findings).is_empty();
        let share = split.filter(|_| !turns.is_first()).map(|split| split.share(&wanted));
        let outlet = Outlet::new(share.unwrap_or_else(|| wanted.clone()), &wanted, turns, &notes);
        let prepared = prepared.as_ref();
        let input = Input { source, path: &trace.path, options, is_checked, share: &outlet, prepared };
        let mut sink = &outlet;
        let mut tables = Tables::new(trace.id, options.filter.clone(), &mut sink);
        let filled = (mapping.to_tables)(&input, &mut tables).and_then(|findings| {
            outlet.tell(&findings);
            shared::push_findings(&[&trace.opened.findings, &findings], &mut tables)
        });
        filled.and_then(|()| tables.finish()).or_else(Halt::into_result)
    };
    let mut take = |step| match step {
        Step::Batch(table, batch) => {
            let batch = match &mut joined {
                Some(joined) => joined.batch(table, batch)?,
                None => batch,
            };
            Ok(match sink.batch(table, batch)? {
                Flow::Continue => ControlFlow::Continue(()),
                Flow::Stop => ControlFlow::Break(()),
            })
        }
        Step::Seams(seams) => {
            let Some(joined) = &mut joined else { return Ok(ControlFlow::Continue(())) };
            seams.into_iter().try_for_each(|seam| joined.seam(seam))?;
            Ok(ControlFlow::Continue(()))
        }
        Step::Findings(findings) => {
            if let Some(Told(report)) = &options.told {
                [&trace.opened.findings, &findings].iter().for_each(|findings| report(&trace.path, findings));
            }
            Ok(ControlFlow::Continue(()))
        }
    };
    in_turns(walks, &walk, &mut take).map(drop).map_err(in_file)
}
