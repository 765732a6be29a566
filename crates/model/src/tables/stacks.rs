//! Call stacks, as trees.

use crate::{Int, Maybe, Word, define::table};

table! {
    /// Call stacks: each row is a frame on top of another stack, so that common outer parts are there once.
    Stacks stacks: Stack {
        /// The stack below: who called.
        parent_id: Maybe<Int> => Stacks,
        /// The innermost frame.
        frame_id: Int => Frames,
        /// Frames below it.
        depth: Word,
    }
}
