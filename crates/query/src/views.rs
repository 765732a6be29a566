//! Views that make queries about traces short; `docs/sql.md` describes each of them.

use std::sync::Arc;

use datafusion::{catalog::view::ViewTable, common::Result, prelude::SessionContext};

/// Names and definitions. The side of a join that is held in memory comes first.
static VIEWS: &[(&str, &str)] = &[
    (
        "spans_closed",
        "select s.trace_id, s.id, s.parent_id, s.thread_id, s.depth, s.ts_ns, \
         coalesce(s.dur_ns, greatest(t.last_ts_ns - s.ts_ns, 0)) as dur_ns, s.self_ns, s.name, s.category, s.definition_id, \
         s.file, s.line, s.color, s.dur_ns is null as is_open \
         from traces t join spans s on s.trace_id = t.trace_id",
    ),
    (
        "spans_named",
        "select s.*, t.name as thread, r.path \
         from traces r join (threads t right join spans s on t.trace_id = s.trace_id and t.id = s.thread_id) on r.trace_id = s.trace_id",
    ),
    (
        "allocation_sites",
        "select a.*, f.function, f.file, f.line \
         from (select k.trace_id, k.id as stack_key, g.function, g.file, g.line \
               from stacks k join frames g on g.trace_id = k.trace_id and g.id = k.frame_id) f \
         right join allocations a on a.trace_id = f.trace_id and a.stack_id = f.stack_key",
    ),
];

/// Names and definitions of views.
pub(crate) type Views = &'static [(&'static str, &'static str)];

/// Adds all views to a context that already has the tables and functions.
pub(crate) async fn register(context: &SessionContext, more: Views) -> Result<()> {
    for (name, definition) in VIEWS.iter().chain(more) {
        let plan = context.state().create_logical_plan(definition).await?;
        context.register_table(*name, Arc::new(ViewTable::new(plan, Some((*definition).to_owned()))))?;
    }
    Ok(())
}
