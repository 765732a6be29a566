//! Keeps a query from crashing the process by limiting its length, its depth, its types, and the size of its values.

mod types;
mod values;

use std::{collections::HashMap, ops::ControlFlow, thread};

use datafusion::{
    common::{
        DataFusionError, Result, plan_err,
        tree_node::{TransformedResult, TreeNode, TreeNodeRecursion},
    },
    logical_expr::{self, LogicalPlan},
    sql::{
        parser::Statement,
        sqlparser::{
            ast::{Expr, FunctionArguments, ObjectName, Query, Visit, Visitor},
            dialect::GenericDialect,
            keywords::Keyword,
            tokenizer::{Token, Tokenizer},
        },
    },
};

#[cfg(feature = "codec")]
pub(crate) use self::values::{Bounded, Measured};

/// Max number of bytes of a query.
const MAX_LENGTH: usize = 1 << 20;
/// Max nesting depth of operators; the engine recurses for each of them.
const MAX_DEPTH: usize = 1_000;
/// Max number of operators of a plan.
const MAX_NODES: usize = 5_000;
/// Min number of results among which the memory is divided, because a single one is only a part of what a query needs.
const MIN_RESULTS: u64 = 4;
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

/// The levels that are open, with their depth: the sum is kept, because adding it up for every token would take time
/// that grows with the square of the query.
#[derive(Default)]
struct Levels {
    inner: Level,
    outer: Vec<Level>,
    outer_depth: usize,
}

impl Levels {
    fn open(&mut self) {
        self.outer_depth += self.inner.operators + 1;
        self.outer.push(std::mem::take(&mut self.inner));
    }

    fn close(&mut self) {
        if let Some(level) = self.outer.pop() {
            self.outer_depth -= level.operators + 1;
            self.inner = level;
        }
    }

    fn depth(&self) -> usize {
        self.outer_depth + self.inner.operators + 1
    }
}

fn depth(tokens: &[Token]) -> usize {
    let mut levels = Levels::default();
    let mut deepest = 0;
    for token in tokens {
        let level = &mut levels.inner;
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => levels.open(),
            Token::RParen | Token::RBracket | Token::RBrace => levels.close(),
            Token::Comma if level.is_from => level.operators += 1,
            Token::Comma | Token::SemiColon => level.operators = 0,
            Token::Word(word) => match word.keyword {
                Keyword::CASE => levels.open(),
                Keyword::END => levels.close(),
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
        deepest = deepest.max(levels.depth());
    }
    deepest
}

/// Rejects a query whose `with` clauses expand to too many relations: a name is planned again at each use, so a short
/// query can expand to billions. The same holds for types: `struct(x, x)` has twice the fields of `x`, and the planner
/// compares all of them.
pub(crate) fn check_uses(statement: &Statement) -> Result<()> {
    let mut uses = Uses { open: vec![Open::default()], ..Uses::default() };
    match statement {
        Statement::Statement(statement) => drop(statement.visit(&mut uses)),
        Statement::Explain(explain) => return check_uses(&explain.statement),
        _ => {}
    }
    match uses.open.iter().fold(0, |sum: usize, open| sum.saturating_add(open.weight())) {
        0..=MAX_NODES => Ok(()),
        many => {
            plan_err!("the query expands to {many} relations and fields; at most {MAX_NODES} operators are allowed")
        }
    }
}

/// Counts relations.
#[derive(Default)]
struct Uses {
    /// The queries that are being visited.
    open: Vec<Open>,
    /// Names of the queries of `with` clauses, by the position of the query.
    names: HashMap<usize, String>,
    /// The size of the expansion of each name.
    weights: HashMap<String, usize>,
}

/// A query.
#[derive(Clone, Copy, Default)]
struct Open {
    relations: usize,
    /// Fields of its structures.
    fields: usize,
}

impl Open {
    fn weight(self) -> usize {
        self.relations.saturating_mul(self.fields.max(1))
    }
}

impl Uses {
    fn add(&mut self, relations: usize) {
        if let Some(open) = self.open.last_mut() {
            open.relations = open.relations.saturating_add(relations);
        }
    }
}

/// Functions that return a structure of their arguments.
static STRUCTURES: &[&str] = &["arrays_zip", "list_zip", "make_map", "map", "named_struct", "row", "struct"];

/// The number of fields of a structure.
fn fields(expr: &Expr) -> usize {
    match expr {
        Expr::Function(function) if STRUCTURES.contains(&function.name.to_string().to_lowercase().as_str()) => {
            match &function.args {
                FunctionArguments::List(list) => list.args.len(),
                _ => 0,
            }
        }
        Expr::Struct { values, .. } => values.len(),
        Expr::Dictionary(fields) => fields.len(),
        Expr::Map(map) => 2 * map.entries.len(),
        _ => 0,
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
        self.open.push(Open { relations: 1, fields: 0 });
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        let weight = self.open.pop().unwrap_or_default().weight();
        match self.names.remove(&place(query)) {
            Some(name) => drop(self.weights.insert(name, weight)),
            None => self.add(weight),
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Some(open) = self.open.last_mut() {
            open.fields = open.fields.saturating_add(fields(expr));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        let weight = self.weights.get(&relation.to_string().to_lowercase()).copied();
        self.add(weight.unwrap_or(1));
        ControlFlow::Continue(())
    }
}

/// Rejects a plan that is too large or has types that are, and limits the size of the results of its functions, all of which
/// share the memory.
pub(crate) fn bounded(plan: LogicalPlan, memory_bytes: u64) -> Result<LogicalPlan> {
    let (mut nodes, mut results) = (0, 0);
    plan.apply_with_subqueries(|node| {
        nodes += 1;
        types::check_schema(node.schema())?;
        node.apply_expressions(|expr| {
            expr.apply(|expr| {
                results += u64::from(values::is_new(expr));
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        Ok(if nodes > MAX_NODES { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    if nodes > MAX_NODES {
        return plan_err!("the plan of the query has more than {MAX_NODES} operators");
    }
    let max_bytes = usize::try_from(memory_bytes / results.max(MIN_RESULTS)).unwrap_or(usize::MAX);
    let guard = |expr: logical_expr::Expr| {
        types::check_cast(&expr)?;
        values::guarded(expr, max_bytes)
    };
    plan.transform_with_subqueries(|node| {
        let are_columns = matches!(node, LogicalPlan::Projection(_));
        node.map_expressions(|expr| {
            let guarded = expr.transform_up(guard)?;
            if are_columns {
                guarded.transform_data(|expr| values::measured_column(expr, max_bytes))
            } else {
                Ok(guarded)
            }
        })
    })
    .data()
}
