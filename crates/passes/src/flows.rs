//! Links between spans as arrows.
//!
//! Timelines draw an arrow from the span that a flow leaves to the next one in time that it reaches. Each link is a flow
//! of its own here, so that it is exactly one arrow; that needs two spans, the first of which begins earlier.

use hashbrown::HashMap;
use traceloom_core::{Error, Loss, Result};
use traceloom_model::{Table, TableSource, links};

use crate::{Gathered, Layer, Options, Ordered};

/// A span as the rows of `links` know it: the number of its trace, and its id.
type Key = (usize, i64);

/// The ends of flows, by span.
#[derive(Debug, Default)]
pub struct Flows {
    ends: HashMap<Key, Vec<FlowEnd>>,
    /// Flows so far.
    count: u64,
}

/// One end of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowEnd {
    /// The flow's number.
    pub id: u64,
    /// Whether the flow comes here, and does not leave.
    pub arrives: bool,
}

struct Link {
    id: i64,
    from: Key,
    to: Key,
}

impl Flows {
    /// Reads the links and finds out which of them are arrows.
    pub fn new(source: &dyn TableSource, gathered: &mut Gathered, options: &Options, loss: &mut Loss) -> Result<Self> {
        if gathered.rows(Table::Links) == 0 {
            return Ok(Self::default());
        }
        let links = read(source, gathered, options, loss)?;
        let begins = begins(gathered, &links)?;
        let mut flows = Self::default();
        for link in &links {
            match (begins.get(&link.from).copied().flatten(), begins.get(&link.to).copied().flatten()) {
                (Some(from), Some(to)) if from < to => flows.add(link),
                (Some(_), Some(_)) => {
                    loss.lose("flows to a span that began before", || format!("links {}", link.id));
                }
                _ => loss.lose("flows that leave the spans shown", || format!("links {}", link.id)),
            }
        }
        Ok(flows)
    }

    fn add(&mut self, link: &Link) {
        self.count += 1;
        let id = self.count;
        self.ends.entry(link.from).or_default().push(FlowEnd { id, arrives: false });
        self.ends.entry(link.to).or_default().push(FlowEnd { id, arrives: true });
    }

    /// The flows of a span.
    #[inline]
    pub fn of(&self, trace: usize, span: &Ordered) -> &[FlowEnd] {
        if self.ends.is_empty() || span.layer == Layer::Switches {
            return &[];
        }
        self.ends.get(&(trace, span.id)).map_or(&[], Vec::as_slice)
    }
}

fn read(source: &dyn TableSource, gathered: &mut Gathered, options: &Options, loss: &mut Loss) -> Result<Vec<Link>> {
    let mut list = Vec::new();
    let most = options.limits.entries;
    let rest = gathered.rest();
    let roster = &mut gathered.roster;
    rest.pour(source, &[Table::Links], |_, batch| {
        let view = links::View::of(batch);
        for row in 0..view.rows {
            if list.len() >= most {
                return Err(Error::limit("flows", list.len() as u64 + 1, most as u64));
            }
            let (trace, id) = (roster.trace_number(view.trace_id.get(row))?, view.id.get(row));
            match (view.from_span_id.get(row), view.to_span_id.get(row)) {
                (Some(from), Some(to)) => list.push(Link { id, from: (trace, from), to: (trace, to) }),
                _ => loss.lose("flows that begin or end outside of spans", || format!("links {id}")),
            }
        }
        Ok(())
    })?;
    Ok(list)
}

/// When the linked spans begin: their time, and their place in the output.
fn begins(gathered: &Gathered, links: &[Link]) -> Result<HashMap<Key, Option<(i64, u64)>>> {
    let mut begins: HashMap<Key, Option<(i64, u64)>> =
        links.iter().flat_map(|link| [link.from, link.to]).map(|key| (key, None)).collect();
    for (place, span) in (0..).zip(gathered.spans.iter(&gathered.roster)?) {
        let span = span?;
        let key = (gathered.roster.thread(span.thread).trace, span.id);
        if span.layer != Layer::Switches
            && let Some(begin) = begins.get_mut(&key)
        {
            *begin = Some((span.ts_ns, place));
        }
    }
    Ok(begins)
}
