//! Ids of threads and processes in a file that has 32 bits for them.

use std::collections::{HashMap, HashSet};

use traceloom_core::{Loss, Records, Result};

use super::input::Input;
use crate::{
    Record, Switch, Thread,
    raw::{Layout, Width},
};

/// Replaces ids that do not fit by others that are not in use.
#[derive(Debug)]
pub(super) struct Ids {
    width: Width,
    /// Ids that do not fit, with their replacements.
    replaced: HashMap<u64, u32>,
    /// Ids that fit, which must not be used as replacements.
    taken: HashSet<u32>,
    /// The next candidate for a replacement.
    fresh: u32,
}

impl Ids {
    /// For the ids of a file that is written in another layout.
    pub(super) fn of(input: &Input, layout: &Layout) -> Result<Self> {
        let width = layout.thread_id;
        let fits = width != Width::U32 || input.header.layout.thread_id == Width::U32;
        let taken = if fits { HashSet::new() } else { narrow_ids(input)? };
        Ok(Self { width, replaced: HashMap::new(), taken, fresh: u32::MAX })
    }

    /// The id, or its replacement in 32 bits.
    pub(super) fn narrow(&mut self, id: u64, what: &'static str, loss: &mut Loss) -> u32 {
        if let Some(known) = u32::try_from(id).ok().or_else(|| self.replaced.get(&id).copied()) {
            return known;
        }
        while self.taken.contains(&self.fresh) {
            self.fresh = self.fresh.wrapping_sub(1);
        }
        let fresh = self.fresh;
        self.fresh = fresh.wrapping_sub(1);
        loss.lose(what, || format!("{id} became {fresh}"));
        self.replaced.insert(id, fresh);
        fresh
    }

    /// The record with ids that fit.
    pub(super) fn apply<'a>(&mut self, record: Record<'a>, loss: &mut Loss) -> Record<'a> {
        match record {
            Record::Thread(thread) => Record::Thread(Thread { id: self.id(thread.id, loss), ..thread }),
            Record::Switch(switch) => Record::Switch(Switch { target: self.id(switch.target, loss), ..switch }),
            other => other,
        }
    }

    fn id(&mut self, id: u64, loss: &mut Loss) -> u64 {
        match self.width {
            Width::U32 => self.narrow(id, "thread ids that need 64 bits", loss).into(),
            Width::Absent | Width::U64 => id,
        }
    }
}

/// The thread ids of a file that fit in 32 bits.
fn narrow_ids(input: &Input) -> Result<HashSet<u32>> {
    let mut ids = HashSet::new();
    let mut reader = input.reader()?;
    while let Some(located) = reader.next()? {
        let id = match located.record {
            Record::Thread(thread) => thread.id,
            Record::Switch(switch) => switch.target,
            _ => continue,
        };
        ids.extend(u32::try_from(id).ok());
    }
    Ok(ids)
}
