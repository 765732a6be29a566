//! Steps that narrow down a graph: focus on a name, or remove one.

use serde::Deserialize;
use traceloom_passes::{Parent, StackTree};

use super::{Graph, tree::Weight};

/// A change to all stacks of a graph.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "kind", content = "name", rename_all = "lowercase")]
pub enum GraphStep {
    /// Adds the weight of everything that the name calls to its self weight.
    Collapse(String),
    /// Removes stacks that contain the name.
    Drop(String),
    /// Starts stacks at the outermost frame of the name and removes stacks without it.
    Focus(String),
    /// Removes frames of the name and adds their self weight to the caller.
    Merge(String),
}

impl GraphStep {
    /// The name that the step applies to.
    pub fn name(&self) -> &str {
        match self {
            Self::Collapse(name) | Self::Drop(name) | Self::Focus(name) | Self::Merge(name) => name,
        }
    }
}

/// Where the children of a frame go.
#[derive(Clone, Copy)]
enum Landing {
    /// Nowhere: they are removed.
    Nowhere,
    /// Onto this stack.
    On(Parent),
    /// Merged into this stack.
    Within(u32),
}

impl Graph {
    /// The graph after the steps, applied in order.
    pub fn after(&self, steps: &[GraphStep]) -> Self {
        steps.iter().fold(self.clone(), |graph, step| graph.changed(step))
    }

    /// Whether any stack contains the name.
    pub fn has(&self, name: &str) -> bool {
        self.number(name).is_some_and(|number| self.stacks.nodes().iter().any(|node| node.frame == number))
    }

    /// Every name that a stack may contain.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }

    fn changed(self, step: &GraphStep) -> Self {
        let name = self.number(step.name());
        let outermost = match step {
            GraphStep::Focus(_) => Landing::Nowhere,
            _ => Landing::On(Parent::Root(0)),
        };
        let mut stacks: StackTree<Weight> = StackTree::default();
        let mut landings: Vec<Landing> = Vec::with_capacity(self.stacks.nodes().len());
        // A parent has a smaller number than its children, so one pass is enough.
        for node in self.stacks.nodes() {
            let around = match node.parent {
                Parent::Node(parent) => landings[parent as usize],
                Parent::Root(_) => outermost,
            };
            let is_named = Some(node.frame) == name;
            let on = match (around, step) {
                (Landing::Nowhere, GraphStep::Focus(_)) if is_named => Some(Parent::Root(0)),
                (Landing::On(_), GraphStep::Drop(_)) if is_named => None,
                (Landing::On(parent), _) => Some(parent),
                (Landing::Nowhere | Landing::Within(_), _) => None,
            };
            let is_merged = is_named && matches!(step, GraphStep::Merge(_));
            landings.push(match (on, around) {
                (Some(parent), _) if is_merged => {
                    if let Parent::Node(caller) = parent {
                        stacks.weight_mut(caller).add(Weight { count: 0, ..node.weight });
                    }
                    Landing::On(parent)
                }
                (Some(parent), _) => {
                    let number = stacks.child(parent, node.frame);
                    stacks.weight_mut(number).add(node.weight);
                    let is_end = is_named && matches!(step, GraphStep::Collapse(_));
                    if is_end { Landing::Within(number) } else { Landing::On(Parent::Node(number)) }
                }
                (None, Landing::Within(number)) => {
                    stacks.weight_mut(number).add(Weight { count: 0, ..node.weight });
                    around
                }
                (None, _) => Landing::Nowhere,
            });
        }
        Self::new(stacks, self.names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flame::{Stack, Tree};

    /// The stacks of letters after a step, with self weight and count.
    fn after(step: GraphStep) -> Vec<(String, u64, u64)> {
        let stacks = [("a", 10), ("a b", 20), ("a b a", 5), ("a b a d", 3), ("c", 1), ("c b", 40)];
        let stack = |(frames, own): (&'static str, u64)| Stack { frames: frames.split(' ').collect(), own, count: 1 };
        let graph = Graph::from(Tree::of_stacks(stacks.into_iter().map(stack))).after(&[step]);
        let path = |number: u32| {
            let (mut text, mut at) = (String::new(), Some(number));
            while let Some(number) = at {
                text.insert_str(0, graph.text(graph.name(number)));
                at = graph.parent(number);
            }
            text
        };
        let entries = (0..graph.stacks.nodes().len() as u32).map(|number| graph.entry(number));
        entries.map(|entry| (path(entry.node), entry.own, entry.count)).collect()
    }

    fn expect(stacks: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
        stacks.iter().map(|(path, own, count)| ((*path).to_owned(), *own, *count)).collect()
    }

    #[test]
    fn focus_starts_at_the_outermost_frame_of_the_name() {
        let found = after(GraphStep::Focus("b".into()));
        assert_eq!(found, expect(&[("b", 60, 2), ("ba", 5, 1), ("bad", 3, 1)]));
        assert!(after(GraphStep::Focus("x".into())).is_empty());
    }

    #[test]
    fn collapse_keeps_the_weight_and_not_the_callees() {
        let found = after(GraphStep::Collapse("b".into()));
        assert_eq!(found, expect(&[("a", 10, 1), ("ab", 28, 1), ("c", 1, 1), ("cb", 40, 1)]));
    }

    #[test]
    fn merge_gives_the_weight_to_the_caller() {
        let found = after(GraphStep::Merge("b".into()));
        assert_eq!(found, expect(&[("a", 30, 1), ("aa", 5, 1), ("aad", 3, 1), ("c", 41, 1)]));
    }

    #[test]
    fn drop_leaves_stacks_out() {
        assert_eq!(after(GraphStep::Drop("b".into())), expect(&[("a", 10, 1), ("c", 1, 1)]));
        assert_eq!(after(GraphStep::Drop("x".into())).len(), 6, "a name that is not there changes nothing");
    }
}
