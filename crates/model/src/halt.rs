//! Why a mapper stops before the end of its file.

use traceloom_core::Error;

/// Stops a mapper: the sink has enough, or the file cannot be read any further.
#[derive(Debug)]
pub enum Halt {
    /// The file or the machine failed.
    Failed(Error),
    /// The sink asked to stop, which is not an error.
    Stopped,
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Halt {
    /// For the caller that requested the tables, stopping early is a success.
    pub fn into_result(self) -> traceloom_core::Result<()> {
        match self {
            Self::Failed(error) => Err(error),
            Self::Stopped => Ok(()),
        }
    }
}

// Every push returns this, so it must stay small.
const _: () = assert!(size_of::<Result<(), Halt>>() == size_of::<usize>() * 2);
