//! A scan in tasks: rows describe traces, and each partition of rows is a task.
//!
//! Engines that distribute a plan split its leaves by partition, but only know their own kinds of leaves. So the leaf
//! is one of theirs, and this operator turns its descriptions into the rows of the traces.

use std::{fmt, sync::Arc};

use arrow_array::{RecordBatch, StringArray, cast::AsArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::{
    common::{DataFusionError, Result, Statistics, internal_datafusion_err, internal_err, stats::Precision},
    datasource::memory::MemorySourceConfig,
    execution::{SendableRecordBatchStream, TaskContext},
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties,
        metrics::{ExecutionPlanMetricsSet, MetricsSet},
        stream::RecordBatchStreamAdapter,
    },
};
use futures::TryStreamExt;
use traceloom_mapping::Told;

use super::{
    problems::counted,
    wire::{Described, described, parts},
};
use crate::{
    operator::{streaming, without_expressions},
    scan::{Part, Request, TraceExec},
};

/// Max number of tasks per scan; beyond it, a task reads several traces, because each task costs the scheduler memory
/// and messages.
const MAX_TASKS: usize = 1024;

/// The operator.
#[derive(Debug)]
pub(crate) struct TasksExec {
    input: Arc<dyn ExecutionPlan>,
    pub(super) request: Request,
    /// An estimate for the planner.
    rows: Precision<usize>,
    properties: Arc<PlanProperties>,
    /// Only the problems of the traces.
    metrics: ExecutionPlanMetricsSet,
}

impl TasksExec {
    /// One task per trace.
    pub(crate) fn of(traces: &[Arc<Part>], request: Request) -> Result<Self> {
        let tasks = traces.len().clamp(1, MAX_TASKS);
        let batch = |task: usize| -> Result<Vec<RecordBatch>> {
            let mine: Vec<_> = traces.iter().skip(task).step_by(tasks).cloned().collect();
            let mut texts = Vec::with_capacity(mine.len());
            for trace in described(&mine)? {
                texts.push(serde_json::to_string(&trace).map_err(|error| DataFusionError::External(error.into()))?);
            }
            Ok(vec![RecordBatch::try_new(schema(), vec![Arc::new(StringArray::from(texts))])?])
        };
        let batches = (0..tasks).map(batch).collect::<Result<Vec<_>>>()?;
        let input = MemorySourceConfig::try_new_exec(&batches, schema(), None)?;
        let rows = request.rows(traces);
        Ok(Self { rows, ..Self::new(input, request) })
    }

    /// Replaces the input that returns the descriptions.
    pub(super) fn new(input: Arc<dyn ExecutionPlan>, request: Request) -> Self {
        let properties = streaming(request.schema(), input.properties().output_partitioning().partition_count());
        let metrics = ExecutionPlanMetricsSet::new();
        Self { input, request, rows: Precision::Absent, properties, metrics }
    }
}

fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("trace", DataType::Utf8, false)]))
}

/// The traces described by rows.
fn traces(rows: &RecordBatch, told: &Told) -> Result<Vec<Arc<Part>>> {
    let read = |text: Option<&str>| -> Result<Described> {
        let text = text.ok_or_else(|| internal_datafusion_err!("received a trace without a description"))?;
        serde_json::from_str(text).map_err(|error| DataFusionError::External(error.into()))
    };
    let Some(texts) = rows.columns().first().and_then(|column| column.as_string_opt::<i32>()) else {
        return internal_err!("descriptions of traces must be strings");
    };
    let described = texts.iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(parts(described, Some(told)))
}

impl DisplayAs for TasksExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TasksExec: {}, {}", self.request.table.name(), self.request)
    }
}

impl ExecutionPlan for TasksExec {
    without_expressions!("TasksExec");

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    /// A few strings are not worth a shuffle.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([input]) => Ok(Arc::new(Self { rows: self.rows, ..Self::new(input, self.request.clone()) })),
            Err(_) => internal_err!("a scan in tasks has one input"),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let descriptions = self.input.execute(partition, Arc::clone(&context))?;
        let (request, told) = (self.request.clone(), counted(&self.metrics, partition));
        let rows = futures::stream::once(async move {
            let mut all = Vec::new();
            for batch in descriptions.try_collect::<Vec<_>>().await? {
                all.extend(traces(&batch, &told)?);
            }
            TraceExec::new(all, request, 1).execute(0, context)
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows.try_flatten())))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let mut statistics = Statistics::new_unknown(&self.request.schema());
        if partition.is_none() {
            statistics.num_rows = self.rows;
        }
        Ok(Arc::new(statistics))
    }
}
