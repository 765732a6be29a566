//! Flows as links: the span that a flow reaches refers to the span that it comes from.

use hashbrown::HashMap;
use traceloom_core::Result;
use traceloom_model::Table;

use super::{
    attributes::{put_number, put_text},
    fields::{link, span},
    ids::{Ancestors, Tree, span_id},
};
use crate::wire::Wire;
use traceloom_passes::{LINK_TO_HIDDEN_SPAN, Layer, Link, NamePool, Ordered, Pass, Trace};

/// Links by the trace and id of the span that they lead to, each with the tree that it comes from.
#[derive(Debug, Default)]
pub(super) struct Links {
    by_target: HashMap<(usize, i64), Vec<(Link, Tree)>>,
}

impl Links {
    /// Reads the links, and keeps those whose two ends are written.
    pub(super) fn new(pass: &mut Pass<'_>) -> Result<Self> {
        let mut links = Self::default();
        if pass.rows(Table::Links) == 0 {
            return Ok(links);
        }
        let all = pass.links()?;
        let trees = trees(pass, &all)?;
        let tree_of = |key: (usize, i64)| trees.get(&key).copied().flatten();
        for link in all {
            let target = (link.trace, link.to);
            match (tree_of((link.trace, link.from)), tree_of(target)) {
                (Some(from), Some(_)) => links.by_target.entry(target).or_default().push((link, from)),
                _ => pass.lose_link(LINK_TO_HIDDEN_SPAN, link.id),
            }
        }
        Ok(links)
    }

    /// Adds the links of a span of this trace to it.
    #[inline]
    pub(super) fn put(
        &self,
        of: &Ordered,
        (number, trace): (usize, &Trace),
        names: &mut NamePool,
        out: &mut Wire,
    ) -> Result<()> {
        if self.by_target.is_empty() || of.layer == Layer::Switches {
            return Ok(());
        }
        for (found, from) in self.by_target.get(&(number, of.id)).into_iter().flatten() {
            let kind = names.get(found.kind)?;
            out.message(span::LINKS, |wire| {
                wire.bytes(link::TRACE_ID, &from.trace_id(trace.trace_id));
                wire.bytes(link::SPAN_ID, &span_id(Layer::Stack, found.from));
                put_number(wire, link::ATTRIBUTES, "flow.id", found.flow_id);
                put_text(wire, link::ATTRIBUTES, "flow.kind", kind);
            });
        }
        Ok(())
    }
}

/// The trees of all linked spans, by trace and id; `None` for spans that are not written.
fn trees(pass: &Pass<'_>, links: &[Link]) -> Result<HashMap<(usize, i64), Option<Tree>>> {
    let ends = links.iter().flat_map(|link| [(link.trace, link.from), (link.trace, link.to)]);
    let mut trees: HashMap<(usize, i64), Option<Tree>> = ends.map(|end| (end, None)).collect();
    let (roster, mut ancestors) = (&pass.roster, Ancestors::default());
    for span in pass.spans.iter(roster)? {
        let span = span?;
        let branch = ancestors.enter(&span, roster);
        let key = (roster.thread(span.thread).trace, span.id);
        if span.layer != Layer::Switches
            && let Some(tree) = trees.get_mut(&key)
        {
            *tree = Some(branch.tree);
        }
    }
    Ok(trees)
}
