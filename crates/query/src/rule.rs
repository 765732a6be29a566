//! Groups by a name as if it were a number.
//!
//! `group by name` becomes `group by intern(name)`, and a projection above turns numbers back into names. The engine
//! would hash the text of every row; batches of a trace share one dictionary, so that here each name is hashed once.

use std::{
    hash::{Hash, Hasher},
    sync::{Arc, Mutex},
};

use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, StringArray, UInt32Array,
    cast::AsArray,
    types::{Int32Type, UInt32Type},
};
use arrow_schema::{DataType, Field, FieldRef};
use datafusion::{
    common::{Result, exec_err, internal_err, tree_node::Transformed},
    execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation},
    logical_expr::{
        Aggregate, ColumnarValue, Expr, ExprSchemable, LogicalPlan, Projection, ReturnFieldArgs, ScalarFunctionArgs,
        ScalarUDF, ScalarUDFImpl, Signature, Volatility,
    },
    optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule},
};

use crate::names::Names;

/// The rule. It comes last, so that every other rule has seen the plan as it was written.
#[derive(Debug)]
pub(crate) struct GroupByNumber {
    /// Names are kept once for each query and key, and counted here.
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
        match pairs.iter().any(Option::is_some) {
            true => Ok(Transformed::yes(rewritten(&aggregate, &pairs)?)),
            false => Ok(Transformed::no(LogicalPlan::Aggregate(aggregate))),
        }
    }
}

/// Names of the model are columns; what an expression makes of them has a dictionary of its own for each batch.
fn is_column(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => is_column(&alias.expr),
        Expr::Column(_) => true,
        _ => false,
    }
}

fn name_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
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

/// The two directions of one key.
struct Pair {
    intern: ScalarUDF,
    resolve: ScalarUDF,
}

impl Pair {
    fn new(pool: &Arc<dyn MemoryPool>) -> Self {
        let reservation = MemoryConsumer::new("names").register(pool);
        let state = State { names: Names::default(), last: None, reservation };
        let interner = Arc::new(Interner(Mutex::new(state)));
        let function = |direction| {
            let signature = Signature::any(1, Volatility::Immutable);
            ScalarUDF::new_from_impl(Function { direction, interner: Arc::clone(&interner), signature })
        };
        Self { intern: function(Direction::Intern), resolve: function(Direction::Resolve) }
    }
}

/// All names of one key of one query.
#[derive(Debug)]
struct Interner(Mutex<State>);

#[derive(Debug)]
struct State {
    names: Names,
    /// The dictionary seen last and its numbers: a trace shares one across its batches.
    last: Option<(ArrayRef, Arc<Vec<u32>>)>,
    reservation: MemoryReservation,
}

impl Interner {
    /// The number of each entry of a dictionary.
    fn numbers(&self, values: &ArrayRef) -> Result<Arc<Vec<u32>>> {
        let Ok(mut state) = self.0.lock() else { return exec_err!("another part of the query failed") };
        if let Some((seen, numbers)) = &state.last
            && (Arc::ptr_eq(seen, values) || seen.to_data().ptr_eq(&values.to_data()))
        {
            return Ok(Arc::clone(numbers));
        }
        let strings = values.as_string::<i32>();
        let numbers = (0..strings.len()).map(|entry| state.names.number(strings.value(entry))).collect();
        let numbers: Arc<Vec<u32>> = Arc::new(numbers);
        let bytes = state.names.bytes();
        state.reservation.try_resize(bytes)?;
        state.last = Some((Arc::clone(values), Arc::clone(&numbers)));
        Ok(numbers)
    }

    fn intern(&self, array: &ArrayRef) -> Result<UInt32Array> {
        let Some(names) = array.as_dictionary_opt::<Int32Type>() else {
            return internal_err!("names are a dictionary");
        };
        let numbers = self.numbers(names.values())?;
        let keys = names.keys();
        // The key of a NULL may be anything.
        let gathered = keys.values().iter().map(|key| numbers.get(*key as usize).copied().unwrap_or_default());
        let nulls = match names.values().null_count() {
            0 => keys.nulls().cloned(),
            _ => names.logical_nulls(),
        };
        Ok(UInt32Array::new(gathered.collect::<Vec<_>>().into(), nulls))
    }

    fn resolve(&self, array: &ArrayRef) -> Result<DictionaryArray<Int32Type>> {
        let Ok(state) = self.0.lock() else { return exec_err!("another part of the query failed") };
        let numbers = array.as_primitive::<UInt32Type>();
        let mut keys_of: Vec<i32> = vec![-1; state.names.len()];
        let mut entries: Vec<&str> = Vec::new();
        let mut keys = Vec::with_capacity(numbers.len());
        for number in numbers {
            let Some(number) = number else {
                keys.push(None);
                continue;
            };
            let (Some(name), Some(key)) = (state.names.name(number), keys_of.get_mut(number as usize)) else {
                return internal_err!("there is no name {number}");
            };
            if *key < 0 {
                *key = entries.len() as i32;
                entries.push(name);
            }
            keys.push(Some(*key));
        }
        Ok(DictionaryArray::try_new(Int32Array::from(keys), Arc::new(StringArray::from(entries)))?)
    }
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Direction {
    Intern,
    Resolve,
}

/// A function that belongs to one query and key.
#[derive(Debug)]
struct Function {
    direction: Direction,
    interner: Arc<Interner>,
    signature: Signature,
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.direction == other.direction && Arc::ptr_eq(&self.interner, &other.interner)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.direction, Arc::as_ptr(&self.interner).addr()).hash(state);
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        match self.direction {
            Direction::Intern => "number_of_name",
            Direction::Resolve => "name_of_number",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.direction {
            Direction::Intern => DataType::UInt32,
            Direction::Resolve => name_type(),
        })
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let is_nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&[])?, is_nullable)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [array] = args.args.as_slice() else { return internal_err!("{} takes one argument", self.name()) };
        let array = array.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(match self.direction {
            Direction::Intern => Arc::new(self.interner.intern(&array)?),
            Direction::Resolve => Arc::new(self.interner.resolve(&array)?),
        }))
    }
}
