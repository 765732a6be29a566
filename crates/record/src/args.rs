//! Arguments of log entries: their types, their words, and whether they fit their format.

use traceloom_cnanolog::raw::{ArgType, SLOTS_LIBRARY};

use crate::{
    record::{MAX_BYTES, Payload},
    stats::COUNTERS,
    sync::AtomicU64,
};

/// The conversions of a format string that an argument accepts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[doc(hidden)]
pub enum Class {
    Char,
    Float,
    Pointer,
    Signed,
    Text,
    Unsigned,
}

/// A type that can be logged.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be logged directly",
    note = "numbers, bool, char, strings, byte slices and raw pointers can; call `to_string()` on others"
)]
pub trait Arg {
    #[doc(hidden)]
    const TYPE: u8;
    #[doc(hidden)]
    const CLASS: Class;

    /// The argument as a payload. A copy, so that it stays in registers: after a store to the ring, the compiler would
    /// load everything behind a reference again.
    #[doc(hidden)]
    type Laid<'a>: Payload
    where
        Self: 'a;

    #[doc(hidden)]
    fn laid(&self) -> Self::Laid<'_>;
}

macro_rules! numbers {
    ($($type:ty, $code:ident, $class:ident, $value:ident => $word:expr;)*) => {
        $(
            impl Arg for $type {
                const TYPE: u8 = ArgType::$code.0;
                const CLASS: Class = Class::$class;

                type Laid<'a> = u64;

                #[inline(always)]
                fn laid(&self) -> u64 {
                    let $value = *self;
                    $word
                }
            }
        )*
    };
}

numbers! {
    i8, INT32, Signed, value => i64::from(value) as u64;
    i16, INT32, Signed, value => i64::from(value) as u64;
    i32, INT32, Signed, value => i64::from(value) as u64;
    i64, INT64, Signed, value => value as u64;
    isize, INT64, Signed, value => value as u64;
    bool, INT32, Signed, value => value.into();
    u8, UINT32, Unsigned, value => value.into();
    u16, UINT32, Unsigned, value => value.into();
    u32, UINT32, Unsigned, value => value.into();
    u64, UINT64, Unsigned, value => value;
    usize, UINT64, Unsigned, value => value as u64;
    f32, DOUBLE, Float, value => f64::from(value).to_bits();
    f64, DOUBLE, Float, value => value.to_bits();
    // The format has one byte for a character.
    char, CHAR, Char, value => if value.is_ascii() { value as u64 } else { u64::from(b'?') };
}

macro_rules! pointers {
    ($($type:ty),*) => {
        $(
            impl<T> Arg for $type {
                const TYPE: u8 = ArgType::POINTER.0;
                const CLASS: Class = Class::Pointer;

                type Laid<'a>
                    = u64
                where
                    T: 'a;

                #[inline(always)]
                fn laid(&self) -> u64 {
                    self.addr() as u64
                }
            }
        )*
    };
}
pointers!(*const T, *mut T);

macro_rules! texts {
    ($($type:ty, $value:ident => $bytes:expr;)*) => {
        $(
            impl Arg for $type {
                const TYPE: u8 = ArgType::STRING.0;
                const CLASS: Class = Class::Text;

                type Laid<'a>
                    = &'a [u8]
                where
                    Self: 'a;

                #[inline(always)]
                fn laid(&self) -> &[u8] {
                    let $value = self;
                    cut($bytes)
                }
            }
        )*
    };
}
texts! {
    str, text => text.as_bytes();
    String, text => text.as_bytes();
    std::borrow::Cow<'_, str>, text => text.as_bytes();
    [u8], bytes => bytes;
    Vec<u8>, bytes => bytes;
}

/// The start of a text, up to the size of a record; counted if it had to be cut.
#[inline(always)]
pub fn cut(bytes: &[u8]) -> &[u8] {
    if bytes.len() <= MAX_BYTES { bytes } else { cut_cold(bytes) }
}

#[cold]
fn cut_cold(bytes: &[u8]) -> &[u8] {
    count_cut();
    bytes.get(..bytes.floor_boundary(MAX_BYTES)).unwrap_or_default()
}

pub(crate) fn count_cut() {
    COUNTERS.cut.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
}

trait FloorBoundary {
    fn floor_boundary(&self, at: usize) -> usize;
}

impl FloorBoundary for [u8] {
    /// The last character boundary up to `at`.
    fn floor_boundary(&self, at: usize) -> usize {
        let is_start = |at: &usize| self.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        (at.saturating_sub(3)..=at).rev().find(is_start).unwrap_or(at)
    }
}

impl<T: Arg + ?Sized> Arg for &T {
    const TYPE: u8 = T::TYPE;
    const CLASS: Class = T::CLASS;

    type Laid<'a>
        = T::Laid<'a>
    where
        Self: 'a;

    #[inline(always)]
    fn laid(&self) -> T::Laid<'_> {
        (**self).laid()
    }
}

/// Arguments of one call: a list of pairs, `(a, (b, ()))`.
#[doc(hidden)]
pub trait Args {
    const LEN: usize;
    const TYPES: [u8; SLOTS_LIBRARY];
    const CLASSES: [Class; SLOTS_LIBRARY];

    /// The arguments as a payload.
    type Laid<'a>: Payload
    where
        Self: 'a;

    fn laid(&self) -> Self::Laid<'_>;
}

impl Args for () {
    const LEN: usize = 0;
    const TYPES: [u8; SLOTS_LIBRARY] = [0; SLOTS_LIBRARY];
    const CLASSES: [Class; SLOTS_LIBRARY] = [Class::Text; SLOTS_LIBRARY];

    type Laid<'a> = ();

    #[inline(always)]
    fn laid(&self) {}
}

impl<H: Arg, T: Args> Args for (H, T) {
    const LEN: usize = 1 + T::LEN;
    const TYPES: [u8; SLOTS_LIBRARY] = {
        let mut types = [0; SLOTS_LIBRARY];
        types[0] = H::TYPE;
        let mut at = 1;
        while at < SLOTS_LIBRARY {
            types[at] = T::TYPES[at - 1];
            at += 1;
        }
        types
    };
    const CLASSES: [Class; SLOTS_LIBRARY] = {
        let mut classes = [H::CLASS; SLOTS_LIBRARY];
        let mut at = 1;
        while at < SLOTS_LIBRARY {
            classes[at] = T::CLASSES[at - 1];
            at += 1;
        }
        classes
    };

    type Laid<'a>
        = Laid<H::Laid<'a>, T::Laid<'a>>
    where
        Self: 'a;

    #[inline(always)]
    fn laid(&self) -> Self::Laid<'_> {
        Laid(self.0.laid(), self.1.laid())
    }
}

/// The payload of an argument, then those of the others.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Laid<H, T>(H, T);

impl<H: Payload, T: Payload> Payload for Laid<H, T> {
    #[inline(always)]
    fn words(&self) -> u64 {
        self.0.words() + self.1.words()
    }

    #[inline(always)]
    fn put(&self, slots: &[AtomicU64]) {
        let Some((own, rest)) = slots.split_at_checked(self.0.words() as usize) else { return };
        self.0.put(own);
        self.1.put(rest);
    }
}

/// Stops the compiler if the arguments do not fit the format.
#[doc(hidden)]
pub const fn check_format(format: &str, classes: &[Class], len: usize) {
    assert!(len <= SLOTS_LIBRARY, "an entry can have at most 50 arguments");
    let text = format.as_bytes();
    let mut at = 0;
    let mut arg = 0;
    while at < text.len() {
        if text[at] != b'%' {
            at += 1;
            continue;
        }
        at += 1;
        while at < text.len() && matches!(text[at], b'-' | b'+' | b' ' | b'#' | b'0'..=b'9' | b'.' | b'*' | b'\'') {
            if text[at] == b'*' {
                assert!(arg < len, "the format has more conversions than there are arguments");
                assert!(matches!(classes[arg], Class::Signed), "a `*` takes a signed integer");
                arg += 1;
            }
            at += 1;
        }
        while at < text.len() && matches!(text[at], b'h' | b'l' | b'j' | b'z' | b't' | b'q' | b'L') {
            at += 1;
        }
        assert!(at < text.len(), "the format ends inside a conversion; write %% for a percent sign");
        if text[at] == b'%' {
            at += 1;
            continue;
        }
        assert!(arg < len, "the format has more conversions than there are arguments");
        check_conversion(text[at], classes[arg]);
        arg += 1;
        at += 1;
    }
    assert!(arg == len, "the format has fewer conversions than there are arguments");
}

const fn check_conversion(conversion: u8, class: Class) {
    match conversion {
        b'd' | b'i' => assert!(matches!(class, Class::Signed), "%d and %i take a signed integer or a bool; use %u"),
        b'u' => assert!(matches!(class, Class::Unsigned), "%u takes an unsigned integer; use %d"),
        b'o' | b'x' | b'X' => {
            assert!(matches!(class, Class::Signed | Class::Unsigned), "%x, %X and %o take an integer");
        }
        b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
            assert!(matches!(class, Class::Float), "%f, %e, %g and %a take a float");
        }
        b's' => assert!(matches!(class, Class::Text), "%s takes text"),
        b'c' => assert!(matches!(class, Class::Char), "%c takes a char"),
        b'p' => assert!(matches!(class, Class::Pointer), "%p takes a raw pointer"),
        _ => panic!("this conversion does not exist; write %% for a percent sign"),
    }
}

#[cfg(all(test, not(any(traceloom_loom, traceloom_shuttle))))]
mod tests {
    use super::*;

    fn fits<A: Args>(format: &'static str, _: A) -> bool {
        std::panic::catch_unwind(|| check_format(format, &A::CLASSES, A::LEN)).is_ok()
    }

    #[test]
    fn formats_are_checked_against_their_arguments() {
        assert!(fits("nothing, 100 %%", ()));
        assert!(fits("%d %5.1f %-20s|%c %p %*x", (1, (0.5, ("a", ('c', (std::ptr::null::<u8>(), (3, (7u8, ())))))))));
        assert!(fits("%lld %zu", (1i64, (2usize, ()))));
        assert!(!fits("%d", ()), "too few");
        assert!(!fits("none", (1, ())), "too many");
        assert!(!fits("%d", (1u64, ())) && !fits("%u", (1i8, ())), "signs");
        assert!(!fits("%s", (1, ())) && !fits("%f", (1, ())) && !fits("%d", ("a", ())), "classes");
        assert!(!fits("%y", (1, ())) && !fits("50%", ()), "no conversion");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let text = "ä".repeat(MAX_BYTES);
        let kept = cut(text.as_bytes());
        assert!(std::str::from_utf8(kept).is_ok() && (MAX_BYTES - 1..=MAX_BYTES).contains(&kept.len()));
        assert_eq!(cut(b"short"), b"short");
    }
}
