//! Sites without a static: those of `tracing` and `log`, whose fields get their types at run time.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
    hint::cold_path,
    sync::{PoisonError, RwLock},
};

use traceloom_cnanolog::raw::ArgType;

use crate::{
    Level,
    args::cut,
    hub,
    local::{Weight, put},
    record::{Kind, Ready},
    site::{MAX_IDS, SiteId, SiteInfo, generation, is_on},
    sync::lock,
};

/// The cached state of a site.
#[derive(Clone, Copy)]
struct CachedSite {
    /// A hash of everything that distinguishes sites.
    hash: u64,
    /// The generation in which the site was looked up.
    generation: u64,
    /// `None` if the site is off.
    id: Option<SiteId>,
}

static SITES: RwLock<BTreeMap<u64, CachedSite>> = RwLock::new(BTreeMap::new());

/// The state of a site as cached by a thread.
#[derive(Clone, Copy)]
struct Last {
    /// 0 if nothing is known.
    hash: u64,
    /// The generation of the lookup in the upper bits, and the id in the lower bits, which are 0 if the site is off.
    state: u64,
}

thread_local! {
    /// The sites that this thread used last, by the top byte of the hash, so that it looks up no site in [`SITES`]
    /// twice.
    static LAST: [Cell<Last>; 256] = const { [const { Cell::new(Last { hash: 0, state: 0 }) }; 256] };
}

/// A hash of an address, without collisions; neighboring addresses get different top bytes.
#[inline(always)]
#[cfg(feature = "tracing")]
pub(crate) fn hash_address(address: usize) -> u64 {
    (address as u64).rotate_right(14)
}

/// The description of a site, needed only when it is new.
pub(crate) struct NewSite<'a> {
    pub(crate) name: String,
    /// None for spans.
    pub(crate) level: Option<Level>,
    pub(crate) place: &'a Place<'a>,
    pub(crate) types: &'a [u8],
}

/// The id of the site with this hash, if this thread remembers it and it is on.
#[inline(always)]
pub(crate) fn known(hash: u64) -> Option<SiteId> {
    let last = LAST.with(|last| last[(hash >> 56) as usize].get());
    if last.hash != hash {
        cold_path();
        return None;
    }
    let id = last.state ^ generation();
    // One comparison, as in `Site::id`.
    if id.wrapping_sub(1) >= MAX_IDS - 1 {
        cold_path();
        return None;
    }
    SiteId::new(id as u32)
}

/// Looks up the site in the table that all threads share, and registers it if it is new.
#[cold]
pub(crate) fn ask(hash: u64, new: &NewSite<'_>) -> Option<SiteId> {
    let generation = generation();
    if !is_on(generation) {
        return None;
    }
    let found = SITES.read().unwrap_or_else(PoisonError::into_inner).get(&hash).copied();
    let known = match found {
        Some(known) if known.generation == generation => known,
        _ => register(CachedSite { hash, generation, id: None }, new),
    };
    let state = generation | known.id.map_or(0, |id| u64::from(id.get()));
    LAST.with(|last| last[(hash >> 56) as usize].set(Last { hash, state }));
    known.id
}

fn register(mut known: CachedSite, new: &NewSite<'_>) -> CachedSite {
    let mut sites = SITES.write().unwrap_or_else(PoisonError::into_inner);
    let mut registry = lock(&hub::current().registry);
    if registry.filter.allows(new.level, new.place.module) {
        let before = sites.get(&known.hash).and_then(|known| known.id);
        known.id = before.or_else(|| {
            registry.add(SiteInfo {
                name: new.name.as_str().into(),
                level: new.level.map(|level| (level.number, level.name.into())),
                color: None,
                file: new.place.file.into(),
                line: new.place.line,
                types: new.types.into(),
                pattern: Box::default(),
            })
        });
    }
    sites.insert(known.hash, known);
    known
}

/// The fields of an entry, in order: types, names and words.
#[derive(Default)]
pub(crate) struct Fields {
    pub(crate) types: Vec<u8>,
    words: Vec<u64>,
    /// The part of the format after the message.
    names: String,
    hasher: DefaultHasher,
    text: String,
}

thread_local! {
    static FIELDS: RefCell<Fields> = RefCell::default();
}

/// Lends this thread's buffer, or a new one if that is in use or already destroyed.
pub(crate) fn with_fields<R>(work: impl FnOnce(&mut Fields) -> R) -> R {
    let mut work = Some(work);
    let lent = FIELDS.try_with(|fields| {
        let mut fields = fields.try_borrow_mut().ok()?;
        fields.types.clear();
        fields.words.clear();
        fields.names.clear();
        fields.hasher = DefaultHasher::new();
        work.take().map(|work| work(&mut fields))
    });
    match (lent, work) {
        (Ok(Some(result)), _) => result,
        (_, Some(work)) => work(&mut Fields::default()),
        // If the buffer was not lent, the work was not taken.
        (_, None) => unreachable!("the work was done or is left"),
    }
}

impl Fields {
    fn name(&mut self, name: &str, code: ArgType, conversion: &str) {
        self.types.push(code.0);
        name.hash(&mut self.hasher);
        // The message is the text itself.
        if name != MESSAGE {
            self.names.push(' ');
            self.names.push_str(&name.replace('%', "%%"));
            self.names.push('=');
        }
        self.names.push_str(conversion);
    }

    pub(crate) fn number(&mut self, name: &str, code: ArgType, word: u64) {
        let conversion = match code {
            ArgType::DOUBLE => "%g",
            ArgType::UINT64 => "%u",
            _ => "%d",
        };
        self.name(name, code, conversion);
        self.words.push(word);
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.name(name, ArgType::STRING, "%s");
        let bytes = cut(text.as_bytes());
        self.words.push(bytes.len() as u64);
        self.words.extend(bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            u64::from_le_bytes(word)
        }));
    }

    /// Values that have only `Debug` or `Display` are recorded as text.
    pub(crate) fn shown(&mut self, name: &str, value: std::fmt::Arguments<'_>) {
        use std::fmt::Write;
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        // Writing to a string cannot fail; an error can only come from the value itself.
        let _ = text.write_fmt(value);
        self.text(name, &text);
        self.text = text;
    }

    /// Records them as a log entry of the site with this key.
    pub(crate) fn log(&mut self, key: impl Hash, level: Level, place: &Place<'_>) {
        key.hash(&mut self.hasher);
        self.types.hash(&mut self.hasher);
        let hash = self.hasher.finish();
        let new = || {
            let name = self.names.trim_start().to_owned();
            ask(hash, &NewSite { name, level: Some(level), place, types: &self.types })
        };
        if let Some(id) = known(hash).or_else(new) {
            put(Kind::Log, id, Weight::Log, Ready(&self.words));
        }
    }
}

/// The name of the field that is the message.
pub(crate) const MESSAGE: &str = "message";

/// The location of a call in the source.
pub(crate) struct Place<'a> {
    pub(crate) module: &'a str,
    pub(crate) file: &'a str,
    pub(crate) line: u32,
}
