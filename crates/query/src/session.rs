//! A session: inputs as tables, and queries on them.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

#[cfg(feature = "codec")]
use datafusion::execution::SessionState;
use datafusion::{
    catalog::TableProvider,
    common::DataFusionError,
    execution::{
        SessionStateBuilder,
        disk_manager::{DiskManagerBuilder, DiskManagerMode},
        memory_pool::{FairSpillPool, MemoryPool},
        runtime_env::RuntimeEnvBuilder,
    },
    logical_expr::LogicalPlan,
    prelude::{SQLOptions, SessionConfig, SessionContext},
};
use tokio::{runtime::Runtime, task::JoinHandle};
use traceloom_core::{Error, ErrorKind, Findings, Limits, Result, Source};
use traceloom_mapping::{AxisOptions, Offset, Told, Trace, TraceSet, ingest};
use traceloom_model::{Filter, Table, TableSink, TableSource};
use traceloom_passes::{Placement, Shifted};

use crate::{
    Answer, Failure,
    align::{Alignment, alignments},
    errors::{KnownNames, explain, parquet_error},
    fleet::{self, Fleet, Snapshot},
    functions,
    grouping::{GroupByIndex, GroupByNumber},
    guard,
    inputs::{Input, resolve},
    location, objects,
    recipe::Recipe,
    scan::{Part, Spread, TraceTable},
    skipped::Skipped,
    spill::SpillFolder,
    store::{Shelf, Store},
    stored, views,
};

/// Lets the caller observe reads of a file by replacing its source with one of the same bytes.
#[derive(Clone)]
pub struct Watch(Arc<Look>);

type Look = dyn Fn(Source, &Path) -> Result<Source> + Send + Sync;

impl Watch {
    /// Calls `look` for every file.
    pub fn new(look: impl Fn(Source, &Path) -> Result<Source> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

/// Options of a session.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format of all traces (default: detect).
    pub from: Option<String>,
    /// Memory limit of sorting, grouping and joining; beyond it, temporary files are used.
    pub memory_bytes: u64,
    /// Processors to use (default: all).
    pub threads: Option<usize>,
    /// Offsets for the times of traces.
    pub offsets: Vec<Offset>,
    /// Whether traces that have the time of day, or share a processor counter, are aligned on one axis.
    pub is_aligned: bool,
    /// Observes reads.
    pub watch: Option<Watch>,
    /// Called with the problems of a trace after it was read.
    pub told: Option<fn(&Path, &Findings)>,
    /// Called with the error of a named input that is left out because it cannot be opened, unless there is no other;
    /// an error that it returns ends the session. Without it, every named input must exist.
    pub failed: Option<fn(Error) -> Result<()>>,
    /// Plans queries for other processes instead of running them here.
    #[cfg(feature = "codec")]
    pub engine: Option<Engine>,
}

/// Turns the engine of a session into one that sends its plans to other processes.
#[cfg(feature = "codec")]
#[derive(Clone)]
pub struct Engine(Arc<Upgrade>);

#[cfg(feature = "codec")]
type Upgrade = dyn Fn(SessionState) -> datafusion::common::Result<SessionState> + Send + Sync;

#[cfg(feature = "codec")]
impl Engine {
    /// `upgrade` gets a state without the rules that only work within one process.
    pub fn new(
        upgrade: impl Fn(SessionState) -> datafusion::common::Result<SessionState> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(upgrade))
    }
}

#[cfg(feature = "codec")]
impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            from: None,
            memory_bytes: 1 << 30,
            threads: None,
            offsets: Vec::new(),
            is_aligned: true,
            watch: None,
            told: None,
            failed: None,
            #[cfg(feature = "codec")]
            engine: None,
        }
    }
}

/// A table or view, as data.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Relation {
    /// Name in SQL.
    pub name: String,
    /// Columns.
    pub columns: Vec<String>,
}

/// Traces and stores, ready for queries.
pub struct Session {
    pub(crate) context: SessionContext,
    /// Present until the session ends.
    runtime: Option<Runtime>,
    pub(crate) memory_bytes: u64,
    /// Present until the session ends; without a folder for temporary files, queries that need one fail.
    _spill: Option<SpillFolder>,
    pub(crate) origins: functions::Origins,
    alignments: Vec<Alignment>,
    skipped: Vec<Skipped>,
    /// Stores among the inputs.
    stores: Vec<PathBuf>,
    /// The fleet store, if it is the input.
    fleet: Option<Arc<Snapshot>>,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("alignments", &self.alignments).finish_non_exhaustive()
    }
}

impl Session {
    /// Opens files, folders of traces, patterns such as `*.prof`, and stores.
    pub fn open(paths: &[PathBuf], options: &Options) -> Result<Self> {
        let (mut traces, mut stores, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
        let mut failed = Failed { last: None, report: options.failed };
        let mut inputs = Vec::new();
        for path in paths {
            match resolve(std::slice::from_ref(path)) {
                Ok(found) => inputs.extend(found),
                Err(error) => failed.add(error)?,
            }
        }
        let is_alone = inputs.len() == 1;
        for input in inputs {
            match input {
                Input::Fleet(fleet) if is_alone => {
                    failed.finish(false)?;
                    return Self::of_fleet(&fleet, options);
                }
                Input::Fleet(fleet) => {
                    let message = "a fleet store cannot be queried together with other inputs; add traces to it with `traceloom ingest`";
                    return Err(Error::usage(message).in_file(fleet.path()));
                }
                Input::Store(store) => stores.push(store),
                Input::Trace { path, is_named } => match open(&path, options) {
                    Ok(trace) => traces.push(trace),
                    // A folder may contain other files as well.
                    Err(error) if !is_named && !matches!(error.kind(), ErrorKind::Io(_) | ErrorKind::Usage(_)) => {
                        skipped.push(Skipped { path, error });
                    }
                    Err(error) => failed.add(error)?,
                },
            }
        }
        failed.finish(traces.is_empty() && stores.is_empty())?;
        if traces.is_empty() && stores.is_empty() {
            return Err(Error::usage("no traces found in the given paths"));
        }
        let mut session = Self::new(traces, stores, options)?;
        session.skipped = skipped;
        Ok(session)
    }

    /// Creates a session from open traces and stores; a trace that is given twice is used once, because its ids would
    /// repeat.
    ///
    /// Traces in stores keep the times of their files.
    pub fn new(traces: Vec<Trace>, stores: Vec<Store>, options: &Options) -> Result<Self> {
        let mut seen = stored::trace_ids(&stores)?;
        // Several traces are read concurrently, so each gets its share of the threads.
        let share = threads(options).div_ceil(traces.len().max(1));
        let unknown = traces.into_iter().filter(|trace| seen.insert(trace.id)).map(|mut trace| {
            trace.options.read.limits.threads = share;
            trace
        });
        let axis = AxisOptions { offsets: options.offsets.clone(), is_automatic: options.is_aligned };
        let set = TraceSet::aligned(unknown, &axis)?;
        let mut session = Self::empty(options)?;
        session.alignments = alignments(&set);
        session.stores = stores.iter().map(|store| store.path().to_owned()).collect();
        session.register(&set, &stores).map_err(internal)?;
        Ok(session)
    }

    /// Creates a session for a fleet store, with its views; every trace keeps the times of its file. Each query sees the
    /// store as it is when the query is planned.
    pub fn of_fleet(fleet: &Fleet, options: &Options) -> Result<Self> {
        let mut session = Self::empty(options)?;
        session.stores.push(fleet.path().to_owned());
        let snapshot = Arc::new(Snapshot::new(fleet.clone()));
        session.register_fleet(fleet.path(), &snapshot).map_err(internal)?;
        session.fleet = Some(snapshot);
        Ok(session)
    }

    /// Creates a session without tables.
    fn empty(options: &Options) -> Result<Self> {
        let spill = SpillFolder::create_in(&std::env::temp_dir()).ok();
        Ok(Self {
            context: context(options, spill.as_ref()).map_err(internal)?,
            runtime: Some(runtime(options)?),
            memory_bytes: options.memory_bytes,
            _spill: spill,
            origins: functions::Origins::default(),
            alignments: Vec::new(),
            skipped: Vec::new(),
            stores: Vec::new(),
            fleet: None,
        })
    }

    fn register_fleet(&self, path: &Path, snapshot: &Arc<Snapshot>) -> datafusion::common::Result<()> {
        let no_text = || DataFusionError::Plan(format!("the engine does not accept the name {}", path.display()));
        let url = location::url(path).ok_or_else(no_text)?;
        fleet::register(&self.context, &url, snapshot)?;
        let spans = self.wait(self.context.table_provider(Table::Spans.name()))?;
        functions::register(&self.context, &spans, &self.origins);
        self.wait(views::register(&self.context, fleet::VIEWS))
    }

    fn register(&self, set: &TraceSet, stores: &[Store]) -> datafusion::common::Result<()> {
        let (raw, merged) = (parts(set, false), parts(set, true));
        for shelf in Shelf::all() {
            let parts = if shelf.is_merged() { &merged } else { &raw };
            let stored = stored::table(stores, shelf)?;
            let table: Arc<dyn TableProvider> =
                Arc::new(TraceTable { table: shelf.table(), parts: parts.clone(), stored, spread: Spread::Processors });
            if shelf.name() == Table::Spans.name() {
                functions::register(&self.context, &table, &self.origins);
            }
            self.context.register_table(shelf.name(), table)?;
        }
        self.wait(views::register(&self.context, &[]))
    }

    /// Waits for work of the engine.
    pub(crate) fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.as_ref().expect("it is taken when the session ends").block_on(work)
    }

    /// Starts work of the engine on one of its threads.
    pub(crate) fn spawn<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
        self.runtime.as_ref().expect("it is taken when the session ends").spawn(work)
    }

    /// Traces whose times were shifted, and why.
    pub fn alignments(&self) -> &[Alignment] {
        &self.alignments
    }

    /// Files of folders that cannot be read as traces, and why.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Starts a query.
    ///
    /// Only queries are allowed, no statements that create, change or write anything.
    pub fn ask(&self, sql: &str) -> Result<Answer<'_>, Failure> {
        let ask = || self.plan(sql).and_then(|plan| Answer::new(self, sql, plan));
        guard::with_deep_stack(ask).flatten().map_err(|error| self.failure(sql, error))
    }

    /// The query plan.
    pub fn explain(&self, sql: &str) -> Result<String, Failure> {
        let explain = || {
            let plan = self.plan(sql)?;
            let plan = self.wait(self.context.state().create_physical_plan(&plan))?;
            Ok(datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string())
        };
        guard::with_deep_stack(explain).flatten().map_err(|error| self.failure(sql, error))
    }

    /// Tables and views, for completion and for help.
    pub fn relations(&self) -> Vec<Relation> {
        let state = self.context.state();
        let schema = state.schema_for_ref("spans").ok();
        let names = schema.as_ref().map(|schema| schema.table_names()).unwrap_or_default();
        let columns = |name: &str| -> Vec<String> {
            let provider = schema.as_ref().and_then(|schema| self.wait(schema.table(name)).ok().flatten());
            let schema = provider.map(|provider| provider.schema());
            schema.map(|schema| schema.fields().iter().map(|field| field.name().clone()).collect()).unwrap_or_default()
        };
        let mut relations: Vec<_> = names.into_iter().map(|name| Relation { columns: columns(&name), name }).collect();
        relations.sort_by(|one, other| one.name.cmp(&other.name));
        relations
    }

    /// Names of all functions.
    pub fn functions(&self) -> Vec<String> {
        let state = self.context.state();
        let scalar = state.scalar_functions().keys();
        let others = state
            .aggregate_functions()
            .keys()
            .chain(state.window_functions().keys())
            .chain(state.table_functions().keys());
        let mut names: Vec<String> = scalar.chain(others).cloned().collect();
        names.sort();
        names.dedup();
        names
    }

    /// Updates the list of files, if the session has a fleet store; otherwise returns `false`.
    pub(crate) fn refresh(&self) -> Result<bool, DataFusionError> {
        let Some(fleet) = &self.fleet else { return Ok(false) };
        if fleet.refresh().map_err(|error| DataFusionError::External(Box::new(error)))? {
            self.origins.expire();
        }
        Ok(true)
    }

    fn plan(&self, sql: &str) -> Result<LogicalPlan, DataFusionError> {
        guard::check_text(sql)?;
        self.refresh()?;
        let sql = if is_show_tables(sql) { SHOW_TABLES } else { sql };
        let state = self.context.state();
        let statement = state.sql_to_statement(sql, &state.config_options().sql_parser.dialect)?;
        guard::check_uses(&statement)?;
        let plan = self.wait(state.statement_to_plan(statement))?;
        let plan = guard::bounded(plan, self.memory_bytes)?;
        SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false)
            .verify_plan(&plan)?;
        if functions::needs_origins(&plan)? {
            self.origins.fill(self)?;
        }
        Ok(plan)
    }

    pub(crate) fn failure(&self, sql: &str, error: DataFusionError) -> Failure {
        #[cfg(feature = "codec")]
        let error = crate::errors::arrived_error(error);
        if let Some(reason) = parquet_error(&error)
            && let Some(error) = stored::damage(&self.stores, &reason)
        {
            return Failure::Trace(error);
        }
        let tables = self.relations().into_iter().map(|relation| relation.name).collect();
        explain(sql, error, &KnownNames { tables, functions: self.functions(), memory_bytes: self.memory_bytes })
    }
}

/// Inputs that cannot be opened. The last one is held back, because it is the error of a session without inputs.
struct Failed {
    last: Option<Error>,
    report: Option<fn(Error) -> Result<()>>,
}

impl Failed {
    fn add(&mut self, error: Error) -> Result<()> {
        let Some(report) = self.report else { return Err(error) };
        self.last.replace(error).map_or(Ok(()), report)
    }

    fn finish(self, is_empty: bool) -> Result<()> {
        let report = self.report.filter(|_| !is_empty).unwrap_or(Err);
        self.last.map_or(Ok(()), report)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // A parser without a receiver stops automatically, so there is no need to wait for it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// The traces of a set, each as a source with its times on the axis.
fn parts(set: &TraceSet, is_merged: bool) -> Vec<Arc<Part>> {
    let placed = set.traces().iter().zip(set.axis().placements());
    let part = |(trace, placement): (&Arc<Trace>, &Placement)| Part {
        source: Arc::new(Shifted { source: Reading { trace: Arc::clone(trace), is_merged }, placement: *placement }),
        trace_id: trace.id,
        bytes: trace.opened.source.len().unwrap_or(0),
        recipe: Recipe::of(trace, placement, is_merged),
        came_by_plan: false,
    };
    placed.map(|placed| Arc::new(part(placed))).collect()
}

/// Opens a trace that a session may read.
fn open(path: &Path, options: &Options) -> Result<Trace> {
    let reading = traceloom_mapping::Options { told: options.told.map(Told::new), ..Default::default() };
    let mut trace = location::trace(path, options.from.as_deref(), &reading)?;
    if let Some(Watch(look)) = &options.watch {
        trace.opened.source = look(trace.opened.source, path)?;
    }
    Ok(trace)
}

fn runtime(options: &Options) -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(threads(options)).thread_name("query").enable_all();
    builder.thread_stack_size(guard::STACK_BYTES);
    Ok(builder.build()?)
}

fn threads(options: &Options) -> usize {
    options.threads.unwrap_or_else(|| Limits::default().threads).max(1)
}

fn context(options: &Options, spill: Option<&SpillFolder>) -> datafusion::common::Result<SessionContext> {
    let config = SessionConfig::new()
        .with_target_partitions(threads(options))
        .with_information_schema(true)
        .set_bool("datafusion.sql_parser.collect_spans", true);
    let memory = usize::try_from(options.memory_bytes).unwrap_or(usize::MAX);
    let pool: Arc<dyn MemoryPool> = Arc::new(FairSpillPool::new(memory));
    let folders = spill.map(|spill| DiskManagerMode::Directories(vec![spill.path().to_owned()]));
    let disk = DiskManagerBuilder::default().with_mode(folders.unwrap_or(DiskManagerMode::Disabled));
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(&pool)).with_disk_manager_builder(disk);
    let runtime = runtime.with_object_store_registry(objects::object_stores()).build_arc()?;
    let builder = SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).with_default_features();
    #[cfg(feature = "codec")]
    if let Some(Engine(upgrade)) = &options.engine {
        return Ok(SessionContext::new_with_state(upgrade(builder.build())?));
    }
    // Names are numbered per process, so plans with these rules cannot be sent to other processes.
    let builder = builder
        .with_optimizer_rule(Arc::new(GroupByNumber { pool }))
        .with_physical_optimizer_rule(Arc::new(GroupByIndex));
    Ok(SessionContext::new_with_state(builder.build()))
}

/// Without the schemas of the engine.
const SHOW_TABLES: &str =
    "select table_name as name from information_schema.tables where table_schema = 'public' order by 1";

fn is_show_tables(sql: &str) -> bool {
    let words = sql.trim().trim_end_matches(';').split_whitespace();
    words.map(str::to_lowercase).eq(["show", "tables"])
}

/// An error before there is a query is not the caller's fault.
fn internal(error: DataFusionError) -> Error {
    Error::internal(format!("the engine cannot start: {}", error.strip_backtrace()))
}

/// A trace, and whether evals of one line are merged.
struct Reading {
    trace: Arc<Trace>,
    is_merged: bool,
}

impl TableSource for Reading {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        let Self { trace, is_merged } = self;
        let options = trace.options.clone();
        ingest(trace, &traceloom_mapping::Options { filter: filter.clone(), merge_evals: *is_merged, ..options }, sink)
    }
}
