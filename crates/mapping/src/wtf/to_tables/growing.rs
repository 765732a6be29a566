//! Growing files: scopes become rows when they end.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use traceloom_core::{Options, ReadAt, Records, Result, Source};
use traceloom_model::{Halt, Tables, spans::Span, trackers::Symbol};
use traceloom_wtf::{Reader, Record, Zone, open, whole_chunks};

use super::{
    events::{Mapper, Wants, bare_span},
    header, push_threads,
};
use crate::growing::Grow;

/// A scope that has not ended.
#[derive(Debug)]
pub(super) struct OpenScope {
    pub(super) id: i64,
    pub(super) ts_ns: i64,
    pub(super) children_ns: i64,
    pub(super) name: Symbol,
    pub(super) category: Symbol,
    pub(super) definition_id: i64,
}

/// The open scopes of each zone.
#[derive(Debug, Default)]
pub(super) struct OpenScopes(Vec<Vec<OpenScope>>);

impl OpenScopes {
    pub(super) fn of(&mut self, zone: u32) -> &mut Vec<OpenScope> {
        let index = zone as usize;
        // The reader bounds the number of zones.
        if self.0.len() <= index {
            self.0.resize_with(index + 1, Vec::new);
        }
        &mut self.0[index]
    }

    /// Closes the innermost scope of a zone; without `end_ns`, the scope never ends.
    pub(super) fn close(&mut self, zone: u32, end_ns: Option<i64>) -> Option<Span<'static>> {
        let open = self.of(zone);
        let scope = open.pop()?;
        let dur_ns = end_ns.map(|end_ns| end_ns.saturating_sub(scope.ts_ns).max(0));
        if let (Some(parent), Some(dur_ns)) = (open.last_mut(), dur_ns) {
            parent.children_ns = parent.children_ns.saturating_add(dur_ns);
        }
        Some(Span {
            parent_id: open.last().map(|parent| parent.id),
            depth: open.len() as u32,
            dur_ns,
            self_ns: dur_ns.map(|dur_ns| dur_ns.saturating_sub(scope.children_ns).max(0)),
            name: scope.name.into(),
            category: scope.category.into(),
            definition_id: Some(scope.definition_id),
            ..bare_span(scope.id, zone, scope.ts_ns)
        })
    }

    /// A zone that has open scopes.
    pub(super) fn any(&self) -> Option<u32> {
        self.0.iter().position(|open| !open.is_empty()).map(|zone| zone as u32)
    }
}

struct GrowingFile {
    source: Source,
    /// The end of the last whole chunk, which is the end of the file for the reader.
    end: Arc<AtomicU64>,
    reader: Reader,
    options: Options,
    mapper: Option<Mapper<'static>>,
    /// The zones whose threads have rows; the first zone may get its name after its first row.
    zones: Vec<Zone>,
}

/// Starts reading a growing file.
pub(crate) fn grow(source: &Source, options: &Options) -> Result<Box<dyn Grow>> {
    let end = Arc::new(AtomicU64::new(whole_chunks(source, 0)?));
    let reader = open(Source::custom(Whole { source: source.clone(), end: Arc::clone(&end) }), options)?;
    let (source, options) = (source.clone(), options.clone());
    Ok(Box::new(GrowingFile { source, end, reader, options, mapper: None, zones: Vec::new() }))
}

impl Grow for GrowingFile {
    fn advance(&mut self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let end = whole_chunks(&self.source, self.end.load(Ordering::Relaxed))?;
        self.end.store(end, Ordering::Relaxed);
        self.reader.resume();
        if self.mapper.is_none() {
            header::push_process(&self.reader.header().info, tables)?;
        }
        let mapper = self.mapper.get_or_insert_with(|| {
            let unit_ns = header::unit_ns(&self.reader.header().info);
            Mapper::growing(Wants::new(tables), unit_ns, &self.options.limits, tables)
        });
        self.reader.walk(|located| match &located.record {
            Record::Event(event) => mapper.push(event, tables),
            _ => Ok(()),
        })?;
        if self.reader.zones() != self.zones {
            self.zones = self.reader.zones().to_vec();
            push_threads(&self.reader, tables)?;
        }
        Ok(())
    }

    fn finish(&mut self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        match self.mapper.take() {
            Some(mapper) => mapper.finish(tables),
            None => Ok(()),
        }
    }
}

/// A file up to the end of its last whole chunk.
struct Whole {
    source: Source,
    end: Arc<AtomicU64>,
}

impl ReadAt for Whole {
    fn len(&self) -> io::Result<u64> {
        Ok(self.end.load(Ordering::Relaxed))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.len()?.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let buffer = buffer.get_mut(..left).unwrap_or_default();
        self.source.read_at(offset, buffer).map_err(io::Error::other)
    }
}
