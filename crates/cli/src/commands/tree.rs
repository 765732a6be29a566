//! `tree`: the call tree as text.

use std::io::Write;

use traceloom_analysis::{
    call_tree::{CallTree, Options, Row, call_tree},
    flame::{self, Graph, GraphStep},
};
use traceloom_core::{Error, Result};

use super::{flame::stacks, or_nearest};
use crate::{
    Outcome,
    args::answers::{FlameWeight, Tree as Arguments},
    input,
    output::{self, Styles, clean},
    table::Rounded,
    units::Bytes,
};

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let traces = arguments.answer.reading.open_set(&arguments.files, &arguments.shifts)?;
    let options = flame::Options {
        weight: arguments.by.into(),
        by_thread: arguments.by_thread,
        range: arguments.range.unwrap_or_default(),
        ..flame::Options::default()
    };
    let tree = stacks(&traces, arguments.by, options).map_err(|error| input::about(&arguments.files, error))?;
    let graph = narrowed(&tree.into(), arguments)?;
    let options = Options {
        is_bottom_up: arguments.bottom_up,
        min_share: arguments.min_share,
        max_depth: arguments.depth.unwrap_or(usize::MAX),
    };
    let tree = call_tree(&graph, &options);
    let mut out = output::stdout();
    if arguments.answer.json {
        writeln!(out, "{}", tree.to_json(unit(arguments.by)))?;
    } else {
        write_text(&tree, arguments, &mut out)?;
    }
    out.flush()?;
    Ok(Outcome::Fine)
}

/// Creates a step from a name.
type Step = fn(String) -> GraphStep;

/// The graph after the requested steps.
fn narrowed(graph: &Graph, arguments: &Arguments) -> Result<Graph> {
    let kinds: [(&[String], Step); 4] = [
        (&arguments.drop, GraphStep::Drop),
        (&arguments.merge, GraphStep::Merge),
        (&arguments.collapse, GraphStep::Collapse),
        (&arguments.focus, GraphStep::Focus),
    ];
    let mut steps = Vec::new();
    for (names, step) in kinds {
        for name in names {
            if !graph.has(name) {
                return Err(Error::unsupported(or_nearest("no stack contains", name, graph.names())));
            }
            steps.push(step(name.clone()));
        }
    }
    Ok(graph.after(&steps))
}

fn unit(by: FlameWeight) -> &'static str {
    match by {
        FlameWeight::Count => "calls",
        FlameWeight::SelfTime | FlameWeight::Time => "ns",
        _ => "bytes",
    }
}

fn amount(by: FlameWeight, weight: u64) -> String {
    match by {
        FlameWeight::Count => weight.to_string(),
        FlameWeight::SelfTime | FlameWeight::Time => Rounded(weight as f64).to_string(),
        _ => Bytes(weight).to_string(),
    }
}

fn write_text(tree: &CallTree<'_>, arguments: &Arguments, out: &mut dyn Write) -> Result<()> {
    let dim = Styles::DIM;
    // From the bottom up, all weight is self weight of the outermost row.
    let (first, second) =
        if arguments.bottom_up { ("self", String::new()) } else { ("total", format!("{:>11}", "self")) };
    writeln!(out, "{dim}{first:>10} {:>7}{second} {:>9}  name{dim:#}", "share", "calls")?;
    for Row { depth, name, total, own, count } in &tree.rows {
        let share = 100.0 * *total as f64 / tree.total.max(1) as f64;
        let total = amount(arguments.by, *total);
        let own = if arguments.bottom_up { String::new() } else { format!("{:>11}", amount(arguments.by, *own)) };
        writeln!(out, "{total:>10} {share:>5.1} %{own} {count:>9}  {}", indented(*depth, name))?;
    }
    if tree.rows.is_empty() {
        output::note("nothing in this range");
    }
    if tree.hidden > 0 {
        output::note(&format!("{} more rows; --min-share 0% and --depth show them", tree.hidden));
    }
    Ok(())
}

/// Max number of levels that are indented.
const MAX_INDENTED: usize = 40;

/// The indented name. Names at deeper levels get the number of the level instead, because the text would grow with the
/// square of the depth.
fn indented(depth: usize, name: &str) -> String {
    let level = if depth > MAX_INDENTED { format!("[{depth}] ") } else { String::new() };
    format!("{:indent$}{level}{}", "", clean(name), indent = 2 * depth.min(MAX_INDENTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_names_have_their_level_in_front() {
        assert_eq!([indented(0, "main"), indented(2, "draw")], ["main", "    draw"]);
        assert_eq!(indented(10_000, "again").trim_start(), "[10000] again");
        assert!(indented(10_000, "again").len() < 100);
    }
}
