//! Functions that make queries about traces short; `docs/sql.md` describes each of them.

mod frames;
mod lookup;
mod moment;
mod origins;
mod percentile;
mod scalar;
mod tree;

use std::sync::Arc;

use datafusion::{
    catalog::TableProvider,
    common::{Result, plan_err},
    logical_expr::{AggregateUDF, Expr, ScalarUDF},
    prelude::SessionContext,
};

pub(crate) use self::origins::{Origins, needs_origins};
#[cfg(feature = "codec")]
pub(crate) use self::{
    lookup::{AnyLookup, LookupExec, LookupTable},
    origins::UnixTime,
};

/// Adds all functions to a context.
pub(crate) fn register(context: &SessionContext, spans: &Arc<dyn TableProvider>, origins: &Origins) {
    plain().into_iter().for_each(|function| context.register_udf(function));
    context.register_udf(ScalarUDF::new_from_impl(origins::UnixTime::new(origins.clone())));
    context.register_udaf(aggregate());
    let spans = || Arc::clone(spans);
    context.register_udtf("ancestors", Arc::new(tree::Relatives { way: tree::Way::Ancestors, spans: spans() }));
    context.register_udtf("descendants", Arc::new(tree::Relatives { way: tree::Way::Descendants, spans: spans() }));
    context.register_udtf("per_frame", Arc::new(frames::PerFrame { spans: spans() }));
    context.register_udtf("spans_at", Arc::new(moment::SpansAt { spans: spans() }));
}

/// Scalar functions that need only their arguments.
pub(crate) fn plain() -> [ScalarUDF; 3] {
    [scalar::bucket(), scalar::human_time(), scalar::time_ns()]
}

/// The aggregate function.
pub(crate) fn aggregate() -> AggregateUDF {
    AggregateUDF::new_from_impl(percentile::Percentile::new())
}

/// Nanoseconds from a literal: a number, or a text such as `1.5s`.
fn time_literal(function: &str, expr: &Expr) -> Result<i64> {
    let Expr::Literal(value, _) = expr else {
        return plan_err!("{function} expects a time, such as '1.5s' or 1500000000");
    };
    if let Some(text) = value.try_as_str().flatten() {
        return scalar::parse_time(text);
    }
    match whole(expr).and_then(|value| i64::try_from(value).ok()) {
        Some(ns) => Ok(ns),
        None => plan_err!("{function} expects a time, such as '1.5s' or 1500000000"),
    }
}

/// An integer from a literal.
fn whole(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Literal(value, _) => crate::bounds::whole(value),
        Expr::Negative(inner) => whole(inner).map(std::ops::Neg::neg),
        _ => None,
    }
}
