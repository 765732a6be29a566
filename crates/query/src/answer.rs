//! The rows of a result, as they arrive.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::{
    common::{
        DataFusionError, Result,
        tree_node::{Transformed, TransformedResult, TreeNode},
    },
    execution::SendableRecordBatchStream,
    logical_expr::LogicalPlan,
    physical_plan::{ExecutionPlan, coop::CooperativeExec, execute_stream},
    prelude::SessionContext,
};
use futures::StreamExt;
use tokio::sync::watch;

use crate::{Failure, Session, errors::is_about_missing_file, guard};

/// A result: its columns are available at once, its rows as they arrive. Rows that are not requested are not computed.
pub struct Answer<'s> {
    session: &'s Session,
    sql: String,
    schema: SchemaRef,
    /// `None` after the end.
    stream: Option<SendableRecordBatchStream>,
    /// The plan, as long as no row was returned and it can still be run in another way.
    again: Option<LogicalPlan>,
}

impl std::fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("sql", &self.sql).field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl<'s> Answer<'s> {
    pub(crate) fn new(session: &'s Session, sql: &str, plan: LogicalPlan) -> Result<Self> {
        let stream = start(session, &session.context, &plan)?;
        Ok(Self { session, sql: sql.to_owned(), schema: stream.schema(), stream: Some(stream), again: Some(plan) })
    }

    /// The columns.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The next rows; `None` at the end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<RecordBatch>, Failure> {
        self.next_unless(&Stop::default())
    }

    /// The next rows, unless the wait is stopped; `None` at the end and after a stop.
    pub fn next_unless(&mut self, stop: &Stop) -> Result<Option<RecordBatch>, Failure> {
        while let Some(mut stream) = self.stream.take() {
            // The caller's stack may be too small for a deep query; the engine's threads have larger stacks.
            let work = self.session.spawn(async move { (stream.next().await, stream) });
            let abort = work.abort_handle();
            let next = async {
                tokio::select! {
                    biased;
                    () = stop.said() => None,
                    next = work => Some(next),
                }
            };
            let Some(next) = self.session.wait(next) else {
                abort.abort();
                break;
            };
            let failed = |_| DataFusionError::Execution("the engine failed at this query".to_owned());
            match next.map_err(failed) {
                Ok((Some(Ok(batch)), stream)) => {
                    self.stream = Some(stream);
                    if batch.num_rows() > 0 {
                        self.again = None;
                        return Ok(Some(batch));
                    }
                }
                Ok((Some(Err(error)), _)) | Err(error) => {
                    self.start_over(error).map_err(|error| self.session.failure(&self.sql, error))?;
                }
                Ok((None, _)) => {}
            }
        }
        Ok(None)
    }

    /// Runs the query in another way, if that helps and no row was returned.
    fn start_over(&mut self, error: DataFusionError) -> Result<()> {
        let Some(plan) = self.again.take() else { return Err(error) };
        let context = match error.find_root() {
            DataFusionError::ResourcesExhausted(_) => self.with_sorted_joins(),
            // A commit may have replaced files of the store after the query was planned.
            _ if is_about_missing_file(&error) && self.session.refresh()? => self.session.context.clone(),
            _ => return Err(error),
        };
        self.stream = Some(guard::with_deep_stack(|| start(self.session, &context, &plan)).flatten()?);
        Ok(())
    }

    /// A hash join is fastest but holds one side in memory; if that is too much, a sort-merge join uses temporary
    /// files.
    fn with_sorted_joins(&self) -> SessionContext {
        let mut config = self.session.context.copied_config();
        config.options_mut().optimizer.prefer_hash_join = false;
        let state = datafusion::execution::SessionStateBuilder::new_from_existing(self.session.context.state());
        SessionContext::new_with_state(state.with_config(config).build())
    }
}

/// Stops a wait for rows from another thread; the engine stops working when the answer is dropped.
#[derive(Clone, Debug, Default)]
pub struct Stop(watch::Sender<bool>);

impl Stop {
    /// Stops the current wait and all later ones.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        *self.0.borrow()
    }

    async fn said(&self) {
        // The sender is alive, so this cannot fail.
        let _ = self.0.subscribe().wait_for(|is_stopped| *is_stopped).await;
    }
}

fn start(session: &Session, context: &SessionContext, plan: &LogicalPlan) -> Result<SendableRecordBatchStream> {
    let state = context.state();
    session.wait(async {
        let plan = state.create_physical_plan(plan).await?;
        execute_stream(interruptible(plan)?, context.task_ctx())
    })
}

/// A join can produce rows for hours from data that it has read once, so it must yield in between to be stoppable.
fn interruptible(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let wrap = |plan: Arc<dyn ExecutionPlan>| {
        if plan.name().ends_with("JoinExec") {
            Ok(Transformed::yes(Arc::new(CooperativeExec::new(plan)) as Arc<dyn ExecutionPlan>))
        } else {
            Ok(Transformed::no(plan))
        }
    };
    plan.transform_up(wrap).data()
}
