//! The site of each event of a trace, from which the blocks in use at any event follow without a second pass.

use traceloom_passes::AllocationChanges;

/// The number of the site whose memory an event allocates or frees. An event may have only one.
#[derive(Debug)]
pub(super) struct Owners {
    /// Empty if they are not complete.
    events: Vec<Owner>,
    is_complete: bool,
}

/// Twice the number of the site, plus one if the event frees.
type Owner = u32;

/// The event changes nothing.
const NO_OWNER: Owner = Owner::MAX;

impl Default for Owners {
    fn default() -> Self {
        Self { events: Vec::new(), is_complete: true }
    }
}

impl Owners {
    /// Adds a row of a site; the caller bounds the number of events.
    #[inline]
    pub(super) fn add(&mut self, rows: &AllocationChanges<'_>, row: usize, site: usize) {
        if !self.is_complete {
            return;
        }
        let id = rows.id.get(row);
        let is_noted = match (rows.end_id.get(row), rows.freed_ts_ns.get(row)) {
            (Some(end), Some(_)) if end > id => self.note(id, site, 0) && self.note(end, site, 1),
            (None, None) => self.note(id, site, 0),
            _ => false,
        };
        if !is_noted {
            self.give_up();
        }
    }

    /// Whether the event had no owner before.
    #[inline]
    fn note(&mut self, event: i64, site: usize, frees: Owner) -> bool {
        let (Ok(event), Ok(site)) = (usize::try_from(event), Owner::try_from(site)) else { return false };
        let Some(owner) = site.checked_mul(2).map(|owner| owner + frees) else { return false };
        if self.events.len() <= event {
            self.events.resize(event + 1, NO_OWNER);
        }
        std::mem::replace(&mut self.events[event], owner) == NO_OWNER
    }

    /// Whether the site of each event is known.
    pub(super) fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The site of an event, and whether the event frees.
    #[inline]
    pub(super) fn of(&self, event: i64) -> Option<(usize, bool)> {
        let owner = self.events.get(usize::try_from(event).ok()?).filter(|owner| **owner != NO_OWNER)?;
        Some(((owner / 2) as usize, owner % 2 == 1))
    }

    /// Forgets all owners for good.
    #[cold]
    pub(super) fn give_up(&mut self) {
        *self = Self { events: Vec::new(), is_complete: false };
    }
}
