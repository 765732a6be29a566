//! The first stage of an aggregate: the contribution of one stream of rows to each group.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, cast::AsArray, types::Int32Type};
use arrow_schema::SchemaRef;
use datafusion::{
    common::{Result, internal_err},
    execution::memory_pool::MemoryReservation,
    logical_expr::{EmitTo, GroupsAccumulator},
    physical_expr::{PhysicalExpr, aggregate::AggregateFunctionExpr},
    physical_plan::{ExecutionPlan, aggregates::AggregateExec},
};

use super::{groups::Groups, interner::GroupNames};

/// Whether there is memory for more groups.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Room {
    Enough,
    None,
}

/// Groups and their partial aggregates: `(take* give)*`.
pub(super) struct Tally {
    names: Arc<dyn PhysicalExpr>,
    interner: Arc<GroupNames>,
    groups: Groups,
    sums: Vec<Sum>,
    schema: SchemaRef,
    reservation: MemoryReservation,
}

impl Tally {
    pub(super) fn new(
        aggregate: &AggregateExec,
        names: Arc<dyn PhysicalExpr>,
        interner: Arc<GroupNames>,
        reservation: MemoryReservation,
    ) -> Result<Self> {
        let sums = aggregate.aggr_expr().iter().zip(aggregate.filter_expr()).map(Sum::new).collect::<Result<_>>()?;
        Ok(Self { names, interner, groups: Groups::default(), sums, schema: aggregate.schema(), reservation })
    }

    /// Adds rows.
    pub(super) fn take(&mut self, batch: &RecordBatch) -> Result<Room> {
        let names = evaluated(&self.names, batch)?;
        let Some(names) = names.as_dictionary_opt::<Int32Type>() else {
            return internal_err!("names are a dictionary");
        };
        let groups = self.groups.find(names, &self.interner)?;
        for sum in &mut self.sums {
            sum.add(batch, groups.rows, groups.total)?;
        }
        let bytes = self.groups.bytes() + self.sums.iter().map(|sum| sum.accumulator.size()).sum::<usize>();
        // Not a failure: if there is no room, the caller continues after it has taken the groups.
        Ok(if self.reservation.try_resize(bytes).is_ok() { Room::Enough } else { Room::None })
    }

    /// Returns and resets the groups; `None` if there are none.
    pub(super) fn give(&mut self) -> Result<Option<RecordBatch>> {
        if self.groups.is_empty() {
            return Ok(None);
        }
        let mut columns: Vec<ArrayRef> = vec![Arc::new(self.groups.take())];
        for sum in &mut self.sums {
            columns.extend(sum.accumulator.state(EmitTo::All)?);
        }
        self.reservation.free();
        Ok(Some(RecordBatch::try_new(Arc::clone(&self.schema), columns)?))
    }
}

/// One aggregate function over all groups.
struct Sum {
    arguments: Vec<Arc<dyn PhysicalExpr>>,
    filter: Option<Arc<dyn PhysicalExpr>>,
    accumulator: Box<dyn GroupsAccumulator>,
}

impl Sum {
    fn new((function, filter): (&Arc<AggregateFunctionExpr>, &Option<Arc<dyn PhysicalExpr>>)) -> Result<Self> {
        let (arguments, accumulator) = (function.expressions(), function.create_groups_accumulator()?);
        Ok(Self { arguments, filter: filter.clone(), accumulator })
    }

    fn add(&mut self, batch: &RecordBatch, groups: &[usize], total: usize) -> Result<()> {
        let arguments = self.arguments.iter().map(|argument| evaluated(argument, batch)).collect::<Result<Vec<_>>>()?;
        let filter = self.filter.as_ref().map(|filter| evaluated(filter, batch)).transpose()?;
        let filter = filter.as_ref().map(|filter| filter.as_boolean());
        self.accumulator.update_batch(&arguments, groups, filter, total)
    }
}

fn evaluated(expr: &Arc<dyn PhysicalExpr>, batch: &RecordBatch) -> Result<ArrayRef> {
    expr.evaluate(batch)?.into_array(batch.num_rows())
}
