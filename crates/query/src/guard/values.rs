//! Limits the size of values, which the engine's memory limit does not cover.

use std::sync::Arc;

use arrow_array::{Array, cast::AsArray, types::Int64Type};
use arrow_schema::{DataType, FieldRef};
use datafusion::{
    arrow::compute::{cast, max},
    common::{
        DataFusionError, Result, ScalarValue, exec_err, resources_datafusion_err,
        tree_node::{Transformed, TreeNode},
    },
    logical_expr::{
        BinaryExpr, ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
        Signature, Volatility, expr::ScalarFunction, simplify::ExprSimplifyResult, simplify::SimplifyContext,
    },
};

/// The name of what measures values.
const MEASURED: &str = "||";
/// Max bytes of a literal that is not measured.
const MAX_LITERAL_BYTES: usize = 1 << 10;

/// Functions whose results may be larger than their arguments, also in several steps, and how much larger.
static GROWING: &[(&str, Growth)] = &[
    ("array_append", Growth::Sum),
    ("array_concat", Growth::Sum),
    ("array_prepend", Growth::Sum),
    ("array_repeat", Growth::Times(1)),
    ("array_replace", Growth::Sum),
    ("array_replace_all", Growth::Bytes(2)),
    ("array_replace_n", Growth::Bytes(2)),
    ("array_resize", Growth::Times(1)),
    ("array_to_string", Growth::Bytes(1)),
    ("arrays_zip", Growth::Sum),
    ("concat", Growth::Sum),
    ("concat_ws", Growth::Bytes(0)),
    ("encode", Growth::Sum),
    ("generate_series", Growth::Range),
    ("lpad", Growth::Length),
    ("make_array", Growth::Sum),
    ("map", Growth::Sum),
    ("named_struct", Growth::Sum),
    ("overlay", Growth::Sum),
    ("range", Growth::Range),
    ("regexp_replace", Growth::Bytes(2)),
    ("repeat", Growth::Times(1)),
    ("replace", Growth::Bytes(2)),
    ("rpad", Growth::Length),
    ("string_to_array", Growth::Sum),
    ("struct", Growth::Sum),
    ("to_char", Growth::Bytes(1)),
    ("translate", Growth::Sum),
];

fn growth(name: &str) -> Option<Growth> {
    GROWING.iter().find(|(growing, _)| *growing == name).map(|(_, growth)| *growth)
}

/// The arguments that determine the size of a result, by index.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Growth {
    /// The sum of all arguments.
    Sum,
    /// All arguments, times a number.
    Times(usize),
    /// All arguments, times the bytes of a text.
    Bytes(usize),
    /// A number of characters per row.
    Length,
    /// The numbers from the first to the second.
    Range,
}

/// A growing function that rejects results beyond a size, because the engine's memory limit does not cover them.
#[derive(Debug, Eq, Hash, PartialEq)]
pub(crate) struct Bounded {
    inner: Arc<ScalarUDF>,
    growth: Growth,
    max_bytes: usize,
}

/// The same for values that are not results of a function: those of `||`, and columns of one value.
#[derive(Debug, Eq, Hash, PartialEq)]
pub(crate) struct Measured {
    signature: Signature,
    max_bytes: usize,
}

/// Whether an expression makes values of any size: a copy can be as large as what a growing function has made.
pub(super) fn is_new(expr: &Expr) -> bool {
    match expr {
        Expr::Case(_) | Expr::Cast(_) | Expr::ScalarFunction(_) | Expr::TryCast(_) => true,
        Expr::BinaryExpr(BinaryExpr { op, .. }) => *op == Operator::StringConcat,
        Expr::Literal(value, _) => heap_bytes(value) > MAX_LITERAL_BYTES,
        _ => false,
    }
}

/// Measures a column of one large value: the engine computes such a value once and copies it for each row.
pub(super) fn measured_column(expr: Expr, max_bytes: usize) -> Result<Transformed<Expr>> {
    let is_variable = |expr: &Expr| {
        Ok(matches!(
            expr,
            Expr::Exists(_) | Expr::InSubquery(_) | Expr::OuterReferenceColumn(..) | Expr::ScalarSubquery(_)
        ))
    };
    let may_be_large = |expr: &Expr| match expr {
        Expr::Literal(..) => Ok(is_new(expr)),
        Expr::ScalarFunction(function) => {
            Ok(function.func.name() == MEASURED || growth(function.func.name()).is_some())
        }
        _ => Ok(false),
    };
    if expr.any_column_refs() || expr.exists(is_variable)? || !expr.exists(may_be_large)? {
        return Ok(Transformed::no(expr));
    }
    // The optimizer replaces each use of a column by its value unless the value is volatile.
    let func = Arc::new(ScalarUDF::from(Measured { signature: Signature::any(1, Volatility::Volatile), max_bytes }));
    let measured = |expr| Expr::ScalarFunction(ScalarFunction { func, args: vec![expr] });
    Ok(Transformed::yes(match expr {
        Expr::Alias(mut alias) => {
            alias.expr = Box::new(measured(*alias.expr));
            Expr::Alias(alias)
        }
        expr => measured(expr),
    }))
}

/// Replaces a growing function by a bounded one.
pub(super) fn guarded(expr: Expr, max_bytes: usize) -> Result<Transformed<Expr>> {
    let udf = match &expr {
        Expr::ScalarFunction(ScalarFunction { func, .. }) => {
            Bounded::new(Arc::clone(func), max_bytes).map(ScalarUDF::from)
        }
        Expr::BinaryExpr(BinaryExpr { op: Operator::StringConcat, .. }) => {
            Some(ScalarUDF::from(Measured::new(max_bytes)))
        }
        _ => None,
    };
    Ok(match (udf.map(Arc::new), expr) {
        (Some(func), Expr::ScalarFunction(ScalarFunction { args, .. })) => {
            Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args }))
        }
        (Some(func), expr) => Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args: vec![expr] })),
        (None, expr) => Transformed::no(expr),
    })
}

impl Measured {
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self { signature: Signature::any(1, Volatility::Immutable), max_bytes }
    }

    #[cfg(feature = "codec")]
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }
}

impl Bounded {
    /// `None` for a function whose results do not grow.
    pub(crate) fn new(inner: Arc<ScalarUDF>, max_bytes: usize) -> Option<Self> {
        let growth = growth(inner.name())?;
        Some(Self { inner, growth, max_bytes })
    }

    #[cfg(feature = "codec")]
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Upper bound of the bytes of the result.
    fn estimate(&self, args: &ScalarFunctionArgs) -> Result<u128> {
        let rows = args.number_rows as u128;
        let sum: u128 = args.args.iter().map(|arg| size(arg, args.number_rows)).sum();
        Ok(match self.growth {
            Growth::Sum => sum,
            Growth::Times(number) => sum * number_of(args, number)?.max(1),
            Growth::Bytes(text) => {
                let bytes = args.args.get(text).map_or(0, |arg| match arg {
                    ColumnarValue::Array(_) => size(arg, 1),
                    ColumnarValue::Scalar(value) => {
                        value.try_as_str().flatten().map_or(size(arg, 1), |text| text.len() as u128)
                    }
                });
                sum.saturating_mul(bytes.max(1))
            }
            Growth::Length => rows * number_of(args, 1)? * 4,
            Growth::Range => rows * range(args)? * 8,
        })
    }
}

/// Bytes of an argument, for all rows.
fn size(arg: &ColumnarValue, rows: usize) -> u128 {
    match arg {
        ColumnarValue::Array(array) => {
            array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_array_memory_size()) as u128
        }
        ColumnarValue::Scalar(value) => value.size() as u128 * rows as u128,
    }
}

/// Bytes of a text or list; 0 for a number.
fn heap_bytes(value: &ScalarValue) -> usize {
    value.size().saturating_sub(size_of_val(value))
}

/// The largest value of an integer argument; `None` for NULL.
fn largest(arg: &ColumnarValue) -> Result<Option<i64>> {
    let array = arg.to_array(1)?;
    if !(array.data_type().is_integer() || array.data_type().is_null()) {
        return exec_err!("only integers are allowed here, not {}", array.data_type());
    }
    Ok(max(cast(&array, &DataType::Int64)?.as_primitive::<Int64Type>()))
}

fn number_of(args: &ScalarFunctionArgs, number: usize) -> Result<u128> {
    let largest = args.args.get(number).map(largest).transpose()?.flatten();
    Ok(largest.map_or(0, |value| value.max(0).unsigned_abs().into()))
}

/// Upper bound of the length of a range; steps make it shorter.
fn range(args: &ScalarFunctionArgs) -> Result<u128> {
    let mut extent: u128 = 0;
    for arg in args.args.iter().take(2) {
        let ends = [largest(arg)?, least(arg)?];
        extent += ends.into_iter().flatten().map(|end| u128::from(end.unsigned_abs())).max().unwrap_or(0);
    }
    let step = args.args.get(2).map(largest).transpose()?.flatten();
    Ok(extent / step.map_or(1, |step| u128::from(step.unsigned_abs()).max(1)))
}

fn least(arg: &ColumnarValue) -> Result<Option<i64>> {
    let array = cast(&arg.to_array(1)?, &DataType::Int64)?;
    Ok(datafusion::arrow::compute::min(array.as_primitive::<Int64Type>()))
}

fn too_large(name: &str, max_bytes: usize) -> DataFusionError {
    resources_datafusion_err!("{name} would produce values of more than {} MB", max_bytes >> 20)
}

impl ScalarUDFImpl for Bounded {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        // The engine would put its own function back.
        Ok(ExprSimplifyResult::Original(args))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if self.estimate(&args)? > self.max_bytes as u128 {
            return Err(too_large(self.name(), self.max_bytes));
        }
        self.inner.invoke_with_args(args)
    }
}

impl ScalarUDFImpl for Measured {
    fn name(&self) -> &str {
        MEASURED
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(args.first().map(|arg| arg.schema_name().to_string()).unwrap_or_default())
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        types.first().cloned().ok_or_else(|| DataFusionError::Internal("|| has no value".to_owned()))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let bytes = |value: &ColumnarValue| match value {
            ColumnarValue::Array(_) => size(value, 1),
            ColumnarValue::Scalar(value) => heap_bytes(value) as u128 * args.number_rows as u128,
        };
        match args.args.into_iter().next() {
            Some(value) if bytes(&value) > self.max_bytes as u128 => Err(too_large(self.name(), self.max_bytes)),
            Some(value) => Ok(value),
            None => exec_err!("|| has no value"),
        }
    }
}
