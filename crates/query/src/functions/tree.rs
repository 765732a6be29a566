//! `ancestors([trace_id,] span_id)` and `descendants([trace_id,] span_id)`: the spans around a span, and the spans
//! inside it.

use std::{collections::HashMap, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, RecordBatch,
    cast::AsArray,
    types::{Int64Type, UInt64Type},
};
use arrow_schema::{DataType, Field};
use datafusion::{
    catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider},
    common::{Result, internal_err, plan_err},
};
use serde::{Deserialize, Serialize};

use super::{
    lookup::{AnyLookup, Index, Lookup, LookupTable},
    whole,
};

/// The direction from a span.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub(super) enum Way {
    Ancestors,
    Descendants,
}

/// The function.
#[derive(Debug)]
pub(super) struct Relatives {
    pub(super) way: Way,
    pub(super) spans: Arc<dyn TableProvider>,
}

impl TableFunctionImpl for Relatives {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let numbers: Option<Vec<i128>> = args.exprs().iter().map(whole).collect();
        let (trace_id, span_id) = match numbers.as_deref() {
            Some([span_id]) => (None, i64::try_from(*span_id)),
            Some([trace_id, span_id]) => (u64::try_from(*trace_id).ok(), i64::try_from(*span_id)),
            _ => {
                return plan_err!(
                    "{} expects the id of a span, after the id of its trace if there are several traces",
                    self.way.name()
                );
            }
        };
        let Ok(span_id) = span_id else { return plan_err!("invalid span id") };
        Ok(Arc::new(LookupTable::new(&self.spans, AnyLookup::Relatives(Query { way: self.way, trace_id, span_id }))))
    }
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Ancestors => "ancestors",
            Self::Descendants => "descendants",
        }
    }
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Query {
    way: Way,
    trace_id: Option<u64>,
    span_id: i64,
}

impl Lookup for Query {
    fn name(&self) -> &'static str {
        self.way.name()
    }

    fn key_columns(&self) -> &'static [&'static str] {
        &["trace_id", "id", "parent_id"]
    }

    fn row_columns(&self) -> &'static [&'static str] {
        &["trace_id", "id"]
    }

    fn added(&self) -> Vec<Field> {
        vec![Field::new("distance", DataType::Int64, true)]
    }

    fn trace_id(&self) -> Option<u64> {
        self.trace_id
    }

    fn index(&self) -> Box<dyn Index> {
        Box::new(Tree {
            way: self.way,
            only: self.trace_id,
            span_id: self.span_id,
            parents: HashMap::new(),
            found: HashMap::new(),
        })
    }
}

struct Tree {
    way: Way,
    only: Option<u64>,
    span_id: i64,
    /// The spans with their parents, per trace; sorted by id once complete.
    parents: HashMap<u64, Vec<(i64, Option<i64>)>>,
    /// The relatives and their distances, per trace.
    found: HashMap<u64, HashMap<i64, i64>>,
}

impl Index for Tree {
    fn take(&mut self, spans: &RecordBatch) -> Result<()> {
        let (traces, ids) = ids(spans)?;
        let Some(parents) = spans.column_by_name("parent_id") else { return internal_err!("spans have parents") };
        let parents = parents.as_primitive::<Int64Type>();
        for row in 0..spans.num_rows() {
            let trace_id = traces.value(row);
            if self.only.is_none_or(|only| only == trace_id) {
                let parent = parents.is_valid(row).then(|| parents.value(row));
                self.parents.entry(trace_id).or_default().push((ids.value(row), parent));
            }
        }
        Ok(())
    }

    fn finish(&mut self) {
        for (trace_id, mut spans) in std::mem::take(&mut self.parents) {
            spans.sort_unstable_by_key(|(id, _)| *id);
            let found = match self.way {
                Way::Ancestors => ancestors(&spans, self.span_id),
                Way::Descendants => descendants(&spans, self.span_id),
            };
            self.found.insert(trace_id, found);
        }
    }

    fn find(&self, rows: &RecordBatch) -> Result<(Option<BooleanArray>, Vec<ArrayRef>)> {
        let (traces, ids) = ids(rows)?;
        let distance = |row| self.found.get(&traces.value(row))?.get(&ids.value(row)).copied();
        let distances: Int64Array = (0..rows.num_rows()).map(distance).collect();
        let keep = BooleanArray::from_iter((0..rows.num_rows()).map(|row| Some(distances.is_valid(row))));
        Ok((Some(keep), vec![Arc::new(distances)]))
    }

    fn bytes(&self) -> usize {
        self.parents.values().map(|spans| spans.capacity() * size_of::<(i64, Option<i64>)>()).sum()
    }
}

fn ids(batch: &RecordBatch) -> Result<(&arrow_array::UInt64Array, &Int64Array)> {
    match (batch.column_by_name("trace_id"), batch.column_by_name("id")) {
        (Some(traces), Some(ids)) => Ok((traces.as_primitive::<UInt64Type>(), ids.as_primitive::<Int64Type>())),
        _ => internal_err!("spans have ids"),
    }
}

fn position(spans: &[(i64, Option<i64>)], id: i64) -> Option<usize> {
    // Ids usually equal the positions.
    let guess = usize::try_from(id).ok().filter(|guess| spans.get(*guess).is_some_and(|(known, _)| *known == id));
    guess.or_else(|| spans.binary_search_by_key(&id, |(known, _)| *known).ok())
}

/// The span itself at distance 0, its parent at 1, and so on.
fn ancestors(spans: &[(i64, Option<i64>)], span_id: i64) -> HashMap<i64, i64> {
    let mut found = HashMap::new();
    let mut next = Some(span_id);
    while let Some(index) = next.and_then(|id| position(spans, id)) {
        let (id, parent) = spans[index];
        // A file may contain a cycle.
        if found.contains_key(&id) {
            break;
        }
        found.insert(id, found.len() as i64);
        next = parent;
    }
    found
}

/// The span itself at distance 0, its children at 1, and so on.
fn descendants(spans: &[(i64, Option<i64>)], span_id: i64) -> HashMap<i64, i64> {
    const UNKNOWN: i32 = -2;
    const OUTSIDE: i32 = -1;
    let Some(root) = position(spans, span_id) else { return HashMap::new() };
    let mut distances = vec![UNKNOWN; spans.len()];
    distances[root] = 0;
    let mut path = Vec::new();
    for start in 0..spans.len() {
        let mut at = Some(start);
        // Up to a known span; a cycle ends at a span on this path, which is outside.
        while let Some(index) = at.filter(|index| distances[*index] == UNKNOWN) {
            distances[index] = OUTSIDE;
            path.push(index);
            at = spans[index].1.and_then(|parent| position(spans, parent));
        }
        let mut distance = at.map_or(OUTSIDE, |index| distances[index]);
        for index in path.drain(..).rev() {
            distance = if distance == OUTSIDE { OUTSIDE } else { distance + 1 };
            distances[index] = distance;
        }
    }
    let inside = spans.iter().zip(&distances).filter(|(_, distance)| **distance >= 0);
    inside.map(|((id, _), distance)| (*id, i64::from(*distance))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 0 ─ 1 ─ 2, 1 ─ 3, 0 ─ 7; 8 and 9 claim each other as parents.
    const SPANS: &[(i64, Option<i64>)] =
        &[(0, None), (1, Some(0)), (2, Some(1)), (3, Some(1)), (7, Some(0)), (8, Some(9)), (9, Some(8))];

    fn sorted(found: HashMap<i64, i64>) -> Vec<(i64, i64)> {
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn the_way_up() {
        assert_eq!(sorted(ancestors(SPANS, 3)), [(0, 2), (1, 1), (3, 0)]);
        assert_eq!(sorted(ancestors(SPANS, 9)), [(8, 1), (9, 0)]);
        assert_eq!(sorted(ancestors(SPANS, 5)), []);
    }

    #[test]
    fn the_way_down() {
        assert_eq!(sorted(descendants(SPANS, 1)), [(1, 0), (2, 1), (3, 1)]);
        assert_eq!(sorted(descendants(SPANS, 0)), [(0, 0), (1, 1), (2, 2), (3, 2), (7, 1)]);
        assert_eq!(sorted(descendants(SPANS, 8)), [(8, 0), (9, 1)]);
        assert_eq!(sorted(descendants(SPANS, 5)), []);
    }
}
