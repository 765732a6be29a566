//! The list of targets.

mod arrow;
mod callgrind;
mod chrome;
mod csv;
mod firefox;
mod folded;
mod json;
mod otlp;
mod perfetto;
mod pprof;
mod speedscope;
mod tables;

use std::{cmp::Reverse, path::Path};

use traceloom_core::{Error, Result};

use traceloom_model::Table;
use traceloom_passes::{Pass, Target};

/// The formats of other tools, by id.
pub static TARGETS: &[&Target] = &[
    &arrow::TARGET,
    &callgrind::TARGET,
    &chrome::TARGET,
    &csv::TARGET,
    &firefox::TARGET,
    &folded::TARGET,
    &json::TARGET,
    &otlp::TARGET,
    &perfetto::TARGET,
    &pprof::TARGET,
    &speedscope::TARGET,
];

/// Every format that tables can be written as: Traceloom's formats and those of other tools.
pub fn targets() -> impl Iterator<Item = &'static Target> {
    traceloom_mapping::FORMATS.iter().map(|mapping| mapping.target).chain(TARGETS.iter().copied())
}

/// The target with this id.
pub fn by_id(id: &str) -> Result<&'static Target> {
    targets().find(|target| target.id == id).ok_or_else(|| {
        let mut all: Vec<_> = targets().map(|target| target.id).collect();
        all.sort_unstable();
        Error::usage(format!("unknown target {id:?}; the targets are {}", all.join(", ")))
    })
}

/// The target whose extension a path has, the longest one if several match, and whether the path ends in `.gz` after
/// it.
pub fn by_path(path: &Path) -> Option<(&'static Target, bool)> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    // An extension such as `pb.gz` belongs to a target that compresses its output itself.
    if let Some(target) = by_extension(&name) {
        return Some((target, false));
    }
    Some((by_extension(name.strip_suffix(".gz")?)?, true))
}

/// Of several targets that share an extension, the one that lists it earliest.
fn by_extension(name: &str) -> Option<&'static Target> {
    let ends = |extension: &str| name.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'));
    let fit = |target: &&Target| {
        let extensions = target.written_extensions().enumerate();
        let fitting = extensions.filter(|(_, extension)| ends(extension));
        fitting.map(|(rank, extension)| (extension.len(), Reverse(rank))).max()
    };
    targets().filter(|target| fit(target).is_some()).max_by_key(fit)
}

/// Whether stacks of spans are written instead of those of allocations; the others are counted as lost.
fn shows_time(pass: &mut Pass<'_>) -> bool {
    let has_time = !pass.spans.is_empty() || pass.rows(Table::Allocations) == 0;
    let shows_time = pass.variant == "time" || pass.variant == "best" && has_time;
    if shows_time {
        pass.lose_rows(&[Table::Allocations, Table::Frees, Table::Stacks, Table::Frames]);
    } else {
        pass.lose_rows(&[Table::Spans]);
    }
    shows_time
}

/// The output of a target that writes JSON, and the losses that it reports.
#[cfg(test)]
fn written_json(
    target: &Target,
    trace: &traceloom_passes::fixture::Synthetic,
) -> (serde_json::Value, traceloom_core::Loss) {
    let (text, loss) = traceloom_passes::fixture::written(target, trace);
    (serde_json::from_slice(&text).expect("JSON"), loss)
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceloom_passes::{Options, fixture::Synthetic, write};

    #[test]
    fn ids_and_extensions_are_unique_and_needs_name_real_columns() {
        let all: Vec<_> = targets().collect();
        assert!(TARGETS.is_sorted_by_key(|target| target.id), "targets stand in the order of their ids");
        for target in &all {
            target.wanted();
            for (rank, extension) in target.written_extensions().enumerate() {
                let rank_of = |other: &Target| other.written_extensions().position(|own| own == extension);
                let best = all.iter().filter_map(|other| Some((rank_of(other)?, other.id))).min();
                let path = format!("a.b.{extension}");
                let (found, gzip) = by_path(path.as_ref()).expect("it is an extension");
                assert_eq!((Some(found.id), gzip), (best.map(|(_, id)| id), false), "{extension}");
                let rivals = all.iter().filter(|other| rank_of(other) == Some(rank)).count();
                assert_eq!(rivals, 1, "{extension} is of several targets");
            }
            let suggested = format!("x.{}", target.extensions[0]);
            assert_eq!(by_path(suggested.as_ref()).map(|(found, _)| found.id), Some(target.id));
            for (extension, variant) in target.extension_variants {
                assert!(target.extensions.contains(extension), "{extension}");
                assert_eq!(target.variant(Some(variant)).ok(), Some(*variant));
            }
            assert_eq!(by_id(target.id).unwrap().id, target.id);
        }
        assert!(by_id("nothing").is_err());
        assert!(by_path("a.unknown".as_ref()).is_none());
        assert!(by_path("folded".as_ref()).is_none());
        assert!(by_path("read-only.wtf-calls".as_ref()).is_none());
        assert!(by_path("a.folded.gz".as_ref()).is_some_and(|(_, gzip)| gzip));
    }

    #[test]
    fn an_unknown_variant_is_refused_with_the_known_ones_before_anything_is_written() {
        let trace = Synthetic::spans(&[("a", 0, 0, None, 0, Some(1))]);
        let options = Options { variant: Some("nonsense".to_owned()), gzip: true, ..Options::default() };
        for target in targets() {
            let mut out = Vec::new();
            let refused = write(target, &trace, &options, &mut out).expect_err("nobody has it").to_string();
            assert!(refused.contains(&format!("{} has no variant \"nonsense\"", target.id)), "{refused}");
            let words: Vec<&str> = refused.split([' ', ',']).collect();
            assert!(target.variants.iter().all(|variant| words.contains(&variant.id)), "{refused}");
            assert!(out.is_empty(), "{}", target.id);
        }
    }
}
