//! The interface for other languages, which store their sites and lay out their arguments themselves.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

pub use crate::{
    About,
    args::cut,
    clock::{tick, ticks_to_ns},
    crash::{ask as ask_in_crash, is_answered as is_crash_answered},
    local::{Weight, enter_child, name_thread, prepare_thread, put, put_slowly, ring, try_put_in, watch_rings},
    record::{Kind, MAX_BYTES, Payload, Ready},
    ring::Ring,
    site::SiteId,
    span::{describe, next_frame},
};
use crate::{
    Config, hub,
    site::{MAX_IDS, Registry, generation, is_on},
    sync::{MutexGuard, lock},
};

/// The state of a site; all zeros at first.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct SiteState(AtomicU64);

impl SiteState {
    /// A site that has not been looked up.
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// The id, if the site is on and was registered with this tag, by a single comparison.
    #[inline(always)]
    pub fn id_if(&self, tag: u8) -> Option<SiteId> {
        let answer = self.0.load(Ordering::Relaxed) ^ generation();
        let id = answer ^ u64::from(tag) << 24;
        if id < MAX_IDS { SiteId::new(id as u32) } else { None }
    }

    /// The id of the site and the tag with which it was registered, unless it is off.
    #[inline(always)]
    pub fn look(&self, ask: impl FnOnce(Question<'_>) -> Option<(SiteId, u8)>) -> Option<(SiteId, u8)> {
        let generation = generation();
        let answer = self.0.load(Ordering::Relaxed) ^ generation;
        match SiteId::new((answer % MAX_IDS) as u32) {
            _ if !is_on(generation) => None,
            _ if answer >> 32 != 0 => ask(Question(self)),
            id => Some((id?, (answer >> 24) as u8)),
        }
    }
}

/// A site that is new, or whose state is out of date.
#[derive(Debug)]
pub struct Question<'a>(&'a SiteState);

impl Question<'_> {
    /// Registers the site; later lookups return the tag.
    pub fn register(self, about: &About<'_>, types: &[u8], tag: u8) -> Option<(SiteId, u8)> {
        let generation = generation();
        // If the recorder has ended since, the id could be mistaken for one of the next recorder.
        if !is_on(generation) {
            return None;
        }
        let id = hub::current().register(about, types, std::ptr::from_ref(self.0).addr());
        let low = id.map_or(0, |id| u64::from(id.get()) | u64::from(tag) << 24);
        self.0.0.store(generation | low, Ordering::Relaxed);
        Some((id?, tag))
    }
}

/// Held during a fork, so that no other thread holds a lock that the child needs.
#[derive(Debug)]
pub struct ForkGuard {
    _config: MutexGuard<'static, Option<Arc<Config>>>,
    _registry: MutexGuard<'static, Registry>,
}

/// Call this before a fork, and drop the guard after it in both processes.
pub fn before_fork() -> ForkGuard {
    let hub = hub::current();
    ForkGuard { _config: lock(&hub.config), _registry: lock(&hub.registry) }
}

/// Whether this is a child that has recorded nothing yet.
pub fn is_idle_child() -> bool {
    hub::current().pid != std::process::id()
}
