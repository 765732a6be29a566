//! Limits the size of types: a type is shared while it is planned, but every array of it is not.

use std::collections::HashSet;

use arrow_schema::{DataType, Fields};
use datafusion::{
    common::{DFSchema, Result, plan_err},
    logical_expr::{
        Expr,
        expr::{Cast, ScalarFunction, TryCast},
    },
};

/// Max number of fields of a type, at all levels.
const MAX_FIELDS: usize = 1_000;
/// Max number of elements of a row of a fixed-size list, at all levels.
const MAX_ELEMENTS: u64 = 1_000;

/// Rejects columns with huge types: `struct(x, x)` has twice the fields of `x`, also in several steps. Rejects structures
/// with two fields of one name, of which most readers of JSON keep only one.
pub(super) fn check_schema(schema: &DFSchema) -> Result<()> {
    schema.fields().iter().try_for_each(|field| {
        let mut left = MAX_FIELDS;
        check_type(field.data_type(), &mut left)
    })
}

/// Looks at no more than `left` fields.
fn check_type(data_type: &DataType, left: &mut usize) -> Result<()> {
    let Some(rest) = left.checked_sub(1) else {
        return plan_err!("the type of a column has more than {MAX_FIELDS} fields");
    };
    *left = rest;
    match data_type {
        DataType::Struct(fields) => {
            fields.iter().try_for_each(|field| check_type(field.data_type(), left))?;
            check_names(fields)
        }
        DataType::Union(fields, _) => fields.iter().try_for_each(|(_, field)| check_type(field.data_type(), left)),
        DataType::Map(inner, _)
        | DataType::List(inner)
        | DataType::LargeList(inner)
        | DataType::ListView(inner)
        | DataType::LargeListView(inner)
        | DataType::FixedSizeList(inner, _) => check_type(inner.data_type(), left),
        DataType::Dictionary(_, values) => check_type(values, left),
        DataType::RunEndEncoded(_, values) => check_type(values.data_type(), left),
        _ => Ok(()),
    }
}

fn check_names(fields: &Fields) -> Result<()> {
    let mut names = HashSet::new();
    match fields.iter().find(|field| !names.insert(field.name())) {
        Some(field) => plan_err!("a structure has two fields named {}", field.name()),
        None => Ok(()),
    }
}

/// Rejects casts to fixed-size lists that are long: missing elements are filled in, so a short list gets long.
pub(super) fn check_cast(expr: &Expr) -> Result<()> {
    let is_long = match expr {
        Expr::Cast(Cast { field, .. }) | Expr::TryCast(TryCast { field, .. }) => {
            elements(field.data_type()) > MAX_ELEMENTS
        }
        // Its types are texts, and are checked by the engine only when it is too late.
        Expr::ScalarFunction(ScalarFunction { func, args }) if func.name().starts_with("arrow_") => {
            args.iter().any(|arg| matches!(arg, Expr::Literal(value, _) if value.to_string().contains("FixedSize")))
        }
        _ => false,
    };
    if is_long {
        return plan_err!("only fixed-size lists of at most {MAX_ELEMENTS} elements are allowed");
    }
    Ok(())
}

/// The number of elements of a row.
fn elements(data_type: &DataType) -> u64 {
    match data_type {
        DataType::FixedSizeList(inner, size) => {
            u64::from(size.unsigned_abs()).saturating_mul(elements(inner.data_type()))
        }
        DataType::List(inner) | DataType::LargeList(inner) => elements(inner.data_type()),
        _ => 1,
    }
}
