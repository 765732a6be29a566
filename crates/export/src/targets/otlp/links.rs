//! Flows as links: the span that a flow reaches names the one that it comes from.

use hashbrown::HashMap;
use traceloom_core::{Error, Loss, Result};
use traceloom_model::{Table, TableSource, links};

use super::{
    attributes::{put_number, put_text},
    fields::{link, span},
    ids::{Ancestors, Tree, span_id},
};
use crate::wire::Wire;
use traceloom_passes::{Gathered, KeyMap, Layer, NameId, NamePool, Options, Ordered, Roster};

/// A span as the rows of `links` know it: the number of its trace, and its id.
type Key = (usize, i64);

/// Links by the span that they lead to.
#[derive(Debug, Default)]
pub(super) struct Links {
    by_target: HashMap<Key, Vec<Link>>,
    /// The trees of all spans that take part, where they are written.
    trees: HashMap<Key, Option<Tree>>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    id: i64,
    from: i64,
    flow_id: u64,
    kind: NameId,
}

impl Links {
    /// Reads the links, and finds out which of them have both ends.
    pub(super) fn new(
        source: &dyn TableSource,
        gathered: &mut Gathered,
        options: &Options,
        loss: &mut Loss,
    ) -> Result<Self> {
        let mut links = Self::default();
        if gathered.rows(Table::Links) == 0 {
            return Ok(links);
        }
        links.read(source, gathered, options.limits.entries, loss)?;
        links.find_trees(gathered)?;
        links.lose_torn(loss);
        Ok(links)
    }

    fn read(&mut self, source: &dyn TableSource, gathered: &mut Gathered, most: usize, loss: &mut Loss) -> Result<()> {
        let rest = gathered.rest();
        let Gathered { roster, names, .. } = gathered;
        let (mut kinds, mut count) = (KeyMap::default(), 0);
        rest.pour(source, &[Table::Links], |_, batch| {
            let view = links::View::of(batch);
            kinds.turn_to(view.kind.values());
            for row in 0..view.rows {
                if count >= most {
                    return Err(Error::limit("flows", count as u64 + 1, most as u64));
                }
                count += 1;
                let (trace, id) = (roster.trace_number(view.trace_id.get(row))?, view.id.get(row));
                let (Some(from), Some(to)) = (view.from_span_id.get(row), view.to_span_id.get(row)) else {
                    loss.lose("flows that begin or end outside of spans", || format!("links {id}"));
                    continue;
                };
                let kind = kinds.get(view.kind.keys().get(row).copied().unwrap_or(-1), names)?;
                let link = Link { id, from, flow_id: view.flow_id.get(row), kind };
                self.by_target.entry((trace, to)).or_default().push(link);
                self.trees.extend([((trace, from), None), ((trace, to), None)]);
            }
            Ok(())
        })
    }

    /// Leaves out links of which an end is not written.
    fn lose_torn(&mut self, loss: &mut Loss) {
        let Self { by_target, trees } = self;
        let is_shown = |key: &Key| trees.get(key).copied().flatten().is_some();
        let mut torn = Vec::new();
        for (to, list) in by_target {
            let is_kept = |link: &Link| is_shown(to) && is_shown(&(to.0, link.from));
            torn.extend(list.extract_if(.., |link| !is_kept(link)).map(|link| link.id));
        }
        torn.sort_unstable();
        torn.iter().for_each(|id| loss.lose("flows that leave the spans shown", || format!("links {id}")));
    }

    fn find_trees(&mut self, gathered: &Gathered) -> Result<()> {
        let (roster, mut ancestors) = (&gathered.roster, Ancestors::default());
        for span in gathered.spans.iter(roster)? {
            let span = span?;
            let branch = ancestors.enter(&span, roster);
            let key = (roster.thread(span.thread).trace, span.id);
            if span.layer != Layer::Switches
                && let Some(tree) = self.trees.get_mut(&key)
            {
                *tree = Some(branch.tree);
            }
        }
        Ok(())
    }

    /// Puts the links of a span into it.
    #[inline]
    pub(super) fn put(
        &self,
        trace: usize,
        of: &Ordered,
        roster: &Roster,
        names: &mut NamePool,
        out: &mut Wire,
    ) -> Result<()> {
        if self.by_target.is_empty() || of.layer == Layer::Switches {
            return Ok(());
        }
        for found in self.by_target.get(&(trace, of.id)).into_iter().flatten() {
            let Some(tree) = self.trees.get(&(trace, found.from)).copied().flatten() else { continue };
            let kind = names.get(found.kind)?;
            out.message(span::LINKS, |wire| {
                wire.bytes(link::TRACE_ID, &tree.trace_id(roster.traces[trace].trace_id));
                wire.bytes(link::SPAN_ID, &span_id(Layer::Stack, found.from));
                put_number(wire, link::ATTRIBUTES, "flow.id", found.flow_id);
                put_text(wire, link::ATTRIBUTES, "flow.kind", kind);
            });
        }
        Ok(())
    }
}
