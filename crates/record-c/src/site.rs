//! Call sites: statics of the caller, as laid out by the headers.

use std::{
    borrow::Cow,
    ffi::{CStr, c_char, c_int},
    sync::{PoisonError, RwLock},
};

use traceloom_record::{
    Level,
    foreign::{About, Question, SiteId, SiteState},
};

use crate::clock::look_at_clock;

/// A call site: a static next to the call. Its texts and types must live as long as the site.
#[derive(Debug)]
#[repr(C)]
pub struct Site {
    /// Internal state of the library; must be zero initially.
    pub state: SiteState,
    /// The name of a span, event or value, or the format of a log entry.
    pub name: *const c_char,
    /// The source file.
    pub file: *const c_char,
    /// The types of the `count` arguments of a log entry: `TRACELOOM_INT32` and so on.
    pub types: *const u8,
    /// Pattern of the entry in a text log; NULL means the pattern of the log.
    pub pattern: *const c_char,
    /// The line in the source file.
    pub line: u32,
    /// Color as ARGB; 0 means the default color.
    pub color: u32,
    /// Number of arguments of a log entry, at most 50.
    pub count: u8,
    /// Level of a log entry.
    pub level: u8,
    /// Status of an EasyProfiler block.
    pub status: u8,
}

// SAFETY: threads share a site, but only `state` changes, which is atomic.
unsafe impl Sync for Site {}

/// The tag of a site: the number of its arguments, and whether some of them are texts.
#[derive(Clone, Copy)]
pub(crate) struct Tag(pub(crate) u8);

impl Tag {
    const TEXTS: u8 = 1 << 6;

    fn new(types: &[u8]) -> Self {
        let count = types.len().min(usize::from(Self::TEXTS) - 1);
        if types.contains(&TRACELOOM_STRING) { Self::texts(count) } else { Self::numbers(count) }
    }

    /// A number of arguments, none of them a text.
    pub(crate) const fn numbers(count: usize) -> Self {
        Self(count as u8)
    }

    /// A number of arguments, at least one of them a text.
    pub(crate) const fn texts(count: usize) -> Self {
        Self(count as u8 | Self::TEXTS)
    }

    #[inline(always)]
    pub(crate) fn count(self) -> usize {
        (self.0 % Self::TEXTS).into()
    }

    #[inline(always)]
    pub(crate) fn has_texts(self) -> bool {
        self.0 >= Self::TEXTS
    }
}

impl Site {
    /// # Safety
    ///
    /// The site is the static of a header, or equivalent.
    pub(crate) unsafe fn of<'a>(site: *const Self) -> &'a Self {
        // SAFETY: the caller passes a site that lives as long as the program or its library, and only `state` changes.
        unsafe { &*site }
    }

    /// The types of its arguments.
    pub(crate) fn types(&self) -> &[u8] {
        if self.types.is_null() {
            return &[];
        }
        // SAFETY: a site has as many types as it says, and they live as long as it does.
        unsafe { std::slice::from_raw_parts(self.types, self.count.into()) }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn register(&self, question: Question<'_>, level: Option<Level>) -> Option<(SiteId, u8)> {
        look_at_clock();
        // SAFETY: the texts of a site live as long as it does.
        let (name, file, pattern) = unsafe { (text(self.name), text(self.file), text(self.pattern)) };
        let color = (self.color != 0).then_some(self.color);
        let about = About { name: &name, level, color, module: &file, file: &file, line: self.line, pattern: &pattern };
        let types = if level.is_some() { self.types() } else { &[] };
        question.register(&about, types, Tag::new(types).0)
    }
}

/// A C string; empty for NULL.
///
/// # Safety
///
/// It is NULL or ends in a zero byte, and lives as long as the result.
#[inline(always)]
pub(crate) unsafe fn bytes<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: the caller says that there is a zero byte.
    unsafe { std::slice::from_raw_parts(text.cast(), length(text.cast())) }
}

/// Whether a C string is NULL or empty.
///
/// # Safety
///
/// As for [`bytes`].
#[inline(always)]
pub(crate) unsafe fn is_empty(text: *const c_char) -> bool {
    // SAFETY: the caller says that there is a zero byte at least.
    text.is_null() || unsafe { *text } == 0
}

/// Number of bytes before the zero byte. Inlined, because for most texts a call to `strlen` costs more than the scan.
///
/// # Safety
///
/// There is a zero byte.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn length(text: *const u8) -> usize {
    let before = text.addr() % BLOCK;
    let mut block = text.wrapping_sub(before);
    // SAFETY: the block has a byte of the text.
    let found = unsafe { zeros(block) } >> before;
    if found != 0 {
        return found.trailing_zeros() as usize;
    }
    loop {
        block = block.wrapping_add(BLOCK);
        // SAFETY: the text continues in this block.
        let found = unsafe { zeros(block) };
        if found != 0 {
            return block.addr() - text.addr() + found.trailing_zeros() as usize;
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn length(text: *const u8) -> usize {
    // SAFETY: the caller says so.
    unsafe { CStr::from_ptr(text.cast()) }.count_bytes()
}

#[cfg(target_arch = "x86_64")]
const BLOCK: usize = 16;

/// A bit mask of the zero bytes of an aligned block.
///
/// # Safety
///
/// One byte of the block can be read.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn zeros(block: *const u8) -> u32 {
    let mask;
    // SAFETY: memory is mapped in pages, and an aligned block does not cross the end of one; assembly may read all of it, while
    // Rust may not read what is around the text.
    unsafe {
        std::arch::asm!("pxor {0}, {0}", "pcmpeqb {0}, [{1}]", "pmovmskb {2:e}, {0}",
            out(xmm_reg) _, in(reg) block, lateout(reg) mask, options(nostack, readonly, preserves_flags));
    }
    mask
}

/// The same as text of any length.
///
/// # Safety
///
/// As for [`bytes`].
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Cow<'a, str> {
    if text.is_null() {
        return Cow::Borrowed("");
    }
    // SAFETY: the caller says that it ends in a zero byte.
    unsafe { CStr::from_ptr(text) }.to_string_lossy()
}

/// An `int`, a smaller signed type, or a `bool`.
pub const TRACELOOM_INT32: u8 = 1;
/// A `long long`.
pub const TRACELOOM_INT64: u8 = 2;
/// An `unsigned int` or a smaller unsigned type.
pub const TRACELOOM_UINT32: u8 = 3;
/// An `unsigned long long`.
pub const TRACELOOM_UINT64: u8 = 4;
/// The bits of a `double`.
pub const TRACELOOM_DOUBLE: u8 = 5;
/// A `const char *`.
pub const TRACELOOM_STRING: u8 = 6;
/// Any other pointer.
pub const TRACELOOM_POINTER: u8 = 7;
/// A `char`.
pub const TRACELOOM_CHAR: u8 = 8;

/// Names and ranks of custom levels.
static LEVELS: RwLock<Vec<(u8, Level)>> = RwLock::new(Vec::new());

/// Registers a custom level (4 to 255) with a name, and a rank for filters; DEBUG has rank 10, INFO 20, WARN 30 and
/// ERROR 40. Must be called before the level is used. Returns -1 if the number belongs to a built-in level.
///
/// # Safety
///
/// The name is a text that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_level(number: u8, rank: u8, name: *const c_char) -> c_int {
    if number < 4 || name.is_null() {
        return crate::error::code::<(), _>(Err("a custom level needs a number of at least 4 and a name"));
    }
    // SAFETY: the caller says so.
    let name = unsafe { text(name) }.into_owned();
    let mut levels = LEVELS.write().unwrap_or_else(PoisonError::into_inner);
    levels.retain(|(known, _)| *known != number);
    levels.push((number, Level::custom(number, rank, name.leak())));
    0
}

/// The level with this number.
pub(crate) fn level(number: u8) -> Level {
    match number {
        0 => Level::INFO,
        1 => Level::WARN,
        2 => Level::ERROR,
        3 => Level::DEBUG,
        _ => {
            let levels = LEVELS.read().unwrap_or_else(PoisonError::into_inner);
            let known = levels.iter().find(|(known, _)| *known == number).map(|(_, level)| *level);
            known.unwrap_or_else(|| Level::custom(number, 20, "CUSTOM"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_at_their_zero_byte_wherever_they_lie() {
        let mut memory = [b'x'; 200];
        for start in 0..40 {
            for len in 0..100 {
                memory[start + len] = 0;
                // SAFETY: there is a zero byte.
                let found = unsafe { bytes(memory[start..].as_ptr().cast()) };
                assert_eq!(found.len(), len);
                memory[start + len] = b'x';
            }
        }
        // SAFETY: it is NULL.
        assert!(unsafe { bytes(std::ptr::null()) }.is_empty());
    }
}
