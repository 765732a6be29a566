//! A table of traces that are read in place; each scan is a pass over the files.

use std::{fmt, pin::Pin, sync::Arc};

use arrow_array::{RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use datafusion::{
    catalog::{Session, TableProvider},
    common::{DataFusionError, Result, Statistics, stats::Precision},
    execution::{SendableRecordBatchStream, TaskContext},
    logical_expr::{Expr, TableProviderFilterPushDown, TableType},
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
        metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet},
        stream::RecordBatchReceiverStreamBuilder,
        union::UnionExec,
    },
};
use tokio::sync::mpsc::Sender;
use traceloom_model::{Columns, Flow, Table, TableSink, TableSource};

use crate::{
    bounds::Bounds,
    errors::departing_error,
    operator::{streaming, without_expressions},
    recipe::Recipe,
};

/// One trace of a scan.
pub(crate) struct Part {
    /// Its tables, with times on the axis of the session.
    pub(crate) source: Arc<dyn TableSource + Send + Sync>,
    pub(crate) trace_id: u64,
    /// Length of the file, from which the engine estimates the size of a table.
    pub(crate) bytes: u64,
    /// How another process opens the same trace; `None` if it cannot.
    #[cfg_attr(not(feature = "codec"), expect(dead_code))]
    pub(crate) recipe: Option<Recipe>,
    /// Whether another process planned the scan and gets errors as text.
    pub(crate) came_by_plan: bool,
}

impl Part {
    /// Wraps an error of this trace for the engine.
    fn failure(&self, error: traceloom_core::Error) -> DataFusionError {
        if self.came_by_plan { departing_error(&error) } else { DataFusionError::External(Box::new(error)) }
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("trace_id", &self.trace_id).finish_non_exhaustive()
    }
}

/// One table of all inputs, from traces and stores.
#[derive(Debug)]
pub(crate) struct TraceTable {
    pub(crate) table: Table,
    pub(crate) parts: Vec<Arc<Part>>,
    pub(crate) stored: Option<Arc<dyn TableProvider>>,
    /// How many parts are read concurrently.
    pub(crate) spread: Spread,
}

/// How many partitions a scan has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Spread {
    /// One per processor of the engine, because each active part holds a parser.
    Processors,
    /// One per trace, because partitions are tasks for many machines.
    #[cfg(feature = "codec")]
    Tasks,
}

/// The return type that `async_trait` generates; written out, because proving that such a future is `Send` takes the
/// compiler seconds per method.
type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl TableProvider for TraceTable {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // A store skips row groups by any filter; all filters are also applied above the scan.
        let useful = |filter: &&Expr| self.stored.is_some() || Bounds::default().take(filter);
        let push = |filter| {
            if useful(filter) { TableProviderFilterPushDown::Inexact } else { TableProviderFilterPushDown::Unsupported }
        };
        Ok(filters.iter().map(push).collect())
    }

    fn scan<'s, 'a, 'p, 'f, 'async_trait>(
        &'s self,
        state: &'a dyn Session,
        projection: Option<&'p Vec<usize>>,
        filters: &'f [Expr],
        limit: Option<usize>,
    ) -> Boxed<'async_trait, Result<Arc<dyn ExecutionPlan>>>
    where
        's: 'async_trait,
        'a: 'async_trait,
        'p: 'async_trait,
        'f: 'async_trait,
        Self: 'async_trait,
    {
        let own = self.plan(state.config().target_partitions(), projection, filters, limit);
        let Some(stored) = &self.stored else { return Box::pin(std::future::ready(own)) };
        let stored = stored.scan(state, projection, filters, limit);
        if self.parts.is_empty() {
            stored
        } else {
            Box::pin(async move { UnionExec::try_new(vec![own?, stored.await?]) })
        }
    }
}

impl TraceTable {
    fn plan(
        &self,
        processors: usize,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut bounds = Bounds::default();
        for filter in filters {
            bounds.take(filter);
        }
        let projection = projection.cloned().unwrap_or_else(|| (0..self.table.columns().len()).collect());
        let parts: Vec<_> = self.parts.iter().filter(|part| bounds.takes_trace(part.trace_id)).cloned().collect();
        let request = Request::new(self.table, projection, bounds, limit)?;
        match self.spread {
            Spread::Processors => {
                let partitions = parts.len().clamp(1, processors.max(1));
                Ok(Arc::new(TraceExec::new(parts, request, partitions)))
            }
            #[cfg(feature = "codec")]
            Spread::Tasks => Ok(Arc::new(crate::codec::TasksExec::of(&parts, request)?)),
        }
    }
}

/// The request of a scan.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) table: Table,
    pub(crate) projection: Vec<usize>,
    pub(crate) bounds: Bounds,
    pub(crate) limit: Option<usize>,
    schema: SchemaRef,
}

impl Request {
    /// The columns are indexes into the columns of the table.
    pub(crate) fn new(table: Table, projection: Vec<usize>, bounds: Bounds, limit: Option<usize>) -> Result<Self> {
        let schema = Arc::new(table.schema().project(&projection)?);
        Ok(Self { table, projection, bounds, limit, schema })
    }

    /// The output columns.
    #[cfg(feature = "codec")]
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// An estimate is enough; it determines which side of a join is held in memory.
    pub(crate) fn rows(&self, parts: &[Arc<Part>]) -> Precision<usize> {
        let bytes: u64 = parts.iter().map(|part| part.bytes).sum();
        match self.table {
            Table::Traces => Precision::Inexact(parts.len()),
            Table::Attributes | Table::Processes | Table::Threads | Table::Files | Table::Resources => {
                Precision::Inexact(20 * parts.len())
            }
            Table::Definitions | Table::Frames | Table::Stacks | Table::Findings => {
                Precision::Inexact(bytes as usize / 1000)
            }
            _ => Precision::Inexact(bytes as usize / 40),
        }
    }

    /// The columns that a source has to produce.
    fn columns(&self) -> Columns {
        // If no column is requested, rows are only counted, but one column is needed to have rows at all.
        Columns::of(if self.projection.is_empty() { &[0] } else { &self.projection })
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bounds, limit, schema, .. } = self;
        let columns: Vec<_> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        write!(f, "columns=[{}]{bounds}", columns.join(", "))?;
        limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }
}

/// Number of batches buffered between a parser and the engine, so that neither waits for each batch.
const WAITING: usize = 4;

#[derive(Debug)]
pub(crate) struct TraceExec {
    pub(crate) parts: Vec<Arc<Part>>,
    pub(crate) request: Arc<Request>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl TraceExec {
    pub(crate) fn new(parts: Vec<Arc<Part>>, request: Request, partitions: usize) -> Self {
        let properties = streaming(Arc::clone(&request.schema), partitions);
        Self { parts, request: Arc::new(request), properties, metrics: ExecutionPlanMetricsSet::new() }
    }

    /// The parts of a partition, in the order given.
    fn share(&self, partition: usize) -> Vec<Arc<Part>> {
        let partitions = self.properties.partitioning.partition_count();
        self.parts.iter().skip(partition).step_by(partitions).cloned().collect()
    }
}

impl DisplayAs for TraceExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TraceExec: {}, traces={}, {}", self.request.table.name(), self.parts.len(), self.request)
    }
}

impl ExecutionPlan for TraceExec {
    without_expressions!("TraceExec");

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let mut builder = RecordBatchReceiverStreamBuilder::new(Arc::clone(&self.request.schema), WAITING);
        let (parts, request, out) = (self.share(partition), Arc::clone(&self.request), builder.tx());
        let rows = MetricBuilder::new(&self.metrics).output_rows(partition);
        builder.spawn_blocking(move || pour(&parts, &request, out, rows));
        Ok(builder.build())
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.request.schema);
        statistics.num_rows = match partition {
            Some(partition) => self.request.rows(&self.share(partition)),
            None => self.request.rows(&self.parts),
        };
        Ok(Arc::new(statistics))
    }
}

/// Reads parts one after the other until their rows are no longer needed.
fn pour(parts: &[Arc<Part>], request: &Request, out: Sender<Result<RecordBatch>>, rows: Count) -> Result<()> {
    let mut left = request.limit.unwrap_or(usize::MAX);
    for part in parts {
        let mut sink = Sink { request, out: &out, rows: &rows, left, failure: None };
        part.source.pour(request.bounds.filter(), &mut sink).map_err(|error| part.failure(error))?;
        if let Some(failure) = sink.failure {
            return Err(failure);
        }
        left = sink.left;
        if left == 0 {
            break;
        }
    }
    Ok(())
}

struct Sink<'a> {
    request: &'a Request,
    out: &'a Sender<Result<RecordBatch>>,
    rows: &'a Count,
    /// Number of rows still needed.
    left: usize,
    failure: Option<DataFusionError>,
}

impl Sink<'_> {
    /// The batch with the columns in the order requested by the engine.
    fn arranged(&self, batch: RecordBatch) -> Result<RecordBatch> {
        let (request, rows) = (self.request, batch.num_rows().min(self.left));
        let batch = batch.slice(0, rows);
        let number = |field: &Arc<arrow_schema::Field>| batch.schema_ref().index_of(field.name());
        let order = request.schema.fields().iter().map(number).collect::<Result<Vec<_>, _>>()?;
        let columns = order.iter().map(|number| Arc::clone(batch.column(*number))).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&request.schema), columns, &options)?)
    }
}

impl TableSink for Sink<'_> {
    fn wants(&self, table: Table) -> Columns {
        if table == self.request.table { self.request.columns() } else { Columns::NONE }
    }

    fn batch(&mut self, _: Table, batch: RecordBatch) -> traceloom_core::Result<Flow> {
        let batch = match self.arranged(batch) {
            Ok(batch) => batch,
            Err(error) => {
                self.failure = Some(error);
                return Ok(Flow::Stop);
            }
        };
        self.left -= batch.num_rows();
        self.rows.add(batch.num_rows());
        // The receiver is gone if the engine has enough rows.
        if self.out.blocking_send(Ok(batch)).is_err() {
            self.left = 0;
        }
        if self.left == 0 { Ok(Flow::Stop) } else { Ok(Flow::Continue) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use datafusion::prelude::SessionContext;
    use traceloom_model::Filter;
    use traceloom_passes::{Placement, Shifted};

    use traceloom_core::TimeRange;

    use super::*;

    /// Returns no rows and records the requests.
    #[derive(Default)]
    struct Recording(Mutex<Vec<Asked>>);

    /// Tables with their columns, and the rows.
    type Asked = (Vec<(Table, Columns)>, Filter);

    impl TableSource for Recording {
        fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> traceloom_core::Result<()> {
            let wanted = Table::ALL.into_iter().map(|table| (table, sink.wants(table)));
            let wanted = wanted.filter(|(_, columns)| !columns.is_empty()).collect();
            self.0.lock().expect("one at a time").push((wanted, filter.clone()));
            Ok(())
        }
    }

    /// The requests of a query to a trace that is shifted by this much.
    fn asked(sql: &str, shift_ns: i64) -> Vec<Asked> {
        let recording = Arc::new(Recording::default());
        let placement = Placement { shift_ns, ..Placement::default() };
        let source = Arc::new(Shifted { source: Arc::clone(&recording), placement });
        let parts = vec![Arc::new(Part { source, trace_id: 7, bytes: 1000, recipe: None, came_by_plan: false })];
        let context = SessionContext::new();
        for table in [Table::Spans, Table::Traces] {
            let provider = TraceTable { table, parts: parts.clone(), stored: None, spread: Spread::Processors };
            context.register_table(table.name(), Arc::new(provider)).expect("a new name");
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().expect("a thread");
        let rows = runtime.block_on(async { context.sql(sql).await?.collect().await }).expect("a good question");
        assert!(rows.iter().all(|batch| batch.num_rows() <= 1));
        std::mem::take(&mut *recording.0.lock().expect("one at a time"))
    }

    #[test]
    fn a_source_is_asked_for_what_the_question_needs() {
        let columns = |names: &[&str]| vec![(Table::Spans, Columns::named(Table::Spans, names))];
        let sql =
            "select name, sum(dur_ns) from spans where ts_ns >= 10 and ts_ns < 20 and thread_id = 3 group by name";
        let filter = Filter { range: TimeRange::between(10, 20), threads: Some(vec![3]) };
        assert_eq!(asked(sql, 0), [(columns(&["thread_id", "ts_ns", "dur_ns", "name"]), filter.clone())]);
        // Bounds are times on the user's axis; the source has its own times.
        let there = Filter { range: TimeRange::between(-90, -80), ..filter };
        assert_eq!(asked(sql, 100), [(columns(&["thread_id", "ts_ns", "dur_ns", "name"]), there)]);
        assert_eq!(asked("select count(*) from spans", 0), [(columns(&["trace_id"]), Filter::default())]);
    }

    #[test]
    fn other_traces_are_not_read() {
        assert_eq!(asked("select count(*) from spans where trace_id = 8", 0), []);
        assert_eq!(asked("select count(*) from spans where trace_id = 7", 0).len(), 1);
    }
}
