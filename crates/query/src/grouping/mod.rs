//! Groups by a name as if it were a number.
//!
//! `group by name` becomes `group by number_of_name(name)`, and a projection above turns numbers back into names. The
//! engine would hash the text of every row; batches of a trace share one dictionary, so that here each name is hashed
//! once. Numbers begin at 0 and have no gaps: where such a number is the only key, it is the place of its group, and
//! nothing is hashed for a row at all.

mod exec;
mod function;
mod groups;
mod interner;
mod rewrite;
mod tally;
#[cfg(test)]
mod tests;

pub(crate) use self::{exec::GroupByIndex, rewrite::GroupByNumber};
