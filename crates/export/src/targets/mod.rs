//! The list of targets.

mod arrow;
mod callgrind;
mod chrome;
mod csv;
mod firefox;
mod folded;
mod json;
mod one_table;
mod otlp;
mod perfetto;
mod pprof;
mod speedscope;

use std::path::Path;

use traceloom_core::{Error, Result};

use traceloom_passes::Target;

/// The formats of other tools, by id.
pub static TARGETS: &[&dyn Target] = &[
    &arrow::Arrow,
    &callgrind::Callgrind,
    &chrome::Chrome,
    &csv::Csv,
    &firefox::Firefox,
    &folded::Folded,
    &json::Json,
    &otlp::Otlp,
    &perfetto::Perfetto,
    &pprof::Pprof,
    &speedscope::Speedscope,
];

/// Everything that tables can be written as: our own formats and those of other tools.
pub fn targets() -> impl Iterator<Item = &'static dyn Target> {
    traceloom_mapping::TARGETS.iter().chain(TARGETS).copied()
}

/// The target of an id.
pub fn by_id(id: &str) -> Result<&'static dyn Target> {
    targets().find(|target| target.descriptor().id == id).ok_or_else(|| {
        let mut all: Vec<_> = targets().map(|target| target.descriptor().id).collect();
        all.sort_unstable();
        Error::usage(format!("there is no target {id:?}; there are: {}", all.join(", ")))
    })
}

/// The target whose ending a path has, the longest one where several fit, and whether the path ends in `.gz` after it.
pub fn by_path(path: &Path) -> Option<(&'static dyn Target, bool)> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let found = |name: &str| {
        let endings = targets()
            .flat_map(|target| target.descriptor().extensions.iter().map(move |extension| (*extension, target)));
        let ends = |extension: &str| name.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'));
        endings.filter(|(extension, _)| ends(extension)).max_by_key(|(extension, _)| extension.len())
    };
    // An ending such as `pb.gz` is the target's own, which compresses by itself.
    if let Some((_, target)) = found(&name) {
        return Some((target, false));
    }
    let (_, target) = found(name.strip_suffix(".gz")?)?;
    Some((target, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_endings_are_unique_and_needs_name_real_columns() {
        let descriptors: Vec<_> = targets().map(|target| target.descriptor()).collect();
        assert!(TARGETS.is_sorted_by_key(|target| target.descriptor().id), "targets stand in the order of their ids");
        for descriptor in &descriptors {
            descriptor.wanted();
            for extension in descriptor.extensions {
                let owners = descriptors.iter().filter(|other| other.extensions.contains(extension)).count();
                assert_eq!(owners, 1, "{extension}");
                let path = format!("a.b.{extension}");
                let (target, gzip) = by_path(path.as_ref()).expect("it is an ending");
                assert_eq!((target.descriptor().id, gzip), (descriptor.id, false));
            }
            assert_eq!(by_id(descriptor.id).unwrap().descriptor().id, descriptor.id);
        }
        assert!(by_id("nothing").is_err());
        assert!(by_path("a.unknown".as_ref()).is_none());
        assert!(by_path("folded".as_ref()).is_none());
        assert!(by_path("a.folded.gz".as_ref()).is_some_and(|(_, gzip)| gzip));
    }
}
