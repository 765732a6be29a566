//! `percentile(value, share)`: exact, with linear interpolation between two samples.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, ListArray, cast::AsArray, types::Float64Type};
use arrow_schema::{DataType, Field, FieldRef};
use datafusion::{
    arrow::buffer::OffsetBuffer,
    common::{Result, ScalarValue, exec_err, plan_err},
    logical_expr::{
        Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, Signature, Volatility,
        function::{AccumulatorArgs, StateFieldsArgs},
        utils::format_state_name,
    },
    physical_expr::expressions::Literal,
};
use traceloom_passes::quantile;

/// The function: all samples of a group are kept, eight bytes each, and the requested one is selected without sorting.
#[derive(Debug, Eq, Hash, PartialEq)]
pub(super) struct Percentile(Signature);

impl Percentile {
    pub(super) fn new() -> Self {
        Self(Signature::exact(vec![DataType::Float64, DataType::Float64], Volatility::Immutable))
    }
}

impl AggregateUDFImpl for Percentile {
    fn name(&self) -> &str {
        "percentile"
    }

    fn signature(&self) -> &Signature {
        &self.0
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let list = DataType::List(sample_field());
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "samples"), list, true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(One(Samples::new(&args)?)))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        Ok(Box::new(Samples::new(&args)?))
    }
}

fn sample_field() -> FieldRef {
    Arc::new(Field::new("item", DataType::Float64, true))
}

/// Samples by group.
#[derive(Debug)]
struct Samples {
    share: f64,
    groups: Vec<Vec<f64>>,
    /// Memory in use by all groups.
    bytes: usize,
}

impl Samples {
    fn new(args: &AccumulatorArgs<'_>) -> Result<Self> {
        if args.is_distinct {
            return plan_err!("percentile of distinct values is not supported");
        }
        let literal = args.exprs.get(1).and_then(|share| share.downcast_ref::<Literal>());
        match literal.map(|literal| literal.value().cast_to(&DataType::Float64)).transpose()? {
            Some(ScalarValue::Float64(Some(share))) if (0.0..=1.0).contains(&share) => {
                Ok(Self { share, groups: Vec::new(), bytes: 0 })
            }
            _ => plan_err!("the second argument of percentile must be a number from 0 to 1, such as 0.99"),
        }
    }

    fn reach(&mut self, groups: usize) {
        if self.groups.len() < groups {
            self.groups.resize_with(groups, Vec::new);
        }
    }

    fn push(&mut self, group: usize, samples: &[f64]) {
        let Some(group) = self.groups.get_mut(group) else { return };
        let before = group.capacity();
        group.extend_from_slice(samples);
        self.bytes += (group.capacity() - before) * size_of::<f64>();
    }

    fn take(&mut self, emit: EmitTo) -> Vec<Vec<f64>> {
        let taken = emit.take_needed(&mut self.groups);
        let bytes: usize = taken.iter().map(|group| group.capacity() * size_of::<f64>()).sum();
        self.bytes = self.bytes.saturating_sub(bytes);
        taken
    }
}

/// Lists, as the intermediate state between stages.
fn lists(groups: &[Vec<f64>]) -> Result<ArrayRef> {
    let total: usize = groups.iter().map(Vec::len).sum();
    if i32::try_from(total).is_err() {
        return exec_err!("too many samples for percentile at once: {total}");
    }
    let offsets = OffsetBuffer::from_lengths(groups.iter().map(Vec::len));
    let mut values = Vec::with_capacity(total);
    groups.iter().for_each(|group| values.extend_from_slice(group));
    Ok(Arc::new(ListArray::try_new(sample_field(), offsets, Arc::new(Float64Array::from(values)), None)?))
}

impl GroupsAccumulator for Samples {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total: usize,
    ) -> Result<()> {
        self.reach(total);
        let values = values[0].as_primitive::<Float64Type>();
        let is_wanted = |row: usize| filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        for (row, (value, group)) in values.iter().zip(groups).enumerate() {
            if let Some(value) = value
                && is_wanted(row)
            {
                self.push(*group, &[value]);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit: EmitTo) -> Result<ArrayRef> {
        let share = self.share;
        let values: Float64Array = self.take(emit).iter_mut().map(|samples| quantile(samples, share)).collect();
        Ok(Arc::new(values))
    }

    fn state(&mut self, emit: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![lists(&self.take(emit))?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], total: usize) -> Result<()> {
        self.reach(total);
        let lists = states[0].as_list::<i32>();
        let samples = lists.values().as_primitive::<Float64Type>().values();
        for (row, group) in groups.iter().enumerate() {
            let (begin, end) = (lists.value_offsets()[row] as usize, lists.value_offsets()[row + 1] as usize);
            if lists.is_valid(row) {
                self.push(*group, &samples[begin..end]);
            }
        }
        Ok(())
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values = values[0].as_primitive::<Float64Type>();
        let is_wanted = |row: usize| filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        let kept = |row: usize| (values.is_valid(row) && is_wanted(row)).then(|| values.value(row));
        let offsets = OffsetBuffer::from_lengths((0..values.len()).map(|row| usize::from(kept(row).is_some())));
        let samples: Vec<f64> = (0..values.len()).filter_map(kept).collect();
        Ok(vec![Arc::new(ListArray::try_new(sample_field(), offsets, Arc::new(Float64Array::from(samples)), None)?)])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.groups.capacity() * size_of::<Vec<f64>>() + self.bytes
    }
}

/// A single group.
#[derive(Debug)]
struct One(Samples);

impl Accumulator for One {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.reach(1);
        let values = values[0].as_primitive::<Float64Type>();
        match values.null_count() {
            0 => self.0.push(0, values.values()),
            _ => values.iter().flatten().for_each(|value| self.0.push(0, &[value])),
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        // A window evaluates again for a longer range, so the samples are kept.
        let share = self.0.share;
        Ok(ScalarValue::Float64(self.0.groups.first_mut().and_then(|samples| quantile(samples, share))))
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.reach(1);
        let lists = lists(&self.0.groups)?;
        Ok(vec![ScalarValue::try_from_array(&lists, 0)?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let groups = vec![0; states[0].len()];
        GroupsAccumulator::merge_batch(&mut self.0, states, &groups, 1)
    }
}
