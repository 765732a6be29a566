//! Files of folders that are missing in an answer.

use std::path::PathBuf;

use traceloom_core::{Error, ErrorKind};

/// A file of a folder that cannot be read as a trace.
#[derive(Debug)]
pub struct Skipped {
    /// Path or URL.
    pub path: PathBuf,
    /// The reason.
    pub error: Error,
}

/// Max number of files that are named; a folder may have thousands of others.
const MAX_NAMES: usize = 10;

/// Lines for people: warnings about traces that cannot be read, then the files that are not traces.
pub fn describe_skipped(skipped: &[Skipped]) -> (Vec<String>, Option<String>) {
    let is_other = |skipped: &&Skipped| matches!(skipped.error.kind(), ErrorKind::Unrecognized(_));
    let (others, unreadable): (Vec<&Skipped>, Vec<&Skipped>) = skipped.iter().partition(is_other);
    let mut warnings: Vec<String> =
        unreadable.iter().take(MAX_NAMES).map(|skipped| format!("skipped: {}", skipped.error)).collect();
    if let Some(more) = unreadable.len().checked_sub(MAX_NAMES).filter(|more| *more > 0) {
        warnings.push(format!("skipped {more} more"));
    }
    let names: Vec<String> = others.iter().take(MAX_NAMES).map(|other| other.path.display().to_string()).collect();
    let names = names.join(", ");
    let others = match others.len() {
        0 => None,
        1 => Some(format!("1 file is not a trace: {names}")),
        count if count <= MAX_NAMES => Some(format!("{count} files are not traces: {names}")),
        count => Some(format!("{count} files are not traces: {names} and {} more", count - MAX_NAMES)),
    };
    (warnings, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(count: usize, error: fn(String) -> Error) -> Vec<Skipped> {
        let one = |number: usize| {
            let path = PathBuf::from(format!("{number}.x"));
            Skipped { error: error(format!("reason {number}")).in_file(&path), path }
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn ten_files_are_named_and_the_others_counted() {
        assert_eq!(describe_skipped(&[]), (Vec::new(), None));
        let (warnings, others) = describe_skipped(&skipped(2, Error::unrecognized));
        assert_eq!((warnings.len(), others.as_deref()), (0, Some("2 files are not traces: 0.x, 1.x")));
        let (_, others) = describe_skipped(&skipped(12, Error::unrecognized));
        let others = others.expect("they are not traces");
        assert!(others.starts_with("12 files") && others.ends_with("9.x and 2 more"), "{others}");
        let (warnings, others) = describe_skipped(&skipped(12, Error::unsupported));
        assert_eq!((warnings.len(), others), (11, None));
        assert!(warnings[0].contains("0.x: reason 0") && warnings[10] == "skipped 2 more", "{warnings:?}");
    }
}
