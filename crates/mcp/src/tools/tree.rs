//! `tree`: the call tree.

use rmcp::schemars::{self, JsonSchema};
use serde::Deserialize;
use serde_json::Value as Json;
use traceloom::{
    Traces,
    analysis::{
        call_tree::{self, call_tree},
        flame::{self, Graph, GraphStep, Weight},
    },
};
use traceloom_core::{Error, Result, TimeRange};

use super::{Answer, Call, Kind, max_rows};
use crate::inert::Cut;

/// Default number of rows, which are short.
const DEFAULT_ROWS: usize = 100;

pub(super) static TOOLS: &[Kind] = &[Kind::new::<Tree>(
    "tree",
    "The call tree as text and as rows: total weight, self weight (nanoseconds, calls or bytes, as in `unit` and the field \
     names) and number of calls of each frame. Equals `traceloom tree --json`.",
    "unit:str, total_ns?:int, total_calls?:int, total_bytes?:int, hidden:int, rows:[depth:int, name:str, total_ns?:int, \
     self_ns?:int, total_calls?:int, self_calls?:int, total_bytes?:int, self_bytes?:int, count:int]",
    tree,
)];

/// Which tree.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tree {
    /// Handle or path of the trace; may be omitted if only one is open.
    trace: Option<String>,
    /// What the weight measures (default `time`).
    by: Option<By>,
    /// Invert the tree: start at the functions with the most weight and show their callers.
    #[serde(default)]
    bottom_up: bool,
    /// Show only the calls made by this name.
    focus: Option<String>,
    /// Omit rows with a smaller share of the total, such as 0.01 (default 0.005).
    min_share: Option<f64>,
    /// Levels to show (default: all).
    depth: Option<usize>,
    /// Group by thread.
    #[serde(default)]
    by_thread: bool,
    /// Only spans that start at or after this time, in nanoseconds from the start of the trace.
    from_ns: Option<i64>,
    /// Only spans that start before this time, in nanoseconds from the start of the trace.
    to_ns: Option<i64>,
    /// Max number of rows (default 100, at most 1000).
    limit: Option<usize>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum By {
    Bytes,
    Count,
    #[serde(rename = "self")]
    SelfTime,
    Time,
}

fn tree(call: &Call<'_>) -> Result<Answer> {
    let arguments: Tree = call.arguments()?;
    let trace = call.trace(arguments.trace.as_deref())?;
    let (weight, unit) = match arguments.by.unwrap_or(By::Time) {
        By::Bytes => (Weight::Bytes, "bytes"),
        By::Count => (Weight::Count, "calls"),
        By::SelfTime => (Weight::SelfTime, "ns"),
        By::Time => (Weight::Time, "ns"),
    };
    let range = TimeRange::new(arguments.from_ns, arguments.to_ns);
    let options = flame::Options { weight, by_thread: arguments.by_thread, range, ..flame::Options::default() };
    let path = trace.path().to_owned();
    let set = Traces::from_iter([trace]).set()?;
    let stacks = flame::stacks(&set, options).map_err(|error| error.in_file(path))?;
    let mut graph = Graph::from(stacks.tree);
    if let Some(name) = arguments.focus {
        if !graph.has(&name) {
            return Err(Error::unsupported(format!("no stack contains {name}")));
        }
        graph = graph.after(&[GraphStep::Focus(name)]);
    }
    let options = call_tree::Options {
        is_bottom_up: arguments.bottom_up,
        min_share: arguments.min_share.unwrap_or(0.005),
        max_depth: arguments.depth.unwrap_or(usize::MAX),
    };
    let mut tree = call_tree(&graph, &options);
    let rows = max_rows(arguments.limit.or(Some(DEFAULT_ROWS)));
    let total = tree.rows.len() as u64 + tree.hidden;
    tree.rows.truncate(rows);
    let cut = Cut::if_less("rows", tree.rows.len(), total);
    let mut answer = Answer::new(tree.to_json(unit), Some(rows)).cut([cut]);
    let estimated = "Stacks are estimated: the profiler recorded calls per caller, not per stack.\n";
    let note = if stacks.is_estimated { estimated } else { "" };
    answer.text = Some(Box::new(move |tree| format!("{note}{}", text(tree, unit))));
    Ok(answer)
}

/// One line per row, indented by depth.
fn text(tree: &Json, unit: &str) -> String {
    let (total_in_unit, self_in_unit) = (format!("total_{unit}"), format!("self_{unit}"));
    let number = |value: &Json| value.as_u64().unwrap_or_default();
    let of_all = number(&tree[&total_in_unit]).max(1) as f64;
    let mut text = format!("{:>16} {:>7} {:>16} {:>9}  name\n", format!("total ({unit})"), "share", "self", "calls");
    for row in tree["rows"].as_array().into_iter().flatten() {
        let (total, own) = (number(&row[&total_in_unit]), number(&row[&self_in_unit]));
        let (share, count) = (100.0 * total as f64 / of_all, number(&row["count"]));
        let (indent, name) = (2 * number(&row["depth"]) as usize, row["name"].as_str().unwrap_or_default());
        text.push_str(&format!("{total:>16} {share:>5.1} % {own:>16} {count:>9}  {:indent$}{name}\n", ""));
    }
    match number(&tree["hidden"]) {
        0 => text,
        hidden => format!("{text}{hidden} more rows are smaller or deeper\n"),
    }
}
