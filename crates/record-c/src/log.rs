//! Log entries: words that the headers lay out, one per argument.

use std::{
    ffi::c_char,
    sync::atomic::{AtomicU64, Ordering},
};

use traceloom_record::foreign::{Kind, Payload, SiteId, Weight, cut, put};

use crate::site::{Site, TEXTS, TRACELOOM_STRING, bytes, level};

/// Records a log entry: a word per argument of the site, as the headers make them; texts are addresses.
///
/// # Safety
///
/// The site is a static of a header; there is a word for each of its types, and texts end in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_log(site: *const Site, words: *const u64) {
    // SAFETY: the caller says so.
    let site = unsafe { Site::of(site) };
    let Some((id, tag)) = site.state.look(|question| site.register(question, Some(level(site.level)))) else { return };
    let count = site.count.into();
    // SAFETY: the caller gives a word for each argument; without one there may be no words at all.
    let words = if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(words, count) } };
    if tag & TEXTS == 0 {
        put(Kind::Log, id, Weight::Log, Numbers(words));
    } else {
        // SAFETY: words whose type is a text are addresses of texts.
        unsafe { log_texts(id, site, words) };
    }
}

/// # Safety
///
/// Words whose type is a text are addresses of texts.
unsafe fn log_texts(id: SiteId, site: &Site, words: &[u64]) {
    let types = site.types();
    // Of the first texts, so that these are measured once.
    let mut lens = [0; 8];
    let mut total = 0;
    let mut known = lens.iter_mut();
    for (code, word) in types.iter().zip(words) {
        total += 1;
        if *code == TRACELOOM_STRING {
            // SAFETY: the caller says that this is a text.
            let text = cut(unsafe { bytes(*word as *const c_char) });
            total += text.len().div_ceil(8) as u64;
            if let Some(len) = known.next() {
                *len = text.len();
            }
        }
    }
    put(Kind::Log, id, Weight::Log, Mixed { types, words, lens, total });
}

/// Words that are stored as they are.
struct Numbers<'a>(&'a [u64]);

impl Payload for Numbers<'_> {
    #[inline(always)]
    fn words(&self) -> u64 {
        self.0.len() as u64
    }

    #[inline(always)]
    fn put(&self, slots: &[AtomicU64]) {
        for (slot, word) in slots.iter().zip(self.0) {
            slot.store(*word, Ordering::Relaxed);
        }
    }
}

/// Numbers and texts.
struct Mixed<'a> {
    types: &'a [u8],
    words: &'a [u64],
    /// Lengths of the first texts.
    lens: [usize; 8],
    total: u64,
}

impl Payload for Mixed<'_> {
    #[inline(always)]
    fn words(&self) -> u64 {
        self.total
    }

    #[inline(always)]
    fn put(&self, mut slots: &[AtomicU64]) {
        let mut lens = self.lens.iter();
        for (code, word) in self.types.iter().zip(self.words) {
            let payload = if *code == TRACELOOM_STRING {
                // SAFETY: the text was measured before, or is measured now.
                Ok(unsafe {
                    match lens.next() {
                        Some(0) => &[],
                        Some(len) => std::slice::from_raw_parts(*word as *const u8, *len),
                        None => cut(bytes(*word as *const c_char)),
                    }
                })
            } else {
                Err(*word)
            };
            let words = payload.map_or(1, |text| text.words());
            let Some((own, rest)) = slots.split_at_checked(words as usize) else { return };
            match payload {
                Ok(text) => text.put(own),
                Err(number) => number.put(own),
            }
            slots = rest;
        }
    }
}
