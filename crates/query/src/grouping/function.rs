//! The two functions that convert between a name and its number.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use arrow_schema::{DataType, Field, FieldRef};
use datafusion::{
    common::{Result, internal_err},
    execution::memory_pool::MemoryPool,
    logical_expr::{
        ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
    },
};

use super::interner::GroupNames;

/// The data type of names in the model.
pub(super) fn name_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// The two directions of one key.
pub(super) struct Pair {
    pub(super) intern: ScalarUDF,
    pub(super) resolve: ScalarUDF,
}

impl Pair {
    pub(super) fn new(pool: &Arc<dyn MemoryPool>) -> Self {
        let interner = Arc::new(GroupNames::new(pool));
        let function = |direction| {
            let signature = Signature::any(1, Volatility::Immutable);
            ScalarUDF::new_from_impl(Function { direction, interner: Arc::clone(&interner), signature })
        };
        Self { intern: function(Direction::Intern), resolve: function(Direction::Resolve) }
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
    interner: Arc<GroupNames>,
    signature: Signature,
}

/// The interner, if this is the function that numbers names.
pub(super) fn interner(function: &ScalarUDF) -> Option<&Arc<GroupNames>> {
    let function = function.inner().downcast_ref::<Function>()?;
    (function.direction == Direction::Intern).then_some(&function.interner)
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
        let [array] = args.args.as_slice() else { return internal_err!("{} expects one argument", self.name()) };
        let array = array.to_array(args.number_rows)?;
        Ok(ColumnarValue::Array(match self.direction {
            Direction::Intern => Arc::new(self.interner.intern(&array)?),
            Direction::Resolve => Arc::new(self.interner.resolve(&array)?),
        }))
    }
}
