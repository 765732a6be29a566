//! The messages of the format.

use std::io::Write;

use hashbrown::HashMap;
use traceloom_core::{Loss, Result};

use crate::wire::{Wire, messages};
use traceloom_passes::{Frames, NameId, NamePool, Roster, Timeline};

messages! {
    /// `Profile`.
    field {
        SAMPLE_TYPE = 1, SAMPLE = 2, LOCATION = 4, FUNCTION = 5, STRING_TABLE = 6, TIME_NANOS = 9, DURATION_NANOS = 10,
        COMMENT = 13, DEFAULT_SAMPLE_TYPE = 14
    }
}

/// Number of bytes written at once.
const FULL: usize = 64 << 10;

/// A profile being written. Texts are numbered as they occur and written at the end.
pub(super) struct Profile<'a> {
    wire: Wire,
    packed: Wire,
    out: &'a mut dyn Write,
    names: &'a mut NamePool,
    numbers: HashMap<NameId, u64>,
    texts: Vec<NameId>,
    /// The text that is the key of thread labels.
    thread_key: u64,
}

impl<'a> Profile<'a> {
    pub(super) fn new(out: &'a mut dyn Write, names: &'a mut NamePool) -> Result<Self> {
        let mut profile = Self {
            wire: Wire::default(),
            packed: Wire::default(),
            out,
            names,
            numbers: HashMap::new(),
            texts: Vec::new(),
            thread_key: 0,
        };
        // The first text must be empty.
        profile.text("")?;
        profile.thread_key = profile.text("thread")?;
        Ok(profile)
    }

    /// The types of the sample values, and which one to show first.
    pub(super) fn head(&mut self, kinds: &[(&str, &str)], first: &str) -> Result<()> {
        for (kind, unit) in kinds {
            let (kind, unit) = (self.text(kind)?, self.text(unit)?);
            self.wire.message(field::SAMPLE_TYPE, |wire| {
                wire.uint(1, kind);
                wire.uint(2, unit);
            });
        }
        let first = self.text(first)?;
        self.wire.uint(field::DEFAULT_SAMPLE_TYPE, first);
        Ok(())
    }

    /// The files, and when they were recorded.
    pub(super) fn when(&mut self, roster: &Roster, timeline: &Timeline) -> Result<()> {
        for trace in &roster.traces {
            let path = self.text(&trace.path)?;
            self.wire.uint(field::COMMENT, path);
        }
        if let Some(origin_ns) = timeline.unix_origin_ns() {
            self.wire.int(field::TIME_NANOS, origin_ns);
        }
        let ends = roster.traces.iter().filter_map(|trace| trace.last_ts_ns).map(|end| timeline.at(end));
        let starts = roster.traces.iter().filter_map(|trace| trace.first_ts_ns).map(|start| timeline.at(start));
        let duration_ns = ends.max().unwrap_or(0).saturating_sub(starts.min().unwrap_or(0));
        self.wire.uint(field::DURATION_NANOS, duration_ns);
        Ok(())
    }

    /// A stack, innermost frame first, with its values and its thread.
    pub(super) fn sample(
        &mut self,
        path: &[u32],
        values: &[u64],
        thread: Option<NameId>,
        loss: &mut Loss,
    ) -> Result<()> {
        let label = thread.map(|thread| (self.thread_key, self.number(thread)));
        let Self { wire, packed, .. } = self;
        wire.message(field::SAMPLE, |wire| {
            packed.clear();
            path.iter().for_each(|frame| packed.varint(u64::from(*frame) + 1));
            wire.bytes(1, &packed.bytes);
            packed.clear();
            for value in values {
                if i64::try_from(*value).is_err() {
                    loss.lose("sums that are too large", || value.to_string());
                }
                packed.varint((*value).min(i64::MAX.unsigned_abs()));
            }
            wire.bytes(2, &packed.bytes);
            if let Some((key, text)) = label {
                wire.message(3, |wire| {
                    wire.uint(1, key);
                    wire.uint(2, text);
                });
            }
        });
        self.flush_when_full()
    }

    /// Writes frames and texts.
    pub(super) fn finish(mut self, frames: &Frames) -> Result<()> {
        let mut functions: HashMap<(NameId, Option<NameId>), u64> = HashMap::new();
        for (frame, location) in frames.all.iter().zip(1..) {
            let next = functions.len() as u64 + 1;
            let function = *functions.entry((frame.name, frame.file)).or_insert(next);
            if function == next {
                let (name, file) = (self.name(frame.name)?, frame.file.map(|file| self.number(file)));
                self.wire.message(field::FUNCTION, |wire| {
                    wire.uint(1, function);
                    wire.uint(2, name);
                    wire.uint(3, name);
                    file.into_iter().for_each(|file| wire.uint(4, file));
                    frame.line.into_iter().for_each(|line| wire.uint(5, line.into()));
                });
            }
            self.wire.message(field::LOCATION, |wire| {
                wire.uint(1, location);
                wire.message(4, |wire| {
                    wire.uint(1, function);
                    frame.line.into_iter().for_each(|line| wire.uint(2, line.into()));
                });
            });
            self.flush_when_full()?;
        }
        for text in std::mem::take(&mut self.texts) {
            self.wire.text(field::STRING_TABLE, self.names.get(text)?);
            self.flush_when_full()?;
        }
        self.flush()
    }

    fn text(&mut self, text: &str) -> Result<u64> {
        let id = self.names.intern(text)?;
        Ok(self.number(id))
    }

    /// The tool treats a function without a name as unknown.
    fn name(&mut self, id: NameId) -> Result<u64> {
        if self.names.get(id)?.is_empty() { self.text("(no name)") } else { Ok(self.number(id)) }
    }

    fn number(&mut self, id: NameId) -> u64 {
        let texts = &mut self.texts;
        *self.numbers.entry(id).or_insert_with(|| {
            texts.push(id);
            texts.len() as u64 - 1
        })
    }

    fn flush_when_full(&mut self) -> Result<()> {
        if self.wire.len() >= FULL { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.out.write_all(&self.wire.bytes)?;
        self.wire.clear();
        Ok(())
    }
}
