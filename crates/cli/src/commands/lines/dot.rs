//! The call graph, for Graphviz.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write,
};

use traceloom_analysis::lines::{Profile, package_of};
use traceloom_core::Result;

use crate::table::Rounded;

/// One box per package with its subs, and an arrow from each caller.
pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> Result<()> {
    let mut edges: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    let mut packages: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, sub) in profile.subs.iter().filter(|(_, sub)| sub.is_called()) {
        packages.entry(package_of(name)).or_default().insert(name);
        for (by, count) in sub.callers.iter().filter_map(|caller| Some((caller.by.as_deref()?, caller.figures.count))) {
            packages.entry(package_of(by)).or_default().insert(by);
            *edges.entry((by, name)).or_default() += count;
        }
    }
    writeln!(out, "digraph calls {{\n  rankdir=LR;\n  node [shape=box];")?;
    for (number, (package, subs)) in packages.iter().enumerate() {
        writeln!(out, "  subgraph cluster_{number} {{\n    label={};", quoted(package))?;
        for name in subs {
            writeln!(out, "    {} [label={}];", quoted(name), label(profile, package, name))?;
        }
        writeln!(out, "  }}")?;
    }
    for ((by, name), count) in edges {
        writeln!(out, "  {} -> {} [label=\"{count}\"];", quoted(by), quoted(name))?;
    }
    Ok(writeln!(out, "}}")?)
}

/// The name without the package, and the figures below it.
fn label(profile: &Profile, package: &str, name: &str) -> String {
    let short = name.strip_prefix(package).map_or(name, |rest| rest.trim_start_matches("::"));
    match profile.subs.get(name).filter(|sub| sub.is_called()) {
        Some(sub) => {
            let (calls, own) = (sub.total.count, Rounded(sub.total.excl_ns as f64));
            let text = quoted(short);
            format!("{}\\n{calls} calls, {own}\"", text.trim_end_matches('"'))
        }
        None => quoted(short),
    }
}

/// A quoted and escaped DOT string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push('\''),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_of_their_quotes() {
        assert_eq!(quoted("a\"]; b\\"), "\"a']; b\\\\\"");
        assert_eq!(quoted("a\nb"), "\"a\u{fffd}b\"");
    }
}
