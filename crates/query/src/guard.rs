//! Keeps a query from crashing the process by limiting its length, its depth, and the size of its values.

use std::{collections::HashMap, ops::ControlFlow, sync::Arc, thread};

use arrow_array::{Array, cast::AsArray, types::Int64Type};
use arrow_schema::{DataType, FieldRef};
use datafusion::{
    arrow::compute::{cast, max},
    common::{
        DataFusionError, Result, exec_err, plan_err, resources_datafusion_err,
        tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion},
    },
    logical_expr::{
        BinaryExpr, ColumnarValue, Expr, LogicalPlan, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF,
        ScalarUDFImpl, Signature, expr::ScalarFunction, simplify::ExprSimplifyResult, simplify::SimplifyContext,
    },
    sql::{
        parser::Statement,
        sqlparser::{
            ast::{ObjectName, Query, Visit, Visitor},
            dialect::GenericDialect,
            keywords::Keyword,
            tokenizer::{Token, Tokenizer},
        },
    },
};

/// Max number of bytes of a query.
const MAX_LENGTH: usize = 1 << 20;
/// Max nesting depth of operators; the engine recurses for each of them.
const MAX_DEPTH: usize = 1_000;
/// Max number of operators of a plan.
const MAX_NODES: usize = 5_000;
/// Stack size for the recursive planner; only the used part costs memory.
const PLANNER_STACK_BYTES: usize = 256 << 20;
/// Stack size for recursive expressions, on each of the engine's threads.
pub(crate) const STACK_BYTES: usize = 64 << 20;

/// Runs engine work whose recursion is as deep as the query.
pub(crate) fn with_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("query-plan".to_owned()).stack_size(PLANNER_STACK_BYTES);
        let running = builder.spawn_scoped(scope, work)?;
        running.join().map_err(|_| DataFusionError::Execution("the engine failed at this query".to_owned()))
    })
}

/// Rejects a query that is too long or too deep to be parsed.
pub(crate) fn check_text(sql: &str) -> Result<()> {
    if sql.len() > MAX_LENGTH {
        return plan_err!("the query has {} bytes; at most {MAX_LENGTH} are allowed", sql.len());
    }
    // Text that cannot be tokenized is rejected by the parser, with a better message.
    let tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    let depth = depth(&tokens);
    if depth > MAX_DEPTH {
        return plan_err!(
            "the query nests {depth} operators; at most {MAX_DEPTH} are allowed. Write a long chain of `or` as `in (…)`"
        );
    }
    Ok(())
}

/// One pair of parentheses, or `case … end`.
#[derive(Clone, Copy, Default)]
struct Level {
    operators: usize,
    /// Relations separated by commas are nested; other lists are not.
    is_from: bool,
}

fn depth(tokens: &[Token]) -> usize {
    let mut levels = vec![Level::default()];
    let mut deepest = 0;
    for token in tokens {
        let is_inside = levels.len() > 1;
        let Some(level) = levels.last_mut() else { break };
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => levels.push(Level::default()),
            Token::RParen | Token::RBracket | Token::RBrace if is_inside => drop(levels.pop()),
            Token::Comma if level.is_from => level.operators += 1,
            Token::Comma | Token::SemiColon => level.operators = 0,
            Token::Word(word) => match word.keyword {
                Keyword::CASE => levels.push(Level::default()),
                Keyword::END if is_inside => drop(levels.pop()),
                Keyword::WHEN | Keyword::THEN | Keyword::ELSE => level.operators = 0,
                Keyword::FROM => level.is_from = true,
                Keyword::WHERE | Keyword::GROUP | Keyword::HAVING | Keyword::ORDER | Keyword::LIMIT => {
                    level.is_from = false;
                }
                Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT => {
                    *level = Level { operators: level.operators + 1, is_from: false };
                }
                Keyword::AND | Keyword::OR | Keyword::NOT | Keyword::IS | Keyword::LIKE | Keyword::JOIN => {
                    level.operators += 1;
                }
                _ => {}
            },
            Token::Number(..) | Token::SingleQuotedString(_) | Token::Whitespace(_) | Token::Period | Token::EOF => {}
            _ => level.operators += 1,
        }
        deepest = deepest.max(levels.iter().map(|level| level.operators + 1).sum());
    }
    deepest
}

/// Rejects a query whose `with` clauses expand to too many relations: a name is planned again at each use, so a short
/// query can expand to billions.
pub(crate) fn check_uses(statement: &Statement) -> Result<()> {
    let mut uses = Uses { open: vec![0], ..Uses::default() };
    match statement {
        Statement::Statement(statement) => drop(statement.visit(&mut uses)),
        Statement::Explain(explain) => return check_uses(&explain.statement),
        _ => {}
    }
    match uses.open.iter().fold(0, |sum: usize, open| sum.saturating_add(*open)) {
        0..=MAX_NODES => Ok(()),
        many => plan_err!("the query reads {many} relations; at most {MAX_NODES} operators are allowed"),
    }
}

/// Counts relations.
#[derive(Default)]
struct Uses {
    /// The relations of each open query.
    open: Vec<usize>,
    /// Names of the queries of `with` clauses, by the position of the query.
    names: HashMap<usize, String>,
    /// The number of relations that a name expands to.
    weights: HashMap<String, usize>,
}

impl Uses {
    fn add(&mut self, relations: usize) {
        if let Some(open) = self.open.last_mut() {
            *open = open.saturating_add(relations);
        }
    }
}

fn place(query: &Query) -> usize {
    std::ptr::from_ref(query) as usize
}

impl Visitor for Uses {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let named = query.with.iter().flat_map(|with| &with.cte_tables);
        self.names.extend(named.map(|named| (place(&named.query), named.alias.name.value.to_lowercase())));
        self.open.push(1);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let relations = self.open.pop().unwrap_or(0);
        match self.names.remove(&place(query)) {
            Some(name) => drop(self.weights.insert(name, relations)),
            None => self.add(relations),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let weight = self.weights.get(&relation.to_string().to_lowercase()).copied();
        self.add(weight.unwrap_or(1));
        ControlFlow::Continue(())
    }
}

/// Rejects a plan that is too large, and limits the size of the results of its functions.
pub(crate) fn bounded(plan: LogicalPlan, memory_bytes: u64) -> Result<LogicalPlan> {
    let mut nodes = 0;
    plan.apply_with_subqueries(|_| {
        nodes += 1;
        Ok(if nodes > MAX_NODES { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    if nodes > MAX_NODES {
        return plan_err!("the plan of the query has more than {MAX_NODES} operators");
    }
    let max_bytes = usize::try_from(memory_bytes / 4).unwrap_or(usize::MAX);
    let guard = |expr: Expr| guarded(expr, max_bytes);
    plan.transform_with_subqueries(|node| node.map_expressions(|expr| expr.transform_up(guard))).data()
}

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
    ("overlay", Growth::Sum),
    ("range", Growth::Range),
    ("regexp_replace", Growth::Bytes(2)),
    ("repeat", Growth::Times(1)),
    ("replace", Growth::Bytes(2)),
    ("rpad", Growth::Length),
    ("string_to_array", Growth::Sum),
    ("to_char", Growth::Bytes(1)),
    ("translate", Growth::Sum),
];

/// What the size of a result depends on; the numbers are argument indexes.
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

/// The same for the results of `||`, which is not a function.
#[derive(Debug, Eq, Hash, PartialEq)]
pub(crate) struct Measured {
    signature: Signature,
    max_bytes: usize,
}

fn guarded(expr: Expr, max_bytes: usize) -> Result<Transformed<Expr>> {
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
        Self { signature: Signature::any(1, datafusion::logical_expr::Volatility::Immutable), max_bytes }
    }

    #[cfg(feature = "codec")]
    pub(crate) fn max_bytes(&self) -> usize {
        self.max_bytes
    }
}

impl Bounded {
    /// `None` for a function whose results do not grow.
    pub(crate) fn new(inner: Arc<ScalarUDF>, max_bytes: usize) -> Option<Self> {
        let growth = GROWING.iter().find(|(name, _)| *name == inner.name()).map(|(_, growth)| *growth)?;
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
        "||"
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
        match args.args.into_iter().next() {
            Some(value) if size(&value, 1) > self.max_bytes as u128 => Err(too_large(self.name(), self.max_bytes)),
            Some(value) => Ok(value),
            None => exec_err!("|| has no value"),
        }
    }
}
