//! Writes events to a Memlyze file.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, mpsc::Receiver},
    time::{SystemTime, UNIX_EPOCH},
};

use hashbrown::HashSet;
use traceloom::{
    Limits, Result,
    memlyze::{Allocated, Call, Composer, raw::Packing},
};

use super::tape::{Event, Node, What};
use crate::output::written;

/// Writes one trace.
pub(super) struct Writing {
    path: PathBuf,
    own: String,
    nodes: Arc<Mutex<Vec<Node>>>,
    clock: quanta::Clock,
    start: u64,
    start_us: u64,
    composer: Composer,
    /// Addresses allocated during the recording; frees of others are ignored.
    live: HashSet<usize>,
    /// The stacks of nodes that were needed so far.
    stacks: Vec<Option<u64>>,
}

impl Writing {
    pub(super) fn new(path: PathBuf, own: String, nodes: Arc<Mutex<Vec<Node>>>, clock: quanta::Clock) -> Self {
        let start_us = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64);
        let (live, stacks, start) = (HashSet::new(), Vec::new(), clock.raw());
        let composer = Composer::new(&Limits::default());
        Self { path, own, nodes, clock, start, start_us, composer, live, stacks }
    }

    /// Writes until the recording ends.
    pub(super) fn write_all(mut self, chunks: &Receiver<Vec<Event>>) -> Result<()> {
        for events in chunks {
            events.into_iter().try_for_each(|event| self.put(event))?;
        }
        let Self { path, composer, start_us, .. } = self;
        written(&path, |out| composer.finish(out, start_us, Packing::Plain).map(drop))
    }

    fn put(&mut self, event: Event) -> Result<()> {
        let time_us = self.clock.delta_as_nanos(self.start, event.at) / 1000;
        match event.what {
            What::Alloc { address, size, node, thread } => {
                self.live.insert(address);
                let stack = self.stack(node)?;
                let (address, size_bytes, thread) = (address as u64, size as u64, u64::from(thread));
                self.composer.alloc(time_us, Allocated { address, size_bytes, stack, thread })
            }
            What::Free { address } if self.live.remove(&address) => self.composer.free(time_us, address as u64),
            What::Free { .. } => Ok(()),
            What::Gc { objects } => self.composer.gc(time_us, objects, 0),
            What::Marker(name) => self.composer.marker(time_us, name.as_bytes()),
        }
    }

    /// The stack of a node, without frames of this package.
    fn stack(&mut self, node: u32) -> Result<u64> {
        if let Some(Some(known)) = self.stacks.get(node as usize) {
            return Ok(*known);
        }
        let nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut calls, mut next) = (Vec::new(), node);
        while let Some(node) = next.checked_sub(1).and_then(|index| nodes.get(index as usize)) {
            let is_own = node.place.file.starts_with(&self.own);
            // The module that runs a program is not part of the program.
            if is_own && !calls.is_empty() {
                break;
            }
            if !is_own {
                let (file, function) = (node.place.file.as_bytes(), node.place.function.as_bytes());
                calls.push(Call { file, line: node.line.into(), function });
            }
            next = node.parent;
        }
        if calls.is_empty() {
            calls.push(Call { file: b"<interpreter>", line: 0, function: b"<interpreter>" });
        }
        let stack = self.composer.stack(&calls)?;
        self.stacks.resize(self.stacks.len().max(nodes.len() + 1), None);
        self.stacks[node as usize] = Some(stack);
        Ok(stack)
    }
}
