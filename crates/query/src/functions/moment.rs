//! `spans_at(time)`: the spans that were open at a time.

use std::sync::Arc;

use datafusion::{
    catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider, view::ViewTable},
    common::{Result, plan_err},
    datasource::provider_as_source,
    logical_expr::LogicalPlanBuilder,
    prelude::{col, lit},
};

use super::time_literal;

/// The function.
#[derive(Debug)]
pub(super) struct SpansAt {
    pub(super) spans: Arc<dyn TableProvider>,
}

impl TableFunctionImpl for SpansAt {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let [time] = args.exprs() else { return plan_err!("spans_at expects a time, such as '1.5s' or 1500000000") };
        let at_ns = time_literal("spans_at", time)?;
        // A span that was never closed is open forever.
        let is_open = (col("ts_ns") + col("dur_ns")).gt(lit(at_ns)).or(col("dur_ns").is_null());
        let plan = LogicalPlanBuilder::scan("spans", provider_as_source(Arc::clone(&self.spans)), None)?
            .filter(col("ts_ns").lt_eq(lit(at_ns)))?
            .filter(is_open)?
            .build()?;
        Ok(Arc::new(ViewTable::new(plan, None)))
    }
}
