//! The events that hooks store, in one order for all threads, because another thread may free an address.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::SyncSender},
    thread::JoinHandle,
};

use hashbrown::HashMap;

/// Number of events per chunk.
const CHUNK: usize = 4096;

/// Something that happened.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Raw time.
    pub(super) at: u64,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Alloc { address: usize, size: usize, node: u32, thread: u32 },
    Free { address: usize },
    Gc { objects: u64 },
    Marker(String),
}

/// A call in a tree of calls; its number is its index in the list plus one, and 0 is the root.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) parent: u32,
    pub(super) place: Arc<Place>,
    pub(super) line: u32,
}

/// A function of a program.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) file: String,
    pub(super) function: String,
}

/// A call: its caller, its code and the position in it.
pub(super) type Call = (u32, usize, i32);

/// A running recording.
pub(super) struct Tape {
    sender: SyncSender<Vec<Event>>,
    events: Vec<Event>,
    calls: HashMap<Call, u32>,
    nodes: Arc<Mutex<Vec<Node>>>,
    clock: quanta::Clock,
    writer: JoinHandle<traceloom::Result<()>>,
}

pub(super) static TAPE: Mutex<Option<Tape>> = Mutex::new(None);

/// The recording, if there is one.
pub(super) fn tape() -> MutexGuard<'static, Option<Tape>> {
    TAPE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tape {
    pub(super) fn new(
        sender: SyncSender<Vec<Event>>,
        nodes: Arc<Mutex<Vec<Node>>>,
        clock: quanta::Clock,
        writer: JoinHandle<traceloom::Result<()>>,
    ) -> Self {
        Self { sender, events: Vec::with_capacity(CHUNK), calls: HashMap::new(), nodes, clock, writer }
    }

    /// The node of a call, if it exists.
    pub(super) fn known(&self, call: Call) -> Option<u32> {
        self.calls.get(&call).copied()
    }

    /// Creates the node of a call.
    pub(super) fn add(&mut self, call: Call, place: Arc<Place>, line: u32) -> u32 {
        let mut nodes = self.nodes.lock().unwrap_or_else(PoisonError::into_inner);
        nodes.push(Node { parent: call.0, place, line });
        let number = nodes.len() as u32;
        self.calls.insert(call, number);
        number
    }

    pub(super) fn took(&mut self, address: usize, size: usize, node: u32, thread: u32) {
        self.put(What::Alloc { address, size, node, thread });
    }

    pub(super) fn gave_back(&mut self, address: usize) {
        self.put(What::Free { address });
    }

    pub(super) fn collected(&mut self, objects: u64) {
        self.put(What::Gc { objects });
    }

    pub(super) fn mark(&mut self, name: String) {
        self.put(What::Marker(name));
    }

    /// Sends the remaining events, and returns the writer.
    pub(super) fn finish(self) -> JoinHandle<traceloom::Result<()>> {
        _ = self.sender.send(self.events);
        self.writer
    }

    fn put(&mut self, what: What) {
        self.events.push(Event { at: self.clock.raw(), what });
        if self.events.len() == CHUNK {
            // A failed writer reports its error at the end.
            _ = self.sender.send(std::mem::replace(&mut self.events, Vec::with_capacity(CHUNK)));
        }
    }
}
