//! Call sites: a static at each macro, and the registry that owns copies of their descriptions.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
};

use traceloom_cnanolog::raw::ArgType;

use crate::{
    filter::Filter,
    hub::{self, Hub},
    stats::COUNTERS,
    sync::{Padded, StaticU64},
};

/// How important a log entry is.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Level {
    pub(crate) number: u8,
    pub(crate) rank: u8,
    pub(crate) name: &'static str,
}

impl Level {
    /// Details for debugging.
    pub const DEBUG: Self = Self { number: 3, rank: 10, name: "DEBUG" };
    /// Normal operation.
    pub const INFO: Self = Self { number: 0, rank: 20, name: "INFO" };
    /// A problem that the program survives.
    pub const WARN: Self = Self { number: 1, rank: 30, name: "WARN" };
    /// Something failed.
    pub const ERROR: Self = Self { number: 2, rank: 40, name: "ERROR" };

    /// A custom level with a number from 4 to 255 and a rank for filters (DEBUG 10, INFO 20, WARN 30, ERROR 40).
    pub const fn custom(number: u8, rank: u8, name: &'static str) -> Self {
        assert!(number >= 4, "the numbers 0 to 3 belong to the built-in levels");
        Self { number, rank, name }
    }

    /// The built-in level with this name, in upper or lower case.
    pub fn named(name: &str) -> Option<Self> {
        let levels = [Self::DEBUG, Self::INFO, Self::WARN, Self::ERROR];
        levels.into_iter().find(|level| level.name.eq_ignore_ascii_case(name))
    }
}

/// The id of a site plus one.
pub type SiteId = NonZeroU32;

/// 0 while nothing is recorded, [`LATE`] after a recording; else it changes whenever sites have to check again whether
/// they are on. It counts in the upper half, as in [`Site`]. Every record reads it, so nothing that changes shares its
/// cache line.
static GENERATION: Padded<AtomicU64> = Padded(AtomicU64::new(0));
static NEXT_GENERATION: AtomicU32 = AtomicU32::new(FIRST_GENERATION);

/// The generation after a recording: every site is off, and calls are counted. It is below all others and above
/// everything that a site stores below its generation.
const LATE: u64 = 1 << 32;
const FIRST_GENERATION: u32 = 2;
/// Max calls that are counted after a recording; then a call costs as little as before the start.
const MAX_LATE: u64 = 1 << 16;
static LATE_CALLS: AtomicU64 = AtomicU64::new(0);

/// The current generation: whether a recorder is running, and which cached ids are still valid.
#[inline(always)]
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Relaxed)
}

/// Whether a recorder is running.
pub(crate) fn is_recording() -> bool {
    generation() > LATE
}

/// Whether a recorder is running in this generation; if one has just ended, the call is counted.
#[inline(always)]
pub(crate) fn is_on(generation: u64) -> bool {
    if generation == LATE {
        count_late();
    }
    generation > LATE
}

#[cold]
#[inline(never)]
fn count_late() {
    COUNTERS.late.fetch_add(1, Ordering::Relaxed);
    if LATE_CALLS.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_LATE {
        // Unless another recorder has started in the meantime.
        let _ = GENERATION.compare_exchange(LATE, 0, Ordering::SeqCst, Ordering::Relaxed);
    }
}

/// Turns recording on; every site checks again whether it is on.
pub(crate) fn renew_generation() {
    let next = NEXT_GENERATION.fetch_add(1, Ordering::Relaxed).max(FIRST_GENERATION);
    GENERATION.store(u64::from(next) << 32, Ordering::SeqCst);
}

/// Turns every site off; if none was on, no call counts as late.
pub(crate) fn end_generation() {
    LATE_CALLS.store(0, Ordering::Relaxed);
    let to_late = |generation| (generation > LATE).then_some(LATE);
    let _ = GENERATION.fetch_update(Ordering::SeqCst, Ordering::Relaxed, to_late);
}

/// A macro in the source code; made by the macros.
#[derive(Debug)]
#[non_exhaustive]
pub struct Site {
    /// The generation of the last lookup in the upper bits; below it a hash of the types and the id plus one, or 0 if
    /// the site is off.
    state: StaticU64,
    #[doc(hidden)]
    pub about: About<'static>,
}

/// The description of a site.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The name of a span, event or value, or the format of a log entry.
    pub name: &'a str,
    pub level: Option<Level>,
    pub color: Option<u32>,
    pub module: &'a str,
    pub file: &'a str,
    pub line: u32,
    /// The pattern for its entries in a text log; empty for the default one.
    pub pattern: &'a str,
}

impl Site {
    /// A site that has not been registered.
    #[doc(hidden)]
    pub const fn new(about: About<'static>) -> Self {
        Self { state: StaticU64::new(0), about }
    }

    /// The cached state of the site, unless it is off; checked before its arguments are evaluated.
    #[doc(hidden)]
    #[inline(always)]
    pub fn look(&'static self) -> Option<Look> {
        if cfg!(feature = "off") {
            return None;
        }
        let generation = generation();
        // First and alone, because this is the whole cost if nothing is recorded.
        if generation == 0 { None } else { self.look_in(generation) }
    }

    #[inline(always)]
    fn look_in(&'static self, generation: u64) -> Option<Look> {
        let answer = self.state.load(Ordering::Relaxed) ^ generation;
        // One comparison for a site that is on; the others are off, or have not been looked up in this generation.
        let is_known = answer.wrapping_sub(1) < LATE - 1;
        if is_known || answer != 0 && is_on(generation) { Some(Look { site: self, generation, answer }) } else { None }
    }

    /// The id of a site without arguments, if it is on. Two comparisons are enough, which is worthwhile for spans.
    #[inline(always)]
    pub(crate) fn id(&'static self) -> Option<SiteId> {
        if cfg!(feature = "off") {
            return None;
        }
        let generation = generation();
        // First and alone, because this is the whole cost if nothing is recorded.
        if generation == 0 {
            return None;
        }
        let answer = self.state.load(Ordering::Relaxed) ^ generation;
        if answer.wrapping_sub(1) < MAX_IDS - 1 {
            return SiteId::new(answer as u32);
        }
        if answer == 0 { None } else { self.ask(generation, &Types::NONE) }
    }

    /// Registers the site, unless the recording has ended, which spans check only here.
    #[cold]
    #[inline(never)]
    fn ask(&self, generation: u64, types: &Types) -> Option<SiteId> {
        if is_on(generation) { self.ask_of(hub::current(), generation, types) } else { None }
    }

    /// Registers the site. The id is valid for the generation that was read before: a filter that has changed since has
    /// another one.
    fn ask_of(&self, hub: &Hub, generation: u64, types: &Types) -> Option<SiteId> {
        let id = hub.register(&self.about, types.codes, std::ptr::from_ref(self).addr());
        self.keep(generation, id, types);
        id
    }

    fn keep(&self, generation: u64, id: Option<SiteId>, types: &Types) {
        let low = id.map_or(0, |id| u64::from(id.get()) | u64::from(types.hash) << 24);
        self.state.store(generation | low, Ordering::Relaxed);
    }
}

/// A site that may be on, with its state when it was read.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Look {
    site: &'static Site,
    generation: u64,
    /// The result of the last lookup; more than 32 bits if that was in another generation.
    answer: u64,
}

impl Look {
    /// The id, if the site is on. A generic function has one site for all its types, so the types are part of the
    /// state.
    #[inline(always)]
    pub(crate) fn id(self, types: &'static Types) -> Option<SiteId> {
        match self.known(types) {
            None => self.site.ask(self.generation, types),
            known => known,
        }
    }

    /// The id, if it is cached.
    #[inline(always)]
    fn known(self, types: &Types) -> Option<SiteId> {
        let id = self.answer ^ u64::from(types.hash) << 24;
        // One comparison, which also excludes 0.
        if id.wrapping_sub(1) < MAX_IDS - 1 { SiteId::new(id as u32) } else { None }
    }
}

/// Ids have 24 bits; the 8 bits above distinguish types.
pub(crate) const MAX_IDS: u64 = 1 << 24;

/// Argument types of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Types {
    pub(crate) codes: &'static [u8],
    pub(crate) hash: u8,
}

impl Types {
    /// No arguments.
    pub(crate) const NONE: Self = Self::new(&[]);

    pub(crate) const fn new(codes: &'static [u8]) -> Self {
        let mut hash = 0u8;
        let mut at = 0;
        while at < codes.len() {
            hash = hash.wrapping_mul(31).wrapping_add(codes[at]);
            at += 1;
        }
        Self { codes, hash }
    }
}

/// The copy of a site in the registry, so that the library of the site may be unloaded.
#[derive(Debug)]
pub(crate) struct SiteInfo {
    pub(crate) name: Box<str>,
    pub(crate) level: Option<(u8, Box<str>)>,
    pub(crate) color: Option<u32>,
    pub(crate) file: Box<str>,
    pub(crate) line: u32,
    /// Argument types of a log entry.
    pub(crate) types: Box<[u8]>,
    /// The pattern for its entries in a text log, if not the default one.
    pub(crate) pattern: Box<str>,
}

impl SiteInfo {
    fn of(about: &About<'_>, types: &[u8]) -> Self {
        Self {
            name: about.name.into(),
            level: about.level.map(|level| (level.number, level.name.into())),
            color: about.color,
            file: about.file.into(),
            line: about.line,
            types: types.into(),
            pattern: about.pattern.into(),
        }
    }

    /// A site of the recorder itself.
    pub(crate) fn own(name: &str, level: Level, types: &[ArgType]) -> Self {
        Self {
            name: name.into(),
            level: Some((level.number, level.name.into())),
            color: None,
            file: "traceloom-record".into(),
            line: 0,
            types: types.iter().map(|code| code.0).collect(),
            pattern: Box::default(),
        }
    }
}

/// The index of the site with this id in [`Registry::sites`].
pub(crate) const fn index_of(id: u32) -> usize {
    id.wrapping_sub(1) as usize
}

/// All sites that were ever on, by id.
#[derive(Clone, Debug, Default)]
pub(crate) struct Registry {
    pub(crate) sites: Vec<Arc<SiteInfo>>,
    /// Ids by the address of the static and the types.
    by_address: std::collections::HashMap<(usize, Box<[u8]>), SiteId>,
    pub(crate) filter: Filter,
}

impl Registry {
    /// The id of a site, if the filter lets it through.
    pub(crate) fn register(&mut self, about: &About<'_>, types: &[u8], address: usize) -> Option<SiteId> {
        if !self.filter.allows(about.level, about.module) {
            return None;
        }
        let key = (address, types.into());
        // A library may be loaded at the address of another one: then the address is known, but the site is new.
        let is_same = |id: &SiteId| {
            let site = self.sites.get(index_of(id.get()));
            site.is_some_and(|site| *site.name == *about.name && site.line == about.line && *site.file == *about.file)
        };
        if let Some(id) = self.by_address.get(&key).copied().filter(is_same) {
            return Some(id);
        }
        let id = self.add(SiteInfo::of(about, types))?;
        self.by_address.insert(key, id);
        Some(id)
    }

    /// Adds a site without a static; `None` if there are too many.
    pub(crate) fn add(&mut self, site: SiteInfo) -> Option<SiteId> {
        let id = SiteId::new(self.sites.len() as u32 + 1).filter(|id| u64::from(id.get()) < MAX_IDS)?;
        self.sites.push(Arc::new(site));
        Some(id)
    }
}

#[cfg(all(test, traceloom_shuttle))]
mod model;

#[cfg(all(test, not(any(traceloom_loom, traceloom_shuttle))))]
mod tests {
    use super::*;

    fn about<'a>(name: &'a str, file: &'a str) -> About<'a> {
        About { name, level: Some(Level::INFO), color: None, module: "", file, line: 7, pattern: "" }
    }

    #[test]
    fn a_library_may_be_unloaded_and_another_one_loaded_at_its_address() {
        const ADDRESS: usize = 0x1000;
        let mut registry = Registry::default();
        let (name, file) = (String::from("of %s"), String::from("plugin.rs"));
        let first = registry.register(&about(&name, &file), &[6], ADDRESS).unwrap();
        assert_eq!(registry.register(&about(&name, &file), &[6], ADDRESS), Some(first));
        drop((name, file));
        let other = registry.register(&about("of %d", "other.rs"), &[6], ADDRESS).unwrap();
        assert_ne!(first, other);
        let stored =
            |id: SiteId| (&*registry.sites[index_of(id.get())].name, &*registry.sites[index_of(id.get())].file);
        assert_eq!((stored(first), stored(other)), (("of %s", "plugin.rs"), ("of %d", "other.rs")));
    }
}
