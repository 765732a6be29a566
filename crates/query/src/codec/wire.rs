//! Tables and operators as data.

use std::{sync::Arc, time::SystemTime};

use datafusion::{
    catalog::TableProvider,
    common::{Result, internal_datafusion_err, internal_err, plan_datafusion_err},
    datasource::listing::ListingTable,
    physical_plan::ExecutionPlan,
};
use serde::{Deserialize, Serialize};
use traceloom_core::TimeRange;
use traceloom_mapping::Told;
use traceloom_model::{Filter, Table};

use super::{prepared::Prepared, tasks::TasksExec};
use crate::{
    bounds::Bounds,
    fleet::{Fleet, FleetProvider, FleetTable, Manifest, Snapshot},
    functions::{AnyLookup, LookupExec, LookupTable},
    recipe::Recipe,
    scan::{Part, Request, Spread, TraceTable},
    stored,
};

/// One of our tables.
#[derive(Deserialize, Serialize)]
pub(super) enum AnyTable {
    Fleet(FleetFiles),
    Traces(Traces),
    Lookup { spans: Box<AnyTable>, lookup: AnyLookup },
}

impl AnyTable {
    /// `None` for a table that is not ours.
    pub(super) fn of(table: &dyn TableProvider) -> Result<Option<Self>> {
        if let Some(table) = table.downcast_ref::<TraceTable>() {
            return Traces::of(table).map(|traces| Some(Self::Traces(traces)));
        }
        if let Some(table) = table.downcast_ref::<FleetProvider>() {
            return Ok(Some(Self::Fleet(FleetFiles::of(table))));
        }
        let Some(LookupTable { spans, lookup, .. }) = table.downcast_ref() else { return Ok(None) };
        let Some(spans) = Self::of(spans.as_ref())? else { return internal_err!("a lookup must be over spans") };
        Ok(Some(Self::Lookup { spans: Box::new(spans), lookup: lookup.clone() }))
    }

    pub(super) fn provider(self) -> Result<Arc<dyn TableProvider>> {
        Ok(match self {
            Self::Fleet(files) => Arc::new(files.table()?),
            Self::Traces(traces) => Arc::new(traces.table()?),
            Self::Lookup { spans, lookup } => Arc::new(LookupTable::new(&spans.provider()?, lookup)),
        })
    }
}

/// [`FleetProvider`], with the files of its table.
#[derive(Deserialize, Serialize)]
pub(super) struct FleetFiles {
    url: String,
    table: String,
    manifest: Manifest,
    changed: SystemTime,
}

impl FleetFiles {
    fn of(provider: &FleetProvider) -> Self {
        let FleetProvider { url, table, snapshot, .. } = provider;
        let fleet = snapshot.fleet();
        let manifest = fleet.manifest().only(*table);
        Self { url: url.clone(), table: table.name().to_owned(), manifest, changed: fleet.changed() }
    }

    fn table(self) -> Result<FleetProvider> {
        let Self { url, table, manifest, changed } = self;
        let table = FleetTable::by_name(&table).ok_or_else(|| internal_datafusion_err!("no table {table:?}"))?;
        let fleet = Fleet::sent(&url, manifest, changed);
        Ok(FleetProvider::new(url, table, Arc::new(Snapshot::new(fleet))))
    }
}

/// [`TraceTable`].
#[derive(Deserialize, Serialize)]
pub(super) struct Traces {
    table: String,
    parts: Vec<Described>,
    /// The Parquet files of stores.
    stored: Vec<String>,
}

impl Traces {
    fn of(table: &TraceTable) -> Result<Self> {
        let stored = match &table.stored {
            Some(stored) => match stored.downcast_ref::<ListingTable>() {
                Some(listing) => listing.table_paths().iter().map(ToString::to_string).collect(),
                None => return internal_err!("a store must be a list of files"),
            },
            None => Vec::new(),
        };
        Ok(Self { table: table.table.name().to_owned(), parts: described(&table.parts)?, stored })
    }

    fn table(self) -> Result<TraceTable> {
        let table = by_name(&self.table)?;
        let stored = stored::listing(&self.stored, table)?;
        Ok(TraceTable { table, parts: parts(self.parts, None), stored, spread: Spread::Tasks })
    }
}

/// [`Part`].
#[derive(Deserialize, Serialize)]
pub(super) struct Described {
    trace_id: u64,
    bytes: u64,
    recipe: Recipe,
}

pub(super) fn described(parts: &[Arc<Part>]) -> Result<Vec<Described>> {
    let described = |part: &Arc<Part>| {
        let recipe = part.recipe.clone();
        let recipe = recipe.ok_or_else(|| plan_datafusion_err!("standard input cannot be read by other machines"))?;
        Ok(Described { trace_id: part.trace_id, bytes: part.bytes, recipe })
    };
    parts.iter().map(described).collect()
}

/// Problems are reported to `told` when a part is read.
pub(super) fn parts(described: Vec<Described>, told: Option<&Told>) -> Vec<Arc<Part>> {
    let part = |Described { trace_id, bytes, recipe }| {
        let source = Arc::new(Prepared { recipe: recipe.clone(), trace_id, told: told.cloned() });
        Arc::new(Part { source, trace_id, bytes, recipe: Some(recipe), came_by_plan: true })
    };
    described.into_iter().map(part).collect()
}

fn by_name(name: &str) -> Result<Table> {
    let table = Table::ALL.into_iter().find(|table| table.name() == name);
    table.ok_or_else(|| internal_datafusion_err!("no table {name:?}"))
}

/// One of our operators.
#[derive(Deserialize, Serialize)]
pub(super) enum AnyExec {
    Scan(Scan),
    Lookup { lookup: AnyLookup, columns: Vec<String> },
}

/// [`TasksExec`].
#[derive(Deserialize, Serialize)]
pub(super) struct Scan {
    table: String,
    columns: Vec<usize>,
    from_ns: Option<i64>,
    to_ns: Option<i64>,
    threads: Option<Vec<i64>>,
    traces: Option<Vec<u64>>,
    limit: Option<usize>,
}

impl AnyExec {
    /// `None` for an operator that is not ours.
    pub(super) fn of(plan: &dyn ExecutionPlan) -> Result<Option<Self>> {
        if let Some(LookupExec { lookup, schema, .. }) = plan.downcast_ref() {
            let columns = schema.fields().iter().map(|field| field.name().clone()).collect();
            return Ok(Some(Self::Lookup { lookup: lookup.clone(), columns }));
        }
        let Some(scan) = plan.downcast_ref::<TasksExec>() else { return Ok(None) };
        let Request { table, projection, bounds, limit, .. } = &scan.request;
        let Bounds { filter: Filter { range, threads }, traces } = bounds.clone();
        Ok(Some(Self::Scan(Scan {
            table: table.name().to_owned(),
            columns: projection.clone(),
            from_ns: range.from_ns(),
            to_ns: range.to_ns(),
            threads,
            traces,
            limit: *limit,
        })))
    }

    pub(super) fn plan(self, inputs: &[Arc<dyn ExecutionPlan>]) -> Result<Arc<dyn ExecutionPlan>> {
        match (self, inputs) {
            (Self::Lookup { lookup, columns }, [keys, rows]) => {
                let schema = LookupTable::schema_of(&rows.schema(), &lookup);
                let columns = columns.iter().map(|name| schema.index_of(name)).collect::<Result<Vec<_>, _>>()?;
                let schema = Arc::new(schema.project(&columns)?);
                Ok(Arc::new(LookupExec::new(Arc::clone(keys), Arc::clone(rows), lookup, schema)))
            }
            (Self::Scan(scan), [tasks]) => Ok(Arc::new(TasksExec::new(Arc::clone(tasks), scan.request()?))),
            _ => internal_err!("received an operator with the wrong number of inputs"),
        }
    }
}

impl Scan {
    fn request(self) -> Result<Request> {
        let table = by_name(&self.table)?;
        let filter = Filter { range: TimeRange::new(self.from_ns, self.to_ns), threads: self.threads };
        let bounds = Bounds { filter, traces: self.traces };
        if let Some(wrong) = self.columns.iter().find(|column| **column >= table.columns().len()) {
            return internal_err!("{} has no column {wrong}", table.name());
        }
        Request::new(table, self.columns, bounds, self.limit)
    }
}
