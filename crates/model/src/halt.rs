//! Why a mapper ends before the end of its file.

use traceloom_core::Error;

/// Ends a mapper: the sink has enough, or the file cannot be read further.
#[derive(Debug)]
pub enum Halt {
    /// The file or the machine failed.
    Failed(Error),
    /// The sink said stop, which is no error.
    Stopped,
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Halt {
    /// A stop is a success for whoever asked for the tables.
    pub fn into_result(self) -> traceloom_core::Result<()> {
        match self {
            Self::Failed(error) => Err(error),
            Self::Stopped => Ok(()),
        }
    }
}

// The result of every push: one word.
const _: () = assert!(size_of::<Result<(), Halt>>() == size_of::<usize>() * 2);
