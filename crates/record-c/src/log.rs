//! Log entries: one word per argument, as laid out by the headers.

use std::{
    ffi::c_char,
    sync::atomic::{AtomicU64, Ordering},
};

use traceloom_record::foreign::{Kind, MAX_BYTES, Payload, Ready, SiteId, Weight, cut, put, put_slowly, tick};

use crate::{
    clock::quick_tick,
    site::{Site, TRACELOOM_STRING, Tag, bytes, level},
    thread::{take_ring, try_put_at},
};

/// Records a log entry: one word per argument of the site, as laid out by the headers; texts are addresses.
///
/// # Safety
///
/// The site is a static of a header; there is a word for each of its types, and texts end in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_log(site: *const Site, words: *const u64) {
    // SAFETY: the caller says so.
    let site = unsafe { Site::of(site) };
    let known = site.state.look(|question| site.register(question, Some(level(site.level))));
    let Some((id, tag)) = known.map(|(id, tag)| (id, Tag(tag))) else { return };
    // SAFETY: the caller gives a word for each argument, and an address in any case.
    let words = unsafe { std::slice::from_raw_parts(words, tag.count()) };
    if tag.has_texts() {
        // SAFETY: words whose type is a text are addresses of texts.
        unsafe { log_texts(tick(), id, (site.types(), words), &mut [0; MAX_ARGS]) };
    } else {
        put(Kind::Log, id, Weight::Log, Ready(words));
    }
}

/// Records a log entry without arguments.
///
/// # Safety
///
/// As for [`traceloom_log`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_log_0(site: *const Site) {
    // SAFETY: the caller says so.
    unsafe { log_few(site, []) };
}

/// Records a log entry with one argument.
///
/// # Safety
///
/// As for [`traceloom_log`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_log_1(site: *const Site, a: u64) {
    // SAFETY: the caller says so.
    unsafe { log_few(site, [a]) };
}

/// Records a log entry with one argument, which is a text.
///
/// # Safety
///
/// As for [`traceloom_log`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_log_text(site: *const Site, text: *const c_char) {
    // SAFETY: the caller says so.
    let state = unsafe { &Site::of(site).state };
    if let Some(id) = state.id_if(Tag::texts(1).0)
        && let Some(tick) = quick_tick()
        // SAFETY: the caller says so.
        && let text = unsafe { bytes(text) }
        && text.len() <= MAX_BYTES
        && try_put_at(tick, Kind::Log, id, &text)
    {
        return;
    }
    // SAFETY: the caller says so.
    unsafe { log_slowly(site, text as u64, 0, 0, 0) };
}

/// Records a log entry with two arguments.
///
/// # Safety
///
/// As for [`traceloom_log`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_log_2(site: *const Site, a: u64, b: u64) {
    // SAFETY: the caller says so.
    unsafe { log_few(site, [a, b]) };
}

/// Records a log entry with three arguments.
///
/// # Safety
///
/// As for [`traceloom_log`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_log_3(site: *const Site, a: u64, b: u64, c: u64) {
    // SAFETY: the caller says so.
    unsafe { log_few(site, [a, b, c]) };
}

/// Records a log entry with four arguments.
///
/// # Safety
///
/// As for [`traceloom_log`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_log_4(site: *const Site, a: u64, b: u64, c: u64, d: u64) {
    // SAFETY: the caller says so.
    unsafe { log_few(site, [a, b, c, d]) };
}

/// The common case: words stay in registers from the caller to the ring. Everything else is a tail call, so no
/// registers have to be saved.
///
/// # Safety
///
/// As for [`traceloom_log`].
#[inline(always)]
unsafe fn log_few<const N: usize>(site: *const Site, words: [u64; N]) {
    // SAFETY: the caller says so.
    let state = unsafe { &Site::of(site).state };
    if let Some(id) = state.id_if(Tag::numbers(N).0)
        && let Some(tick) = quick_tick()
        && try_put_at(tick, Kind::Log, id, &Few(words))
    {
        return;
    }
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let rest = if N > 1 && state.id_if(Tag::texts(N).0).is_some() { log_few_texts::<N> } else { log_slowly };
    // SAFETY: the caller says so.
    unsafe { rest(site, word(0), word(1), word(2), word(3)) };
}

/// # Safety
///
/// As for [`traceloom_log`], with at most four words.
#[cold]
#[inline(never)]
unsafe extern "C" fn log_slowly(site: *const Site, a: u64, b: u64, c: u64, d: u64) {
    // SAFETY: the caller says so.
    unsafe { traceloom_log(site, [a, b, c, d].as_ptr()) };
    take_ring();
}

/// # Safety
///
/// As for [`traceloom_log`], with `N` words, and the site is known to have texts.
#[inline(never)]
unsafe extern "C" fn log_few_texts<const N: usize>(site: *const Site, a: u64, b: u64, c: u64, d: u64) {
    let tick = quick_tick().unwrap_or_else(tick);
    // SAFETY: the caller says so.
    let site = unsafe { Site::of(site) };
    let (Some(id), Some(words)) = (site.state.id_if(Tag::texts(N).0), [a, b, c, d].first_chunk::<N>().copied()) else {
        return;
    };
    // SAFETY: words whose type is a text are addresses of texts.
    unsafe { log_texts(tick, id, (site.types(), &words), &mut [0; N]) };
}

/// # Safety
///
/// Words whose type is a text are addresses of texts.
#[inline(always)]
unsafe fn log_texts(tick: u64, id: SiteId, (types, words): (&[u8], &[u64]), lens: &mut [usize]) {
    let mut total = 0;
    for ((code, word), len) in types.iter().zip(words).zip(&mut *lens) {
        total += 1;
        if *code == TRACELOOM_STRING {
            // SAFETY: the caller says that this is a text.
            *len = cut(unsafe { bytes(*word as *const c_char) }).len();
            total += len.div_ceil(8) as u64;
        }
    }
    let payload = Mixed { types, words, lens, total };
    if !try_put_at(tick, Kind::Log, id, &payload) {
        put_slowly(tick, Kind::Log, id, Weight::Log, payload);
        take_ring();
    }
}

/// Max number of arguments of an entry.
const MAX_ARGS: usize = 50;

/// As many words as the caller's code has arguments.
struct Few<const N: usize>([u64; N]);

impl<const N: usize> Payload for Few<N> {
    #[inline(always)]
    fn words(&self) -> u64 {
        N as u64
    }

    #[inline(always)]
    fn put(&self, slots: &[AtomicU64]) {
        slots.iter().zip(self.0).for_each(|(slot, word)| slot.store(word, Ordering::Relaxed));
    }
}

/// Numbers and texts.
struct Mixed<'a> {
    types: &'a [u8],
    words: &'a [u64],
    /// Lengths of the arguments that are texts.
    lens: &'a [usize],
    total: u64,
}

impl Payload for Mixed<'_> {
    #[inline(always)]
    fn words(&self) -> u64 {
        self.total
    }

    #[inline(always)]
    fn put(&self, mut slots: &[AtomicU64]) {
        for ((code, word), len) in self.types.iter().zip(self.words).zip(self.lens) {
            if *code == TRACELOOM_STRING {
                // SAFETY: the text was measured by `log_texts`; an empty one may have no address.
                let text =
                    unsafe { if *len == 0 { &[] } else { std::slice::from_raw_parts(*word as *const u8, *len) } };
                let Some((own, rest)) = slots.split_at_checked(text.words() as usize) else { return };
                text.put(own);
                slots = rest;
            } else if let Some((own, rest)) = slots.split_first() {
                own.store(*word, Ordering::Relaxed);
                slots = rest;
            }
        }
    }
}
