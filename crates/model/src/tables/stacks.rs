//! Call stacks, as trees.

use crate::{Int, Maybe, Word, define::table};

table! {
    /// Call stacks: each row is a frame on top of another stack, so outer frames that stacks share are stored once.
    Stacks stacks: Stack {
        /// The stack below: the caller.
        parent_id: Maybe<Int> => Stacks,
        /// The innermost frame.
        frame_id: Int => Frames,
        /// Number of frames below it.
        depth: Word,
    }
}
