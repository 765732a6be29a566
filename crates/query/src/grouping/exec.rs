//! Adds rows to groups without hashing.

use std::{fmt, sync::Arc};

use arrow_array::RecordBatch;
use datafusion::{
    common::{
        Result,
        config::ConfigOptions,
        tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion},
    },
    execution::{SendableRecordBatchStream, TaskContext, memory_pool::MemoryConsumer},
    physical_expr::{PhysicalExpr, ScalarFunctionExpr},
    physical_optimizer::PhysicalOptimizerRule,
    physical_plan::{
        DisplayAs, DisplayFormatType, ExecutionPlan, InputOrderMode, PlanProperties,
        aggregates::{AggregateExec, AggregateMode},
        execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions},
        metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet},
        stream::RecordBatchStreamAdapter,
    },
};
use futures::{StreamExt, stream};

use super::{
    function,
    interner::GroupNames,
    tally::{Room, Tally},
};

/// The rule: the first stage of an aggregate by one name is done here; the engine does the second stage, which has few
/// rows.
#[derive(Debug)]
pub(crate) struct GroupByIndex;

impl PhysicalOptimizerRule for GroupByIndex {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let indexed = plan.downcast_ref().and_then(IndexedExec::new);
            Ok(indexed.map_or_else(|| Transformed::no(plan), |indexed| Transformed::yes(Arc::new(indexed) as _)))
        })
        .data()
    }

    fn name(&self) -> &str {
        "group_by_index"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// An aggregate whose only key is the number of a name.
#[derive(Debug)]
struct IndexedExec {
    /// The aggregate that it replaces, whose properties it has.
    aggregate: AggregateExec,
    names: Arc<dyn PhysicalExpr>,
    interner: Arc<GroupNames>,
    metrics: ExecutionPlanMetricsSet,
}

impl IndexedExec {
    /// `None` if the aggregate is of another kind.
    fn new(aggregate: &AggregateExec) -> Option<Self> {
        let [(key, _)] = aggregate.group_expr().expr() else { return None };
        let function = key.downcast_ref::<ScalarFunctionExpr>()?;
        let ([names], interner) = (function.args(), function::interner(function.fun())?) else { return None };
        let is_plain = *aggregate.mode() == AggregateMode::Partial
            && aggregate.group_expr().is_single()
            && *aggregate.input_order_mode() == InputOrderMode::Linear
            && aggregate.limit_options().is_none()
            && aggregate.aggr_expr().iter().all(|of| of.groups_accumulator_supported() && of.order_bys().is_empty());
        let (names, interner) = (Arc::clone(names), Arc::clone(interner));
        is_plain.then(|| Self {
            aggregate: aggregate.clone(),
            names,
            interner,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }
}

impl DisplayAs for IndexedExec {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IndexedExec: ")?;
        self.aggregate.fmt_as(kind, f)
    }
}

impl ExecutionPlan for IndexedExec {
    fn name(&self) -> &str {
        "IndexedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.aggregate.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.aggregate.children()
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.aggregate.apply_expressions(visit)
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        let aggregate = Arc::new(self.aggregate.clone()).replace_children(children, options)?;
        match aggregate.downcast_ref().and_then(Self::new) {
            Some(indexed) => Ok(Arc::new(indexed)),
            None => Ok(aggregate),
        }
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.aggregate.input().execute(partition, Arc::clone(&context))?.fuse();
        let reservation = MemoryConsumer::new("groups").register(context.memory_pool());
        let tally = Tally::new(&self.aggregate, Arc::clone(&self.names), Arc::clone(&self.interner), reservation)?;
        let state = (input, tally, BaselineMetrics::new(&self.metrics, partition));
        let batches = stream::try_unfold(state, |(mut input, mut tally, metrics)| async move {
            while let Some(batch) = input.next().await {
                let _timer = metrics.elapsed_compute().timer();
                if tally.take(&batch?)? == Room::None {
                    break;
                }
            }
            let batch = tally.give()?;
            metrics.record_output(batch.as_ref().map_or(0, RecordBatch::num_rows));
            Ok(batch.map(|batch| (batch, (input, tally, metrics))))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), batches)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
