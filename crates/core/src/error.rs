//! The errors that end a read or a write, grouped by who has to act.

use std::{error, fmt, io, path::PathBuf};

use crate::{Finding, Position};

/// The result of everything in Traceloom that touches bytes.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error, one word wide.
#[derive(Debug)]
pub struct Error(Box<Inner>);

const _: () = assert!(size_of::<Error>() == size_of::<usize>());

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    position: Option<Position>,
    path: Option<PathBuf>,
}

/// The reason for an error; the first word of each variant names who can do something about it.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Environment: the operating system refused.
    Io(io::Error),
    /// File: the bytes end before the field does.
    Truncated {
        /// Bytes that the field needs.
        needed: u64,
        /// Bytes that are left.
        left: u64,
    },
    /// File: no format recognizes these bytes, or the requested format does not.
    Unrecognized(String),
    /// File: in strict mode, the finding that refuses the file.
    Refused(Box<Finding>),
    /// File: it is valid, but it does not have the requested data, or the output cannot hold its contents.
    Unsupported(String),
    /// Caller: the request makes no sense, whatever the file holds.
    Usage(String),
    /// Us: a mistake in the program, not in the file or the command.
    Internal(String),
    /// Limit: the file needs more than [`crate::Limits`] allows.
    Limit {
        /// What the limit counts.
        what: &'static str,
        /// How much was requested.
        wanted: u64,
        /// How much is allowed.
        limit: u64,
    },
}

impl Error {
    /// An error without a position.
    pub fn new(kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, position: None, path: None }))
    }

    /// The bytes end inside a field.
    #[cold]
    pub fn truncated(position: Position, needed: u64, left: u64) -> Self {
        Self::new(ErrorKind::Truncated { needed, left }).at(position)
    }

    /// A limit would be exceeded.
    #[cold]
    pub fn limit(what: &'static str, wanted: u64, limit: u64) -> Self {
        Self::new(ErrorKind::Limit { what, wanted, limit })
    }

    /// The request is wrong for any file.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage(message.into()))
    }

    /// The file does not have the requested data, or the output cannot hold it.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported(message.into()))
    }

    /// The program contradicts itself.
    #[cold]
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal(message.into()))
    }

    /// The bytes are not in the expected format.
    pub fn unrecognized(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unrecognized(message.into()))
    }

    /// Strict mode: this finding makes the file invalid.
    pub fn refused(finding: Finding) -> Self {
        let position = finding.position;
        Self::new(ErrorKind::Refused(Box::new(finding))).at(position)
    }

    /// Adds the position.
    #[must_use]
    pub fn at(mut self, position: Position) -> Self {
        self.0.position.get_or_insert(position);
        self
    }

    /// Adds the file name.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.0.path.get_or_insert_with(|| path.into());
        self
    }

    /// Why it failed.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Whether the file is at fault, so that another file may succeed.
    pub fn is_about_file(&self) -> bool {
        match self.kind() {
            ErrorKind::Truncated { .. }
            | ErrorKind::Unrecognized(_)
            | ErrorKind::Refused(_)
            | ErrorKind::Unsupported(_)
            | ErrorKind::Limit { .. } => true,
            ErrorKind::Io(_) | ErrorKind::Usage(_) | ErrorKind::Internal(_) => false,
        }
    }

    /// Whether the system does not give access to one file or object, so that another one may succeed.
    pub fn is_about_access(&self) -> bool {
        use io::ErrorKind::{HostUnreachable, IsADirectory, NotFound, PermissionDenied};
        let ErrorKind::Io(error) = self.kind() else { return false };
        matches!(error.kind(), HostUnreachable | IsADirectory | NotFound | PermissionDenied)
    }

    /// Where it failed, if that is a single position.
    pub fn position(&self) -> Option<Position> {
        self.0.position
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::new(ErrorKind::Io(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(path) = &self.0.path {
            write!(f, "{}: ", path.display())?;
        }
        if let Some(position) = self.0.position {
            write!(f, "{position}: ")?;
        }
        self.0.kind.fmt(f)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Truncated { needed, left } => {
                write!(f, "the file ends here: {needed} bytes needed, {left} left")
            }
            Self::Unrecognized(message) | Self::Unsupported(message) | Self::Usage(message) => f.write_str(message),
            Self::Internal(message) => write!(f, "a bug in Traceloom: {message}"),
            Self::Refused(finding) => write!(f, "{} [{}]", finding.message(), finding.rule.code),
            Self::Limit { what, wanted, limit } => {
                write!(f, "limit exceeded for {what}: {wanted}, the maximum is {limit}")
            }
        }
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_errors_leave_hope_for_the_next_file() {
        assert!(Error::unsupported("there are no allocations in it").is_about_file());
        assert!(Error::limit("input", 2, 1).is_about_file());
        assert!(Error::truncated(Position::at(0), 2, 1).is_about_file());
        assert!(!Error::usage("name a file").is_about_file());
        assert!(!Error::internal("a sum is off").is_about_file());
        let missing = Error::from(io::Error::from(io::ErrorKind::NotFound));
        assert!(missing.is_about_access() && !missing.is_about_file());
        assert!(!Error::from(io::Error::from(io::ErrorKind::StorageFull)).is_about_access());
    }
}
