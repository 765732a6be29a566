//! The call tree from SUB_RETURN records, as nytprofcalls builds it for flame graphs.

use std::collections::{BTreeMap, HashMap};

use traceloom_core::Result;

use crate::{Record, SubReturn, budget::Budget};

/// Builds a call tree from returns, which name a call only when it is over.
///
/// Calls that have returned wait at their depth until the enclosing call returns and takes them as its children. Depths
/// come from the file, so only those in use take memory.
#[derive(Debug)]
pub struct CallTreeBuilder {
    nodes: Vec<Node>,
    free: Vec<u32>,
    /// Finished calls by depth, then by name.
    waiting: BTreeMap<u32, Calls>,
    roots: Calls,
    names: HashMap<Vec<u8>, u32>,
    budget: Budget,
}

type Calls = BTreeMap<u32, u32>;

#[derive(Debug, Default)]
struct Node {
    ticks: f64,
    count: u64,
    calls: Calls,
}

/// Calls by path; those with the same names are summed.
#[derive(Debug)]
pub struct CallTree {
    nodes: Vec<Node>,
    roots: Calls,
    names: Vec<Vec<u8>>,
}

/// Represents calls that never returned.
const UNKNOWN: u32 = u32::MAX;
/// Size of a node, including its entry in the tree.
const NODE_BYTES: u64 = 220;

impl CallTreeBuilder {
    /// For a file of this size.
    pub fn new(source_bytes: u64) -> Self {
        Self {
            nodes: Vec::new(),
            free: Vec::new(),
            waiting: BTreeMap::new(),
            roots: Calls::new(),
            names: HashMap::new(),
            budget: Budget::new("memory for the call tree", source_bytes, 40 << 20),
        }
    }

    /// Adds a record; only returns and process boundaries matter.
    pub fn add(&mut self, record: &Record<'_>) -> Result<()> {
        match record {
            Record::SubReturn(left) => self.leave(left),
            // Each process counts its depth from 1.
            Record::PidStart(_) | Record::PidEnd(_) => self.end_process(),
            _ => Ok(()),
        }
    }

    /// Returns the tree.
    pub fn finish(mut self) -> Result<CallTree> {
        self.end_process()?;
        let mut names = vec![Vec::new(); self.names.len()];
        for (name, id) in self.names {
            if let Some(place) = names.get_mut(id as usize) {
                *place = name;
            }
        }
        Ok(CallTree { nodes: self.nodes, roots: self.roots, names })
    }

    fn leave(&mut self, left: &SubReturn<'_>) -> Result<()> {
        let name = self.name(&shown_name(left.name.bytes))?;
        let calls = self.collect(left.depth)?;
        let node = self.node(Node { ticks: left.excl_ticks.value(), count: 1, calls })?;
        let mut siblings = self.waiting.remove(&left.depth).unwrap_or_default();
        self.insert(&mut siblings, name, node);
        self.waiting.insert(left.depth, siblings);
        Ok(())
    }

    fn end_process(&mut self) -> Result<()> {
        let calls = self.collect(0)?;
        let mut roots = std::mem::take(&mut self.roots);
        for (name, node) in calls {
            self.insert(&mut roots, name, node);
        }
        self.roots = roots;
        Ok(())
    }

    /// Takes all calls below `depth`; those more than one level below are inside calls that never returned.
    fn collect(&mut self, depth: u32) -> Result<Calls> {
        let Some(below) = depth.checked_add(1) else { return Ok(Calls::new()) };
        let mut collected = Calls::new();
        while let Some(level) = self.waiting.last_entry().filter(|level| *level.key() >= below) {
            let (level, calls) = level.remove_entry();
            let inner = std::mem::replace(&mut collected, calls);
            if !inner.is_empty() {
                let unknown = self.node(Node { calls: inner, ..Node::default() })?;
                self.insert(&mut collected, UNKNOWN, unknown);
            }
            if level == below {
                return Ok(collected);
            }
        }
        if collected.is_empty() {
            return Ok(collected);
        }
        let unknown = self.node(Node { calls: collected, ..Node::default() })?;
        Ok(Calls::from([(UNKNOWN, unknown)]))
    }

    fn name(&mut self, name: &[u8]) -> Result<u32> {
        if let Some(id) = self.names.get(name) {
            return Ok(*id);
        }
        let id = self.names.len() as u32;
        self.budget.charge(96 + 2 * name.len() as u64)?;
        self.names.insert(name.to_vec(), id);
        Ok(id)
    }

    fn node(&mut self, node: Node) -> Result<u32> {
        if let Some(at) = self.free.pop()
            && let Some(place) = self.nodes.get_mut(at as usize)
        {
            *place = node;
            return Ok(at);
        }
        self.budget.charge(NODE_BYTES)?;
        self.nodes.push(node);
        Ok(self.nodes.len() as u32 - 1)
    }

    /// Adds a call with its children; not recursive, because calls may nest to any depth.
    fn insert(&mut self, siblings: &mut Calls, name: u32, node: u32) {
        let mut open = Vec::new();
        match siblings.get(&name) {
            Some(&same) => open.push((same, node)),
            None => _ = siblings.insert(name, node),
        }
        while let Some((into, from)) = open.pop() {
            let Some(mut from_node) = self.nodes.get_mut(from as usize).map(std::mem::take) else { continue };
            self.free.push(from);
            let Some(into_node) = self.nodes.get_mut(into as usize) else { continue };
            into_node.ticks += from_node.ticks;
            into_node.count += from_node.count;
            // The smaller list is merged into the larger one; otherwise repeated merging would take forever.
            if into_node.calls.len() < from_node.calls.len() {
                std::mem::swap(&mut into_node.calls, &mut from_node.calls);
            }
            for (name, call) in from_node.calls {
                match into_node.calls.get(&name) {
                    Some(&same) => open.push((same, call)),
                    None => _ = into_node.calls.insert(name, call),
                }
            }
        }
    }
}

impl CallTree {
    /// Visits every path that has calls: names from the outermost on, self ticks, number of calls.
    ///
    /// The name of a call that never returned is empty.
    pub fn for_each(&self, mut visit: impl FnMut(&[&[u8]], f64, u64)) {
        let mut path: Vec<&[u8]> = Vec::new();
        let mut open: Vec<_> = vec![self.roots.iter()];
        while let Some(calls) = open.last_mut() {
            let Some((name, node)) = calls.next() else {
                open.pop();
                path.pop();
                continue;
            };
            path.push(self.names.get(*name as usize).map_or(&[], Vec::as_slice));
            let Some(node) = self.nodes.get(*node as usize) else { continue };
            if node.count > 0 {
                visit(&path, node.ticks, node.count);
            }
            open.push(node.calls.iter());
        }
    }
}

/// A name without the numbers of evals, so that calls to the same code are summed.
fn shown_name(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&first, after)) = rest.split_first() {
        if first == b'('
            && let Some((word, after_number)) = eval_number(after)
        {
            out.push(b'(');
            out.extend_from_slice(word);
            out.extend_from_slice(b" 0");
            rest = after_number;
            continue;
        }
        out.push(first);
        rest = after;
    }
    out
}

/// `eval N)[…:LINE]`: the word, and what follows the number.
fn eval_number(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let word = bytes.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
    let (word, rest) = bytes.split_at_checked(word).filter(|(word, _)| word.ends_with(b"eval"))?;
    let number = rest.strip_prefix(b" ")?;
    let digits = number.iter().take_while(|c| c.is_ascii_digit()).count();
    let after = number.get(digits..).filter(|after| digits > 0 && after.starts_with(b")["))?;
    let has_line = after.windows(2).any(|part| matches!(part, [b':', b'0'..=b'9']));
    has_line.then_some((word, after))
}
