//! Groups by the number of a name instead of its text.
//!
//! `group by name` becomes `group by number_of_name(name)`, and a projection above turns numbers back into names. The
//! engine would hash the text of every row; batches of a trace share one dictionary, so here each name is hashed only
//! once. Numbers start at 0 and have no gaps: if such a number is the only key, it is the index of its group, and rows
//! need no hashing at all.

mod exec;
mod function;
mod groups;
mod interner;
mod rewrite;
mod tally;
#[cfg(test)]
mod tests;

pub(crate) use self::{exec::GroupByIndex, rewrite::GroupByNumber};
