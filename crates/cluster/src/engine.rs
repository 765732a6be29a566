//! Codecs, functions and settings that scheduler, executors and clients share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use ballista_core::{
    JobId,
    execution_plans::DistributedQueryExec,
    extension::{SessionConfigExt, SessionStateExt},
    registry::BallistaFunctionRegistry,
    serde::{BallistaLogicalExtensionCodec, BallistaPhysicalExtensionCodec},
};
use datafusion::{
    common::{Result, tree_node::TreeNodeRecursion},
    execution::{
        SessionState, SessionStateBuilder,
        context::QueryPlanner,
        runtime_env::{RuntimeEnv, RuntimeEnvBuilder},
    },
    logical_expr::{LogicalPlan, ScalarUDF},
    physical_plan::ExecutionPlan,
    physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner},
    prelude::SessionConfig,
};
use datafusion_proto::{
    logical_plan::LogicalExtensionCodec, physical_plan::PhysicalExtensionCodec, protobuf::LogicalPlanNode,
};
use traceloom_query::{Engine, LogicalCodec, PhysicalCodec, object_stores, traveling_functions};

/// Stack size of each thread, for recursion over plans and expressions.
pub(crate) const STACK_BYTES: usize = 64 << 20;

/// Plans list every trace; this is enough for some ten thousand.
pub(crate) const MAX_MESSAGE_BYTES: u32 = 256 << 20;

pub(crate) fn logical_codec() -> Arc<dyn LogicalExtensionCodec> {
    Arc::new(LogicalCodec::new(Arc::new(BallistaLogicalExtensionCodec::default())))
}

pub(crate) fn physical_codec() -> Arc<dyn PhysicalExtensionCodec> {
    Arc::new(PhysicalCodec::new(Arc::new(BallistaPhysicalExtensionCodec::default())))
}

/// The settings of every session.
pub(crate) fn config(config: SessionConfig) -> SessionConfig {
    config
        .upgrade_for_ballista()
        .with_ballista_logical_extension_codec(logical_codec())
        .with_ballista_physical_extension_codec(physical_codec())
        // The adaptive planner does not handle the loss of an executor.
        .with_ballista_adaptive_query_planner(false)
        .with_ballista_grpc_client_max_message_size(MAX_MESSAGE_BYTES as usize)
        // One task per trace, so that a lost task is small.
        .set_u64("ballista.scheduler.max_partitions_per_task", 1)
}

/// A session of the scheduler; its tables come with the plans.
pub(crate) fn scheduler_state(session: SessionConfig) -> Result<SessionState> {
    let state = SessionStateBuilder::new()
        .with_config(config(session))
        .with_runtime_env(runtime(None)?)
        .with_default_features()
        .build();
    let mut builder = SessionStateBuilder::new_from_existing(state);
    builder.scalar_functions().get_or_insert_default().extend(traveling_functions());
    Ok(builder.build())
}

/// The functions of an executor.
pub(crate) fn registry() -> BallistaFunctionRegistry {
    let mut registry = BallistaFunctionRegistry::default();
    let ours = traveling_functions().into_iter();
    let ours: HashMap<String, Arc<ScalarUDF>> = ours.map(|function| (function.name().to_owned(), function)).collect();
    registry.scalar_functions.extend(ours);
    registry
}

/// The object stores with Parquet files, and the folder for temporary files.
pub(crate) fn runtime(temporary: Option<&str>) -> Result<Arc<RuntimeEnv>> {
    let builder = RuntimeEnvBuilder::new().with_object_store_registry(object_stores());
    match temporary {
        Some(folder) => builder.with_temp_file_path(folder).build_arc(),
        None => builder.build_arc(),
    }
}

/// The engine of a client of this scheduler; the plans that it sends are kept in `sent`.
pub(crate) fn client(scheduler: &str, partitions: usize, sent: &Sent) -> Engine {
    let (scheduler, sent) = (scheduler.to_owned(), sent.clone());
    Engine::new(move |state| {
        let config = config(state.config().clone()).with_target_partitions(partitions);
        let state = SessionStateBuilder::new_from_existing(state).with_config(config).build();
        let state = state.upgrade_for_ballista(scheduler.clone())?;
        let planner = Planner { distributed: Arc::clone(state.query_planner()), sent: sent.clone() };
        Ok(SessionStateBuilder::new_from_existing(state).with_query_planner(Arc::new(planner)).build())
    })
}

/// Plans that were sent to the scheduler.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent(Arc<Mutex<Vec<Arc<dyn ExecutionPlan>>>>);

impl Sent {
    /// The jobs of the plans that the scheduler accepted, oldest first.
    pub(crate) fn jobs(&self) -> Vec<JobId> {
        let plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let job =
            |plan: &Arc<dyn ExecutionPlan>| plan.downcast_ref::<DistributedQueryExec<LogicalPlanNode>>()?.job_id();
        plans.iter().filter_map(job).collect()
    }

    fn push(&self, plan: &Arc<dyn ExecutionPlan>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(plan));
    }
}

/// Sends queries over tables to the cluster, and runs all others in this process.
#[derive(Debug)]
struct Planner {
    distributed: Arc<dyn QueryPlanner + Send + Sync>,
    sent: Sent,
}

type Boxed<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl QueryPlanner for Planner {
    fn create_physical_plan<'s, 'p, 'a, 'async_trait>(
        &'s self,
        plan: &'p LogicalPlan,
        session: &'a dyn datafusion::catalog::Session,
    ) -> Boxed<'async_trait, Result<Arc<dyn ExecutionPlan>>>
    where
        's: 'async_trait,
        'p: 'async_trait,
        'a: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            // The engine would lose the columns of an empty result.
            if reads_tables(plan)? {
                let plan = self.distributed.create_physical_plan(plan, session).await?;
                self.sent.push(&plan);
                return Ok(plan);
            }
            DefaultPhysicalPlanner::default().create_physical_plan(plan, session).await
        })
    }
}

fn reads_tables(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |= matches!(node, LogicalPlan::TableScan(_));
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}
