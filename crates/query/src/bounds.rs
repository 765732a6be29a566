//! Bounds of a scan, derived from the conditions of a query.

use std::fmt;
use traceloom_core::TimeRange;

use datafusion::{
    common::ScalarValue,
    logical_expr::{Between, BinaryExpr, Expr, Operator, expr::InList},
};
use traceloom_model::Filter;

/// Rows that may match; others may still be returned, because the conditions are also applied above the scan.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Bounds {
    pub(crate) filter: Filter,
    /// The traces that may match; `None` means all.
    pub(crate) traces: Option<Vec<u64>>,
}

impl Bounds {
    /// Applies a condition; returns false if the scan cannot use it.
    pub(crate) fn take(&mut self, condition: &Expr) -> bool {
        match condition {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
                // Each half alone is a weaker but valid bound.
                let left = self.take(left);
                self.take(right) || left
            }
            // A short list arrives as `a = 1 OR a = 2`.
            Expr::BinaryExpr(BinaryExpr { op: Operator::Or, .. }) => {
                any_of(condition).is_some_and(|(column, values)| self.only(column, &values))
            }
            Expr::BinaryExpr(comparison) => self.compare(comparison),
            Expr::Between(Between { expr, negated: false, low, high }) => {
                let (Some(column), Some(low), Some(high)) = (column(expr), literal(low), literal(high)) else {
                    return false;
                };
                self.cut(column, Operator::GtEq, low) && self.cut(column, Operator::LtEq, high)
            }
            Expr::InList(InList { expr, list, negated: false }) => {
                let values: Option<Vec<i128>> = list.iter().map(literal).collect();
                let (Some(column), Some(values)) = (column(expr), values) else { return false };
                self.only(column, &values)
            }
            _ => false,
        }
    }

    fn compare(&mut self, BinaryExpr { left, op, right }: &BinaryExpr) -> bool {
        if let (Some(column), Some(value)) = (column(left), literal(right)) {
            return self.cut(column, *op, value);
        }
        let (Some(value), Some(column), Some(op)) = (literal(left), column(right), op.swap()) else { return false };
        self.cut(column, op, value)
    }

    fn cut(&mut self, column: &str, op: Operator, value: i128) -> bool {
        if column != "ts_ns" {
            return op == Operator::Eq && self.only(column, &[value]);
        }
        let (from, to) = match op {
            Operator::Eq => (Some(value), Some(value + 1)),
            Operator::Gt => (Some(value + 1), None),
            Operator::GtEq => (Some(value), None),
            Operator::Lt => (None, Some(value)),
            Operator::LtEq => (None, Some(value + 1)),
            _ => return false,
        };
        // A bound outside all times is open, and stays open when times are shifted.
        let from = from.filter(|from| *from > i64::MIN.into());
        let to = to.filter(|to| *to <= i64::MAX.into());
        let range = TimeRange::new(from.map(saturated), to.map(saturated));
        self.filter.range = self.filter.range.and(range);
        true
    }

    /// Only these values of a column.
    fn only(&mut self, column: &str, values: &[i128]) -> bool {
        match column {
            "thread_id" => narrow(&mut self.filter.threads, values),
            "trace_id" => narrow(&mut self.traces, values),
            _ => return false,
        }
        true
    }

    /// Whether a trace can have matching rows.
    pub(crate) fn takes_trace(&self, trace_id: u64) -> bool {
        self.traces.as_ref().is_none_or(|traces| traces.contains(&trace_id))
    }

    /// Times and threads that may match.
    pub(crate) fn filter(&self) -> &Filter {
        &self.filter
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Filter { range, threads } = &self.filter;
        if let Some(from_ns) = range.from_ns() {
            write!(f, ", ts_ns>={from_ns}")?;
        }
        if let Some(to_ns) = range.to_ns() {
            write!(f, ", ts_ns<{to_ns}")?;
        }
        threads.as_ref().map_or(Ok(()), |threads| write!(f, ", thread_id={threads:?}"))?;
        self.traces.as_ref().map_or(Ok(()), |traces| write!(f, ", trace_id={traces:?}"))
    }
}

fn saturated(value: i128) -> i64 {
    value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// The intersection of both lists; a value that the column cannot have is in neither.
fn narrow<T: TryFrom<i128> + PartialEq>(known: &mut Option<Vec<T>>, values: &[i128]) {
    let mut values: Vec<T> = values.iter().filter_map(|value| T::try_from(*value).ok()).collect();
    if let Some(known) = known {
        values.retain(|value| known.contains(value));
    }
    *known = Some(values);
}

/// The column and the values of a chain `column = value OR …`.
fn any_of(condition: &Expr) -> Option<(&str, Vec<i128>)> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = condition else { return None };
    if *op == Operator::Eq {
        return Some((column(left)?, vec![literal(right)?]));
    }
    let (left, right) = (any_of(left)?, any_of(right)?);
    (*op == Operator::Or && left.0 == right.0).then(|| (left.0, [left.1, right.1].concat()))
}

fn column(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Column(column) => Some(&column.name),
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Literal(value, _) => whole(value),
        _ => None,
    }
}

/// An integer of any width.
pub(crate) fn whole(value: &ScalarValue) -> Option<i128> {
    match value {
        ScalarValue::Int64(value) => value.map(i128::from),
        ScalarValue::Int32(value) => value.map(i128::from),
        ScalarValue::UInt64(value) => value.map(i128::from),
        ScalarValue::UInt32(value) => value.map(i128::from),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{col, in_list, lit};

    use super::*;

    fn bounds(conditions: &[Expr]) -> (Bounds, bool) {
        let mut bounds = Bounds::default();
        // All conditions are applied, even after one that could not be used.
        let taken: Vec<bool> = conditions.iter().map(|condition| bounds.take(condition)).collect();
        let all = !taken.contains(&false);
        (bounds, all)
    }

    #[test]
    fn times_are_cut_from_both_sides() {
        let (bounds, all) =
            bounds(&[col("ts_ns").gt(lit(10_i64)), lit(100_i64).gt(col("ts_ns")), col("ts_ns").lt_eq(lit(70_i64))]);
        assert!(all);
        assert_eq!(bounds.filter().range, TimeRange::between(11, 71));
    }

    #[test]
    fn an_open_side_stays_open_when_times_move() {
        let (bounds, _) = bounds(&[col("ts_ns").between(lit(i64::MIN), lit(i64::MAX))]);
        assert_eq!(bounds.filter().range.shifted(5), TimeRange::ALL);
    }

    #[test]
    fn lists_are_intersected() {
        let three =
            col("thread_id").eq(lit(1_i64)).or(col("thread_id").eq(lit(2_i64))).or(col("thread_id").eq(lit(3_i64)));
        let (bounds, all) =
            bounds(&[three, in_list(col("thread_id"), vec![lit(2_i64), lit(3_i64), lit(9_i64)], false)]);
        assert!(all);
        assert_eq!(bounds.filter.threads, Some(vec![2, 3]));
    }

    #[test]
    fn traces_are_chosen() {
        let (bounds, _) = bounds(&[col("trace_id").eq(lit(u64::MAX))]);
        assert!(bounds.takes_trace(u64::MAX) && !bounds.takes_trace(1));
        assert!(Bounds::default().takes_trace(1));
    }

    #[test]
    fn what_is_not_understood_cuts_nothing() {
        let or = col("thread_id").eq(lit(1_i64)).or(col("ts_ns").eq(lit(1_i64)));
        let others = [
            or,
            col("ts_ns").not_eq(lit(1_i64)),
            col("dur_ns").gt(lit(1_i64)),
            in_list(col("thread_id"), vec![lit(1_i64)], true),
        ];
        for other in others {
            assert_eq!(bounds(std::slice::from_ref(&other)), (Bounds::default(), false), "{other}");
        }
        // One half of a conjunction is enough, and only that half is used.
        let (bounds, all) = bounds(&[col("dur_ns").gt(lit(1_i64)).and(col("ts_ns").gt_eq(lit(5_i64)))]);
        assert!(all);
        assert_eq!(bounds.filter, Filter::in_range(TimeRange::new(Some(5), None)));
    }
}
