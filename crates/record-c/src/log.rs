//! Log entries: words that the headers lay out, one per argument.

use std::{
    ffi::c_char,
    mem::MaybeUninit,
    sync::atomic::{AtomicU64, Ordering},
};

use traceloom_record::foreign::{Kind, Payload, Seen, SiteId, Weight, cut, put_slowly, tick, try_put_at};

use crate::site::{Site, TRACELOOM_STRING, Tag, bytes, level};

/// Records a log entry: a word per argument of the site, as the headers make them; texts are addresses.
///
/// # Safety
///
/// The site is a static of a header; there is a word for each of its types, and texts end in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_log(site: *const Site, words: *const u64) {
    // SAFETY: the caller says so.
    let site = unsafe { Site::of(site) };
    match site.state.peek() {
        Seen::Off => return,
        // SAFETY: the caller says so.
        Seen::Unknown => return unsafe { log_first(site, words) },
        Seen::On(..) => {}
    }
    // SAFETY: the caller says so.
    unsafe { log_at(tick(), site, words) };
}

/// A site that has to ask first.
#[cold]
#[inline(never)]
unsafe fn log_first(site: &Site, words: *const u64) {
    let level = level(site.level);
    if site.state.look(|question| site.register(question, Some(level))).is_some() {
        // SAFETY: the caller says that there are as many words as types.
        unsafe { log_at(tick(), site, words) };
    }
}

/// Functions that read the clock end by calling one that does the rest: neither has to keep much then.
#[inline(never)]
unsafe fn log_at(tick: u64, site: &Site, words: *const u64) {
    let Seen::On(id, tag) = site.state.peek() else { return };
    let tag = Tag(tag);
    // SAFETY: the caller gives a word for each argument, and an address in any case.
    let words = unsafe { std::slice::from_raw_parts(words, tag.count()) };
    if tag.has_texts() {
        // SAFETY: words whose type is a text are addresses of texts.
        unsafe { log_texts(tick, id, site, words) };
    } else if !try_put_at(tick, Kind::Log, id, &Numbers(words)) {
        put_slowly(tick, Kind::Log, id, Weight::Log, Numbers(words));
    }
}

/// # Safety
///
/// Words whose type is a text are addresses of texts.
#[inline(never)]
unsafe fn log_texts(tick: u64, id: SiteId, site: &Site, words: &[u64]) {
    let types = site.types();
    let mut lens = [MaybeUninit::uninit(); MAX_ARGS];
    let mut total = 0;
    for ((code, word), len) in types.iter().zip(words).zip(&mut lens) {
        total += 1;
        if *code == TRACELOOM_STRING {
            // SAFETY: the caller says that this is a text.
            let text = cut(unsafe { bytes(*word as *const c_char) });
            total += text.len().div_ceil(8) as u64;
            len.write(text.len());
        }
    }
    let payload = Mixed { types, words, lens: &lens, total };
    if !try_put_at(tick, Kind::Log, id, &payload) {
        put_slowly(tick, Kind::Log, id, Weight::Log, payload);
    }
}

/// Arguments that an entry has at most.
const MAX_ARGS: usize = 50;

/// Words that are stored as they are.
struct Numbers<'a>(&'a [u64]);

impl Payload for Numbers<'_> {
    #[inline(always)]
    fn words(&self) -> u64 {
        self.0.len() as u64
    }

    #[inline(always)]
    fn put(&self, slots: &[AtomicU64]) {
        match (slots, self.0) {
            // Most entries: a loop would cost more than what it does.
            ([], _) => {}
            ([a], [x, ..]) => a.store(*x, Ordering::Relaxed),
            ([a, b], [x, y, ..]) => {
                a.store(*x, Ordering::Relaxed);
                b.store(*y, Ordering::Relaxed);
            }
            ([a, b, c], [x, y, z, ..]) => {
                a.store(*x, Ordering::Relaxed);
                b.store(*y, Ordering::Relaxed);
                c.store(*z, Ordering::Relaxed);
            }
            (slots, words) => slots.iter().zip(words).for_each(|(slot, word)| slot.store(*word, Ordering::Relaxed)),
        }
    }
}

/// Numbers and texts.
struct Mixed<'a> {
    types: &'a [u8],
    words: &'a [u64],
    /// Lengths of the arguments that are texts.
    lens: &'a [MaybeUninit<usize>; MAX_ARGS],
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
                // SAFETY: the text was measured, and its length was stored, by `log_texts`; an empty one may have no address.
                let text = unsafe {
                    match len.assume_init() {
                        0 => &[],
                        len => std::slice::from_raw_parts(*word as *const u8, len),
                    }
                };
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
