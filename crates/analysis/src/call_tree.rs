//! A call tree: a flame graph as rows of text, most expensive callee first.

use serde_json::{Value as Json, json};

use crate::flame::{Graph, Shown};

/// Limits of the listing.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Start at the frames with the most weight and show their callers.
    pub is_bottom_up: bool,
    /// Omit rows with a smaller share of the total.
    pub min_share: f64,
    /// Max number of levels.
    pub max_depth: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { is_bottom_up: false, min_share: 0.0, max_depth: usize::MAX }
    }
}

/// The rows of a tree.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallTree<'g> {
    /// The total weight.
    pub total: u64,
    /// Number of frames that are too small or too deep to be listed.
    pub hidden: u64,
    /// The rows, each before its callees, or before its callers in a bottom-up tree.
    pub rows: Vec<Row<'g>>,
}

/// One row of a tree.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Row<'g> {
    /// 0 for the outermost frame.
    pub depth: usize,
    /// The name of the frame.
    pub name: &'g str,
    /// Weight of the frame and everything below it.
    pub total: u64,
    /// Weight that is not in a row below.
    pub own: u64,
    /// Spans, calls or allocations.
    pub count: u64,
}

impl CallTree<'_> {
    /// The tree as JSON, with weights in this unit.
    pub fn to_json(&self, unit: &str) -> Json {
        let (total_in_unit, self_in_unit) = (format!("total_{unit}"), format!("self_{unit}"));
        let row = |Row { depth, name, total, own, count }: &Row<'_>| json!({ "depth": depth, "name": name, &total_in_unit: total, &self_in_unit: own, "count": count });
        let rows: Vec<Json> = self.rows.iter().map(row).collect();
        json!({ "unit": unit, &total_in_unit: self.total, "hidden": self.hidden, "rows": rows })
    }
}

/// Lists a graph.
pub fn call_tree<'g>(graph: &'g Graph, options: &Options) -> CallTree<'g> {
    let Shown { frames, .. } = if options.is_bottom_up { graph.bottom_up(&[]) } else { graph.top_down(&[]) };
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); frames.len()];
    for (number, frame) in frames.iter().enumerate().skip(1) {
        children[frame.parent as usize].push(number);
    }
    let least = (options.min_share * graph.total() as f64) as u64;
    let mut tree = CallTree { total: graph.total(), hidden: 0, rows: Vec::new() };
    let roots = children.first().into_iter().flatten();
    let mut waiting: Vec<(usize, usize)> = roots.rev().map(|number| (0, *number)).collect();
    // Not recursive, because the file determines the depth of the tree.
    while let Some((depth, number)) = waiting.pop() {
        let frame = &frames[number];
        match frame.name.filter(|_| frame.folded == 0 && frame.total >= least && depth < options.max_depth) {
            Some(name) => {
                tree.rows.push(Row { depth, name, total: frame.total, own: frame.own, count: frame.count });
                waiting.extend(children[number].iter().rev().map(|child| (depth + 1, *child)));
            }
            None => tree.hidden += frame.folded.max(1),
        }
    }
    tree
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flame::{Stack, Tree};

    fn graph() -> Graph {
        let stacks = [("a", 10), ("a b", 20), ("a b d", 3), ("c", 1), ("c b", 40)];
        let stack = |(frames, own): (&'static str, u64)| Stack { frames: frames.split(' ').collect(), own, count: 1 };
        Tree::of_stacks(stacks.into_iter().map(stack)).into()
    }

    fn rows(options: &Options) -> (Vec<String>, u64) {
        let graph = graph();
        let tree = call_tree(&graph, options);
        let line = |row: &Row<'_>| format!("{}{} {} {}", " ".repeat(row.depth), row.name, row.total, row.own);
        (tree.rows.iter().map(line).collect(), tree.hidden)
    }

    #[test]
    fn callees_follow_their_caller_the_largest_first() {
        let (found, hidden) = rows(&Options::default());
        assert_eq!((found.join("\n").as_str(), hidden), ("c 41 1\n b 40 40\na 33 10\n b 23 20\n  d 3 3", 0));
    }

    #[test]
    fn callers_follow_from_the_bottom_up() {
        let (found, _) = rows(&Options { is_bottom_up: true, ..Options::default() });
        assert_eq!(found[..3], ["b 60 0", " c 40 40", " a 20 20"]);
    }

    #[test]
    fn small_and_deep_rows_are_counted() {
        assert_eq!(rows(&Options { min_share: 0.1, ..Options::default() }).1, 1);
        let (found, hidden) = rows(&Options { max_depth: 1, ..Options::default() });
        assert_eq!((found.len(), hidden), (2, 2));
    }
}
