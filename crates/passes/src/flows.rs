//! Links between spans, drawn as arrows.
//!
//! Timelines draw an arrow from the span that a flow leaves to the next span that it reaches. Here each link is a
//! separate flow and so exactly one arrow; it needs two spans, the first of which starts earlier.

use hashbrown::HashMap;
use traceloom_core::{Error, Result};
use traceloom_model::{Table, select};

use crate::{KeyMap, Layer, NameId, Ordered, Pass};

select! {
    /// Flows between spans.
    pub struct LinkRows of links { trace_id, id, flow_id, from_span_id, to_span_id, kind }
}

/// A link from one span to another.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The number of its trace in the roster.
    pub trace: usize,
    /// The id of the link.
    pub id: i64,
    /// The span that the link leaves.
    pub from: i64,
    /// The span that the link reaches.
    pub to: i64,
    /// The producer's id of the flow.
    pub flow_id: u64,
    /// The step of the flow.
    pub kind: NameId,
}

impl Link {
    fn ends(&self) -> [(usize, i64); 2] {
        [(self.trace, self.from), (self.trace, self.to)]
    }
}

impl Pass<'_> {
    /// Reads the links that have two spans; all others are counted as lost.
    pub fn links(&mut self) -> Result<Vec<Link>> {
        let (mut links, mut kinds, max) = (Vec::new(), KeyMap::default(), self.options.limits.entries);
        self.rest().pour(&[Table::Links], |_, batch| {
            let rows = LinkRows::of(batch)?;
            kinds.turn_to(rows.kind.values());
            for row in 0..rows.rows {
                if links.len() >= max {
                    return Err(Error::limit("flows", links.len() as u64 + 1, max as u64));
                }
                let (trace, id) = (self.roster.trace_number(rows.trace_id.get(row))?, rows.id.get(row));
                let (Some(from), Some(to)) = (rows.from_span_id.get(row), rows.to_span_id.get(row)) else {
                    self.lose_link("flows that start or end outside any span", id);
                    continue;
                };
                let kind = kinds.get(rows.kind.keys().get(row).copied().unwrap_or(-1), &mut self.names)?;
                links.push(Link { trace, id, from, to, flow_id: rows.flow_id.get(row), kind });
            }
            Ok(())
        })?;
        Ok(links)
    }

    /// Counts a link as lost.
    pub fn lose_link(&mut self, what: &'static str, id: i64) {
        self.loss.lose(what, || format!("links {id}"));
    }
}

/// A loss: a span of the link is not written.
pub const LINK_TO_HIDDEN_SPAN: &str = "flows that leave the spans shown";

/// The ends of flows, by trace and span id.
#[derive(Debug, Default)]
pub struct Flows {
    ends: HashMap<(usize, i64), Vec<FlowEnd>>,
    /// Number of flows so far.
    count: u64,
}

/// One end of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowEnd {
    /// The flow's number.
    pub id: u64,
    /// Whether the flow arrives here; otherwise it leaves.
    pub arrives: bool,
}

impl Flows {
    /// Reads the links and determines which of them are arrows.
    pub fn new(pass: &mut Pass<'_>) -> Result<Self> {
        let mut flows = Self::default();
        if pass.rows(Table::Links) == 0 {
            return Ok(flows);
        }
        let links = pass.links()?;
        let starts = starts(pass, &links)?;
        for link in &links {
            match link.ends().map(|end| starts.get(&end).copied().flatten()) {
                [Some(from), Some(to)] if from < to => flows.add(link),
                [Some(_), Some(_)] => pass.lose_link("flows to a span that started earlier", link.id),
                _ => pass.lose_link(LINK_TO_HIDDEN_SPAN, link.id),
            }
        }
        Ok(flows)
    }

    fn add(&mut self, link: &Link) {
        self.count += 1;
        for (end, arrives) in link.ends().into_iter().zip([false, true]) {
            self.ends.entry(end).or_default().push(FlowEnd { id: self.count, arrives });
        }
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

/// The start of a span: its time, and its number in the output.
type Start = (i64, u64);

/// The starts of the linked spans, by trace and id; `None` for spans that are not written.
fn starts(pass: &Pass<'_>, links: &[Link]) -> Result<HashMap<(usize, i64), Option<Start>>> {
    let mut starts: HashMap<(usize, i64), Option<Start>> =
        links.iter().flat_map(Link::ends).map(|end| (end, None)).collect();
    for (number, span) in (0..).zip(pass.spans.iter(&pass.roster)?) {
        let span = span?;
        let key = (pass.roster.thread(span.thread).trace, span.id);
        if span.layer != Layer::Switches
            && let Some(start) = starts.get_mut(&key)
        {
            *start = Some((span.ts_ns, number));
        }
    }
    Ok(starts)
}
