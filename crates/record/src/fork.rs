//! Recording in a forked child, which writes to separate files.
//!
//! Only the forking thread exists in the child, and any lock may be held by one of the others. So the child takes only
//! what it can get without waiting, and leaves the rest of its parent's state alone.

use std::sync::{Arc, atomic::Ordering};

use crate::{
    hub::{self, Hub, Lane},
    local::{thread_id, thread_name},
    ring::Ring,
    session,
    site::{end_generation, renew_generation},
    stats::COUNTERS,
};

/// Gives the child a hub and a writer; it keeps its ring, with the records that it has already put there.
pub(crate) fn adopt(parent: &Hub, ring: Option<(&'static Ring, u64)>) -> Option<(&'static Hub, Option<Lane>)> {
    if hub::current().pid == std::process::id() {
        return Some((hub::current(), None));
    }
    let config = parent.config.try_lock().ok().and_then(|config| config.clone());
    let registry = parent.registry.try_lock().ok().map(|registry| registry.clone());
    let (Some(config), Some(registry)) = (config, registry) else {
        end_generation();
        COUNTERS.errors.fetch_add(1, Ordering::Relaxed);
        return None;
    };
    let config = Arc::new(config.for_child(std::process::id()));
    let hub = hub::replace(Hub::new(registry, Some(config.clone())));
    let lane = ring.map(|(ring, from_tick)| hub.adopt(ring, thread_id(), thread_name(), from_tick));
    COUNTERS.reset();
    if session::spawn(hub, &config).is_err() {
        end_generation();
        COUNTERS.errors.fetch_add(1, Ordering::Relaxed);
        return None;
    }
    renew_generation();
    Some((hub, lane))
}
