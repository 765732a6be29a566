//! The plan rewrite: names become numbers below the aggregate, and names again above it.

use std::sync::Arc;

use datafusion::{
    common::{Result, tree_node::Transformed},
    execution::memory_pool::MemoryPool,
    logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan, Projection},
    optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule},
};

use super::function::{Pair, name_type};

/// The rule. It runs last, so that every other rule sees the original plan.
#[derive(Debug)]
pub(crate) struct GroupByNumber {
    /// The pool that accounts for names, which are kept once per query and key.
    pub(crate) pool: Arc<dyn MemoryPool>,
}

impl OptimizerRule for GroupByNumber {
    fn name(&self) -> &str {
        "group_by_number"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let LogicalPlan::Aggregate(aggregate) = plan else { return Ok(Transformed::no(plan)) };
        let mut pairs = Vec::with_capacity(aggregate.group_expr.len());
        for expr in &aggregate.group_expr {
            let is_name = is_column(expr) && expr.get_type(aggregate.input.schema())? == name_type();
            pairs.push(is_name.then(|| Pair::new(&self.pool)));
        }
        if pairs.iter().any(Option::is_some) {
            Ok(Transformed::yes(rewritten(&aggregate, &pairs)?))
        } else {
            Ok(Transformed::no(LogicalPlan::Aggregate(aggregate)))
        }
    }
}

/// Only columns are names of the model; the result of an expression has a different dictionary for each batch.
fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => is_column(&alias.expr),
        Expr::Column(_) => true,
        _ => false,
    }
}

fn rewritten(aggregate: &Aggregate, pairs: &[Option<Pair>]) -> Result<LogicalPlan> {
    let number = |(expr, pair): (&Expr, &Option<Pair>)| match pair {
        Some(pair) => pair.intern.call(vec![expr.clone().unalias()]),
        None => expr.clone(),
    };
    let groups = aggregate.group_expr.iter().zip(pairs).map(number).collect();
    let inner = Aggregate::try_new(Arc::clone(&aggregate.input), groups, aggregate.aggr_expr.clone())?;
    let outer =
        inner.schema.iter().zip(aggregate.schema.iter()).enumerate().map(|(index, (new, (qualifier, field)))| {
            let column = Expr::Column(new.into());
            match pairs.get(index) {
                Some(Some(pair)) => pair.resolve.call(vec![column]).alias_qualified(qualifier.cloned(), field.name()),
                _ => column,
            }
        });
    let outer = outer.collect();
    let inner = Arc::new(LogicalPlan::Aggregate(inner));
    Ok(LogicalPlan::Projection(Projection::try_new_with_schema(outer, inner, Arc::clone(&aggregate.schema))?))
}
