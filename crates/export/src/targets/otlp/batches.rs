//! Messages of bounded size: a resource, a scope, and its spans or log records.

use std::io::Write;

use traceloom_core::Result;

use super::fields::{data, resources, scopes};
use crate::wire::Wire;

/// Maximum size of the spans or log records in a message. Collectors accept four megabytes at once.
const BATCH_BYTES: usize = 1 << 20;

/// Writes spans or log records, process by process.
pub(super) struct Batches<'o> {
    out: &'o mut dyn Write,
    /// The resource of each process, and whether it has been written.
    resources: Vec<(Wire, bool)>,
    scope: Wire,
    process: usize,
    items: Wire,
}

impl<'o> Batches<'o> {
    pub(super) fn new(resources: Vec<Wire>, out: &'o mut dyn Write) -> Self {
        let mut scope = Wire::default();
        scope.message(scopes::SCOPE, |wire| {
            wire.text(scopes::SCOPE_NAME, "traceloom");
            wire.text(scopes::SCOPE_VERSION, env!("CARGO_PKG_VERSION"));
        });
        let resources = resources.into_iter().map(|resource| (resource, false)).collect();
        Self { out, resources, scope, process: 0, items: Wire::default() }
    }

    /// Switches to the spans or log records of a process.
    #[inline]
    pub(super) fn turn_to(&mut self, process: usize) -> Result<()> {
        if self.process != process {
            self.flush()?;
            self.process = process;
        }
        Ok(())
    }

    /// Adds a span or a log record.
    #[inline]
    pub(super) fn add(&mut self, item: &Wire) -> Result<()> {
        self.items.bytes(scopes::ITEMS, &item.bytes);
        if self.items.len() >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes the rest, and the resources that have no spans or log records.
    pub(super) fn finish(mut self) -> Result<()> {
        self.flush()?;
        for process in 0..self.resources.len() {
            if !self.resources[process].1 {
                self.process = process;
                self.write()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.items.len() > 0 { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> Result<()> {
        let Some((resource, is_written)) = self.resources.get_mut(self.process) else { return Ok(()) };
        *is_written = true;
        let mut head = Wire::default();
        head.bytes(resources::RESOURCE, &resource.bytes);
        head.length(resources::SCOPES, self.scope.len() + self.items.len());
        head.bytes.extend_from_slice(&self.scope.bytes);
        let mut begin = Wire::default();
        begin.length(data::RESOURCES, head.len() + self.items.len());
        for part in [&begin, &head, &self.items] {
            self.out.write_all(&part.bytes)?;
        }
        self.items.clear();
        Ok(())
    }
}
