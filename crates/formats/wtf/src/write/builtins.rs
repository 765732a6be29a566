//! The built-in types that a recorder needs, defined together.

use std::io::Write;

use traceloom_core::Result;

use super::compose::{Composer, TypeId};

/// The types of scopes, marks, flows, time ranges and frames.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Builtins {
    /// Ends the innermost scope.
    pub leave: TypeId,
    /// Adds data to the innermost scope.
    pub append: TypeId,
    /// Marks a point in time.
    pub mark: TypeId,
    /// Starts a flow.
    pub branch: TypeId,
    /// Continues a flow.
    pub extend: TypeId,
    /// Ends a flow.
    pub terminate: TypeId,
    /// Starts a time range.
    pub range_begin: TypeId,
    /// Ends a time range.
    pub range_end: TypeId,
    /// Starts a frame.
    pub frame_start: TypeId,
    /// Ends a frame.
    pub frame_end: TypeId,
}

impl Builtins {
    /// Defines all of these types.
    pub fn define<W: Write>(composer: &mut Composer<W>) -> Result<Self> {
        Ok(Self {
            leave: composer.builtin("wtf.scope#leave")?,
            append: composer.builtin("wtf.scope#appendData")?,
            mark: composer.builtin("wtf.trace#mark")?,
            branch: composer.builtin("wtf.flow#branch")?,
            extend: composer.builtin("wtf.flow#extend")?,
            terminate: composer.builtin("wtf.flow#terminate")?,
            range_begin: composer.builtin("wtf.timeRange#begin")?,
            range_end: composer.builtin("wtf.timeRange#end")?,
            frame_start: composer.builtin("wtf.timing#frameStart")?,
            frame_end: composer.builtin("wtf.timing#frameEnd")?,
        })
    }
}
