//! Unpacks blocks on another thread while the reader decodes the events of earlier blocks.

use std::{
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread::{self, JoinHandle},
};

use traceloom_core::{ByteOrder, Limits, Result, Source, Window};

use crate::{encoding::block::Head, raw::BLOCK_HEADER_BYTES};

/// Max number of unpacked blocks that wait for the reader.
const WAITING: usize = 4;

/// Where the reader gets blocks that are already unpacked.
#[derive(Debug)]
pub(super) enum Ahead {
    /// The reader unpacks all blocks itself.
    Off,
    /// The first block starts the thread.
    Possible(Limits),
    Running(Unpacker),
}

/// The thread, and the blocks that it has unpacked.
#[derive(Debug)]
pub(super) struct Unpacker {
    blocks: Option<Receiver<Ready>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Unpacker {
    fn drop(&mut self) {
        // The thread ends at its next block if nobody receives it.
        self.blocks = None;
        // Nothing may read the source when the reader is gone; the reader does not depend on how the thread ended.
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// A block whose checksum is right.
#[derive(Debug)]
struct Ready {
    offset: u64,
    head: Head,
    plain: Vec<u8>,
}

impl Ahead {
    pub(super) fn new(limits: &Limits) -> Self {
        if limits.threads > 1 { Self::Possible(limits.clone()) } else { Self::Off }
    }

    /// Puts the events of the block at the start of the window into `plain`; returns false if the reader has to unpack
    /// it.
    ///
    /// The thread ends at the first problem, which the reader meets as well and reports; from there on, the reader is
    /// alone.
    pub(super) fn take(&mut self, window: &Window, head: &Head, order: ByteOrder, plain: &mut Vec<u8>) -> bool {
        let offset = window.offset();
        if let Self::Possible(limits) = self {
            *self = start(window.source(), offset, order, limits).map_or(Self::Off, Self::Running);
        }
        let Self::Running(Unpacker { blocks: Some(blocks), .. }) = self else { return false };
        match blocks.recv() {
            Ok(ready) if ready.offset == offset && ready.head == *head => {
                *plain = ready.plain;
                true
            }
            _ => {
                *self = Self::Off;
                false
            }
        }
    }
}

/// Starts the thread; `None` if the rest of the file is not worth it, or if the system has no more threads.
fn start(source: &Source, offset: u64, order: ByteOrder, limits: &Limits) -> Option<Unpacker> {
    let left = source.len().ok()?.saturating_sub(offset);
    if left < limits.bytes_per_thread {
        return None;
    }
    let (out, blocks) = sync_channel(WAITING);
    let mut window = Window::new(source.clone(), limits);
    window.seek(offset);
    // The reader meets the same errors.
    let work = move || drop(unpack_all(&mut window, order, &out));
    let thread = thread::Builder::new().name("unpacker".to_owned()).spawn(work).ok()?;
    Some(Unpacker { blocks: Some(blocks), thread: Some(thread) })
}

/// Unpacks blocks until there is a problem, or until nobody receives them.
fn unpack_all(window: &mut Window, order: ByteOrder, out: &SyncSender<Ready>) -> Result<()> {
    loop {
        let offset = window.offset();
        let Ok(head) = Head::read(window.fill(BLOCK_HEADER_BYTES)?, order) else { return Ok(()) };
        let mut plain = Vec::new();
        let block = window.fill(head.block_len())?.get(..head.block_len());
        let is_sound = block.is_some_and(|block| head.unpack(block, &mut plain).is_ok());
        if !is_sound || out.send(Ready { offset, head, plain }).is_err() {
            return Ok(());
        }
        window.consume(head.block_len());
    }
}
