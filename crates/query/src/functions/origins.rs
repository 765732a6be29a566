//! `unix_time(trace_id, ts_ns)`: the time of day of a row.

use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
    sync::{
        Arc, PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use arrow_array::{
    Array, TimestampNanosecondArray,
    cast::AsArray,
    types::{Int64Type, UInt64Type},
};
use arrow_schema::{DataType, TimeUnit};
use datafusion::{
    common::{
        Result, plan_err,
        tree_node::{TreeNode, TreeNodeRecursion},
    },
    logical_expr::{ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility},
    physical_plan::collect,
};

use crate::Session;

const NAME: &str = "unix_time";

/// The Unix time of the origin of each trace, if known; read when first needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origins(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    is_read: AtomicBool,
    by_trace: RwLock<HashMap<u64, i64>>,
}

impl Origins {
    /// Reads the origins.
    pub(crate) fn fill(&self, session: &Session) -> Result<()> {
        if self.0.is_read.load(Ordering::Acquire) {
            return Ok(());
        }
        let state = session.context.state();
        let batches = session.wait(async {
            let plan = state
                .create_logical_plan("select trace_id, unix_origin_ns from traces where unix_origin_ns is not null")
                .await?;
            collect(state.create_physical_plan(&plan).await?, session.context.task_ctx()).await
        })?;
        let mut origins = HashMap::new();
        for batch in &batches {
            let (ids, times) =
                (batch.column(0).as_primitive::<UInt64Type>(), batch.column(1).as_primitive::<Int64Type>());
            origins.extend(ids.values().iter().copied().zip(times.values().iter().copied()));
        }
        *self.0.by_trace.write().unwrap_or_else(PoisonError::into_inner) = origins;
        self.0.is_read.store(true, Ordering::Release);
        Ok(())
    }

    /// Reads them again when they are needed next; running queries keep those that they know.
    pub(crate) fn expire(&self) {
        self.0.is_read.store(false, Ordering::Release);
    }

    /// Origins read by another process.
    #[cfg(feature = "codec")]
    pub(crate) fn of(origins: HashMap<u64, i64>) -> Self {
        Self(Arc::new(Known { is_read: AtomicBool::new(true), by_trace: RwLock::new(origins) }))
    }

    /// The origins, if they were read.
    #[cfg(feature = "codec")]
    pub(crate) fn known(&self) -> HashMap<u64, i64> {
        self.by_trace().clone()
    }

    fn get(&self, trace_id: u64) -> Option<i64> {
        self.by_trace().get(&trace_id).copied()
    }

    fn by_trace(&self) -> RwLockReadGuard<'_, HashMap<u64, i64>> {
        self.0.by_trace.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a plan uses `unix_time`.
pub(crate) fn needs_origins(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                found |= matches!(expr, Expr::ScalarFunction(function) if function.func.name() == NAME);
                Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
            })
        })
    })?;
    Ok(found)
}

/// The function.
#[derive(Debug)]
pub(crate) struct UnixTime {
    signature: Signature,
    origins: Origins,
}

impl UnixTime {
    pub(crate) fn new(origins: Origins) -> Self {
        // Origins belong to the session, not to the arguments, so nothing may be computed before they are read.
        let signature = Signature::exact(vec![DataType::UInt64, DataType::Int64], Volatility::Stable);
        Self { signature, origins }
    }
}

#[cfg(feature = "codec")]
impl UnixTime {
    pub(crate) fn origins(&self) -> &Origins {
        &self.origins
    }
}

impl PartialEq for UnixTime {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.origins.0, &other.origins.0)
    }
}

impl Eq for UnixTime {}

impl Hash for UnixTime {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.origins.0).addr().hash(state);
    }
}

impl ScalarUDFImpl for UnixTime {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [traces, times] = args.args.as_slice() else { return plan_err!("unix_time expects a trace and a time") };
        let (traces, times) = (traces.to_array(args.number_rows)?, times.to_array(args.number_rows)?);
        let (traces, times) = (traces.as_primitive::<UInt64Type>(), times.as_primitive::<Int64Type>());
        // Rows of one trace are adjacent and share one lookup.
        let mut last: Option<(u64, Option<i64>)> = None;
        let mut origin = |trace_id: u64| match last {
            Some((known, origin)) if known == trace_id => origin,
            _ => {
                last = Some((trace_id, self.origins.get(trace_id)));
                self.origins.get(trace_id)
            }
        };
        let moments = (0..traces.len()).map(|row| {
            let is_known = traces.is_valid(row) && times.is_valid(row);
            is_known.then(|| origin(traces.value(row))?.checked_add(times.value(row))).flatten()
        });
        let moments: TimestampNanosecondArray = moments.collect();
        Ok(ColumnarValue::Array(Arc::new(moments.with_timezone("UTC"))))
    }
}
