//! A table made of the spans and an index over them: one pass builds the index, a second returns the rows.

use std::{fmt, ops::Deref, pin::Pin, sync::Arc};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};
use datafusion::{
    arrow::compute::filter_record_batch,
    catalog::{Session, TableProvider},
    common::{DataFusionError, Result, internal_err},
    execution::{
        SendableRecordBatchStream, TaskContext,
        memory_pool::{MemoryConsumer, MemoryReservation},
    },
    logical_expr::{Expr, TableProviderFilterPushDown, TableType},
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, coalesce_partitions::CoalescePartitionsExec,
        stream::RecordBatchStreamAdapter,
    },
};
use futures::{StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};

use super::{frames, tree};
use crate::operator::{streaming, without_expressions};

/// The definition of an index.
pub(crate) trait Lookup {
    /// Name in the query plan.
    fn name(&self) -> &'static str;

    /// Columns of the spans that the index is built from.
    fn key_columns(&self) -> &'static [&'static str];

    /// Columns of the spans by which a row is looked up.
    fn row_columns(&self) -> &'static [&'static str];

    /// Columns that the index adds to a row.
    fn added(&self) -> Vec<Field>;

    /// The trace to read; `None` means all.
    fn trace_id(&self) -> Option<u64>;

    /// An empty index.
    fn index(&self) -> Box<dyn Index>;
}

/// Any of the lookups, as serializable data.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum AnyLookup {
    Frame(frames::Query),
    Relatives(tree::Query),
}

impl Deref for AnyLookup {
    type Target = dyn Lookup;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Frame(query) => query,
            Self::Relatives(query) => query,
        }
    }
}

/// An index over spans: `take* finish find*`.
pub(crate) trait Index: Send + Sync {
    /// Adds the key columns of spans.
    fn take(&mut self, spans: &RecordBatch) -> Result<()>;

    /// Called after the last span.
    fn finish(&mut self);

    /// Looks up rows: returns which rows to keep, and the added columns for all of them.
    fn find(&self, rows: &RecordBatch) -> Result<(Option<BooleanArray>, Vec<ArrayRef>)>;

    /// Memory in use.
    fn bytes(&self) -> usize;
}

/// The table.
#[derive(Debug)]
pub(crate) struct LookupTable {
    pub(crate) spans: Arc<dyn TableProvider>,
    pub(crate) lookup: AnyLookup,
    schema: SchemaRef,
}

impl LookupTable {
    pub(crate) fn new(spans: &Arc<dyn TableProvider>, lookup: AnyLookup) -> Self {
        let schema = Self::schema_of(&spans.schema(), &lookup);
        Self { spans: Arc::clone(spans), lookup, schema }
    }

    /// The columns of the spans and the added columns.
    pub(crate) fn schema_of(spans: &Schema, lookup: &AnyLookup) -> SchemaRef {
        let added = lookup.added().into_iter().map(Arc::new);
        Arc::new(Schema::new(spans.fields().iter().cloned().chain(added).collect::<Vec<_>>()))
    }

    fn columns(&self, names: &[&str]) -> Result<Vec<usize>> {
        let schema = self.spans.schema();
        Ok(names.iter().map(|name| schema.index_of(name)).collect::<Result<Vec<_>, _>>()?)
    }

    /// Columns of the spans that the rows need: the requested ones and the lookup keys.
    fn row_columns(&self, projection: &[usize]) -> Result<Vec<usize>> {
        let spans = self.spans.schema().fields().len();
        let mut columns: Vec<usize> = projection.iter().copied().filter(|number| *number < spans).collect();
        columns.extend(self.columns(self.lookup.row_columns())?);
        columns.sort_unstable();
        columns.dedup();
        Ok(columns)
    }

    async fn plan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let projection = projection.unwrap_or(&all);
        let only =
            self.lookup.trace_id().map(|id| datafusion::prelude::col("trace_id").eq(datafusion::prelude::lit(id)));
        let keys = self.columns(self.lookup.key_columns())?;
        let keys = self.spans.scan(state, Some(&keys), only.as_slice(), None).await?;
        let filters: Vec<Expr> = filters.iter().cloned().chain(only).collect();
        let rows = self.spans.scan(state, Some(&self.row_columns(projection)?), &filters, None).await?;
        let schema = Arc::new(self.schema.project(projection)?);
        Ok(Arc::new(LookupExec::new(single(keys), single(rows), self.lookup.clone(), schema)))
    }
}

fn single(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    match plan.properties().partitioning.partition_count() {
        1 => plan,
        _ => Arc::new(CoalescePartitionsExec::new(plan)),
    }
}

impl TableProvider for LookupTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // A scan of the spans cannot filter by an added column.
        let added = self.lookup.added();
        let is_ours = |filter: &&&Expr| {
            filter.column_refs().iter().any(|column| added.iter().any(|field| *field.name() == column.name))
        };
        let spans: Vec<&Expr> = filters.iter().filter(|filter| !is_ours(filter)).copied().collect();
        let mut pushed = self.spans.supports_filters_pushdown(&spans)?.into_iter();
        let push = |filter: &&Expr| {
            if is_ours(&filter) { Some(TableProviderFilterPushDown::Unsupported) } else { pushed.next() }
        };
        Ok(filters.iter().map_while(push).collect())
    }

    fn scan<'s, 'a, 'p, 'f, 'async_trait>(
        &'s self,
        state: &'a dyn Session,
        projection: Option<&'p Vec<usize>>,
        filters: &'f [Expr],
        _limit: Option<usize>,
    ) -> Pin<Box<dyn Future<Output = Result<Arc<dyn ExecutionPlan>>> + Send + 'async_trait>>
    where
        's: 'async_trait,
        'a: 'async_trait,
        'p: 'async_trait,
        'f: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(self.plan(state, projection, filters))
    }
}

#[derive(Debug)]
pub(crate) struct LookupExec {
    keys: Arc<dyn ExecutionPlan>,
    rows: Arc<dyn ExecutionPlan>,
    pub(crate) lookup: AnyLookup,
    pub(crate) schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl LookupExec {
    pub(crate) fn new(
        keys: Arc<dyn ExecutionPlan>,
        rows: Arc<dyn ExecutionPlan>,
        lookup: AnyLookup,
        schema: SchemaRef,
    ) -> Self {
        let properties = streaming(Arc::clone(&schema), 1);
        Self { keys, rows, lookup, schema, properties }
    }
}

impl DisplayAs for LookupExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LookupExec: {}", self.lookup.name())
    }
}

impl ExecutionPlan for LookupExec {
    without_expressions!("LookupExec");

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.keys, &self.rows]
    }

    /// If rows were spread over several streams, each stream would need the index.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false, false]
    }

    fn required_input_distribution(&self) -> Vec<datafusion::physical_plan::Distribution> {
        vec![datafusion::physical_plan::Distribution::SinglePartition; 2]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 2]>::try_from(children) {
            Ok([keys, rows]) => Ok(Arc::new(Self::new(keys, rows, self.lookup.clone(), Arc::clone(&self.schema)))),
            Err(_) => internal_err!("a lookup has two inputs"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let keys = self.keys.execute(partition, Arc::clone(&context))?;
        let reservation = MemoryConsumer::new(self.lookup.name()).register(context.memory_pool());
        let (index, schema, rows) = (self.lookup.index(), Arc::clone(&self.schema), Arc::clone(&self.rows));
        let added: Vec<String> = self.lookup.added().iter().map(|field| field.name().clone()).collect();
        let stream = futures::stream::once(async move {
            let (index, reservation) = filled(keys, index, reservation).await?;
            // Not earlier, because two parsers at once would use twice the memory.
            let rows = rows.execute(partition, context)?;
            Ok::<_, DataFusionError>(rows.map(move |batch| {
                // The index counts as memory as long as it is used.
                let _ = &reservation;
                joined(index.as_ref(), &batch?, &schema, &added)
            }))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream.try_flatten())))
    }
}

type Filled = (Box<dyn Index>, MemoryReservation);

async fn filled(
    mut keys: SendableRecordBatchStream,
    mut index: Box<dyn Index>,
    reservation: MemoryReservation,
) -> Result<Filled> {
    while let Some(batch) = keys.next().await {
        index.take(&batch?)?;
        reservation.try_resize(index.bytes())?;
    }
    index.finish();
    Ok((index, reservation))
}

/// The rows with the added columns, in the requested order.
fn joined(index: &dyn Index, rows: &RecordBatch, schema: &SchemaRef, added: &[String]) -> Result<RecordBatch> {
    let (keep, columns) = index.find(rows)?;
    let column = |name: &String| match added.iter().position(|known| known == name) {
        Some(number) => columns.get(number),
        None => rows.column_by_name(name),
    };
    let arrays: Option<Vec<ArrayRef>> = schema.fields().iter().map(|field| column(field.name()).cloned()).collect();
    let Some(arrays) = arrays else { return internal_err!("a lookup lacks a column") };
    let options = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    let batch = RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)?;
    match keep {
        Some(keep) => Ok(filter_record_batch(&batch, &keep)?),
        None => Ok(batch),
    }
}
