//! Flows: work that is passed from scope to scope, across zones.

use std::collections::HashMap;

use traceloom_core::{Limits, Result};

use super::{kept_text, number};
use crate::{Event, Role};

/// A point on a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Point {
    /// The zone.
    pub zone: u32,
    /// Time of the point.
    pub time_us: i64,
    /// The innermost scope there.
    pub scope: Option<u32>,
}

/// How a flow reached a point.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum FlowKind {
    /// It starts there, possibly as a branch of another flow.
    Branch,
    /// It continues there.
    Extend,
    /// It ends there.
    Terminate,
}

impl FlowKind {
    /// The name for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Extend => "extend",
            Self::Terminate => "terminate",
        }
    }
}

/// A step of a flow.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// Id of the flow.
    pub flow: u32,
    /// The previous point; for a branch, that of its parent.
    pub from: Option<Point>,
    /// The current point.
    pub to: Point,
    /// How the flow reached it.
    pub kind: FlowKind,
    /// The name in the event, if there is one.
    pub name: Option<Box<str>>,
    /// The value in the event, as JSON text.
    pub value: Option<Box<str>>,
}

/// A step of a flow without its texts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Step {
    /// Id of the flow.
    pub flow: u32,
    /// The previous point; for a branch, that of its parent.
    pub from: Option<Point>,
    /// The current point.
    pub to: Point,
    /// How the flow reached it.
    pub kind: FlowKind,
}

/// The state of a flow.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Flow {
    /// The flow that it branched from; 0 for none.
    pub parent: u32,
    /// The last point.
    pub last: Point,
}

/// Follows flows from event to event.
#[derive(Debug)]
pub struct Flows {
    flows: HashMap<u32, Flow>,
    limits: Limits,
}

impl Flows {
    /// No flows yet.
    pub fn new(limits: &Limits) -> Self {
        Self { flows: HashMap::new(), limits: limits.clone() }
    }

    /// Adds the next event and the scope around it; returns the step that it makes.
    pub fn push(&mut self, event: &Event<'_>, scope: Option<u32>) -> Result<Option<Link>> {
        let Some(Step { flow, from, to, kind }) = self.follow(event, scope)? else { return Ok(None) };
        let (name, value) = (kept_text(event, "name"), kept_text(event, "value"));
        Ok(Some(Link { flow, from, to, kind, name, value }))
    }

    /// The same without the texts, which are in the event.
    pub fn follow(&mut self, event: &Event<'_>, scope: Option<u32>) -> Result<Option<Step>> {
        let kind = match event.kind.role {
            Role::FlowBranch => FlowKind::Branch,
            Role::FlowExtend => FlowKind::Extend,
            Role::FlowTerminate => FlowKind::Terminate,
            _ => return Ok(None),
        };
        let flow = number(event, "id");
        let parent = number(event, "parentId");
        let to = Point { zone: event.zone, time_us: event.time_us, scope };
        let before = if kind == FlowKind::Branch { parent } else { flow };
        let from = self.flows.get(&before).filter(|_| before != 0).map(|flow| flow.last);
        match kind {
            FlowKind::Terminate => {
                self.flows.remove(&flow);
            }
            FlowKind::Branch | FlowKind::Extend => {
                self.limits.check_entries("flows", self.flows.len() as u64 + 1)?;
                let entry = self.flows.entry(flow).or_insert(Flow { parent, last: to });
                entry.last = to;
                if kind == FlowKind::Branch {
                    entry.parent = parent;
                }
            }
        }
        Ok(Some(Step { flow, from, to, kind }))
    }

    /// A flow that has started but not ended.
    pub fn get(&self, id: u32) -> Option<Flow> {
        self.flows.get(&id).copied()
    }
}
