//! Passes a sink's stop through code that only knows errors.

use traceloom_core::{Error, Result};
use traceloom_model::Halt;

/// Remembers that the error was a stop.
#[derive(Debug, Default)]
pub(super) struct Stop {
    is_stopped: bool,
}

impl Stop {
    /// On the way down: a stop becomes an error, which ends the walk.
    #[inline]
    pub(super) fn pass(&mut self, result: Result<(), Halt>) -> Result<()> {
        match result {
            Ok(()) => Ok(()),
            Err(Halt::Failed(error)) => Err(error),
            Err(Halt::Stopped) => {
                self.is_stopped = true;
                Err(Error::internal("the sink has enough"))
            }
        }
    }

    /// On the way up: the error becomes a stop again.
    pub(super) fn settle(&self, result: Result<()>) -> Result<(), Halt> {
        if self.is_stopped { Err(Halt::Stopped) } else { Ok(result?) }
    }
}
