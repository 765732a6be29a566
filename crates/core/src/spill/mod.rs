//! Rows and bytes that move to a temporary file when they exceed their memory limit, and an external sort for them.

mod arena;
#[cfg(any(test, target_family = "wasm"))]
mod memory;
mod pack;
mod row;
mod run;
mod sorter;
mod stack;
mod store;
pub(crate) mod temporary;

pub(crate) use self::temporary::Temporary;
pub use self::{
    arena::Arena,
    row::SpillRow,
    sorter::{Merge, Sorted, Sorter},
    stack::{Iter as SpillIter, Spill},
    store::Store,
};
