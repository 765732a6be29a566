//! Spans, frames, flows, events, bookmarks and values: the functions behind the macros.

use std::{
    future::poll_fn,
    marker::PhantomData,
    pin::pin,
    sync::atomic::{AtomicU64, Ordering},
};

use traceloom_easyprofiler::raw::DataType;

use crate::{
    args::{count_cut, cut},
    hub::{self, Ask},
    local::{SETTINGS, Weight, name_thread, put, put_headed},
    record::{FIXED, Kind, MAX_BYTES, Payload, header},
    site::{Look, Site, SiteId, Types},
};

/// A span on this thread, which ends when the guard is dropped; made by [`span!`](crate::span).
#[derive(Debug)]
#[must_use = "a span ends when its guard is dropped"]
pub struct SpanGuard {
    /// The header of the record that ends it; 0 for a span that is not recorded.
    end: u64,
    /// A span ends on the thread on which it started.
    _not_send: PhantomData<*const ()>,
}

impl SpanGuard {
    /// Starts a span.
    #[doc(hidden)]
    #[inline(always)]
    pub fn begin(site: &'static Site) -> Self {
        match site.id() {
            Some(id) => Self::begin_as(id, ()),
            None => Self::none(),
        }
    }

    /// Starts a span with a text.
    #[doc(hidden)]
    #[inline(always)]
    pub fn begin_with(site: Look, text: &str) -> Self {
        match site.id(&Types::NONE) {
            Some(id) => Self::begin_as(id, cut(text.as_bytes())),
            None => Self::none(),
        }
    }

    /// A span that is not recorded.
    #[doc(hidden)]
    #[inline(always)]
    pub const fn none() -> Self {
        Self { end: 0, _not_send: PhantomData }
    }

    #[inline(always)]
    fn begin_as<P: Payload>(id: SiteId, payload: P) -> Self {
        let begin = header(Kind::SpanBegin, FIXED + payload.words(), id.get());
        let is_recorded = put_headed(begin, Weight::Span, payload);
        Self { end: if is_recorded { header(Kind::SpanEnd, FIXED, id.get()) } else { 0 }, _not_send: PhantomData }
    }
}

impl Drop for SpanGuard {
    #[inline(always)]
    fn drop(&mut self) {
        if self.end != 0 {
            put_headed(self.end, Weight::End, ());
        }
    }
}

/// Numbers of frames, flows and ranges; 0 means none.
struct Numbers(AtomicU64);

impl Numbers {
    const fn new() -> Self {
        Self(AtomicU64::new(1))
    }

    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

static RANGES: Numbers = Numbers::new();
static FRAMES: Numbers = Numbers::new();
static FLOWS: Numbers = Numbers::new();

/// A span that may end on another thread, and that threads enter while they work on it; made by
/// [`range!`](crate::range). A future can [run](Range::run) within it.
#[derive(Debug)]
#[must_use = "a range ends when it is dropped"]
pub struct Range {
    site: &'static Site,
    /// The id at its start, so that it ends even if the site is turned off, and its number.
    begun: Option<(SiteId, u64)>,
}

impl Range {
    #[doc(hidden)]
    #[inline]
    pub fn begin(site: &'static Site) -> Self {
        Self { site, begun: site.id().and_then(begin_range) }
    }

    /// Records that this thread works on the range until the guard is dropped.
    #[inline]
    pub fn enter(&self) -> SpanGuard {
        self.begun.map_or(SpanGuard::none(), |_| SpanGuard::begin(self.site))
    }

    /// Awaits a future within the range: each poll enters it, on the thread that polls, and the range ends with the
    /// future.
    pub async fn run<F: Future>(self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|context| {
            let _entered = self.enter();
            future.as_mut().poll(context)
        })
        .await
    }
}

fn begin_range(id: SiteId) -> Option<(SiteId, u64)> {
    let number = RANGES.next();
    put(Kind::RangeBegin, id, Weight::Span, number)?;
    Some((id, number))
}

impl Drop for Range {
    #[inline]
    fn drop(&mut self) {
        if let Some((id, number)) = self.begun {
            end_range(id, number);
        }
    }
}

fn end_range(id: SiteId, number: u64) {
    put(Kind::RangeEnd, id, Weight::End, number);
}

/// A new number for a frame.
pub fn next_frame() -> u64 {
    FRAMES.next()
}

/// A frame, which ends when the guard is dropped; made by [`frame!`](crate::frame).
#[derive(Debug)]
#[must_use = "a frame ends when its guard is dropped"]
pub struct FrameGuard {
    frame: Option<(SiteId, u64, u64)>,
    _not_send: PhantomData<*const ()>,
}

impl FrameGuard {
    #[doc(hidden)]
    pub fn begin(site: Look) -> Self {
        let begin = |id| {
            let number = FRAMES.next();
            Some((id, number, put(Kind::FrameBegin, id, Weight::Span, number)?))
        };
        Self { frame: site.id(&Types::NONE).and_then(begin), _not_send: PhantomData }
    }

    #[doc(hidden)]
    pub const fn none() -> Self {
        Self { frame: None, _not_send: PhantomData }
    }
}

impl Drop for FrameGuard {
    fn drop(&mut self) {
        let Some((site, number, begin)) = self.frame else { return };
        let end = put(Kind::FrameEnd, site, Weight::End, number).unwrap_or(begin);
        if end.saturating_sub(begin) > SETTINGS.slow_frame_ticks.load(Ordering::Relaxed) {
            hub::current().ask_later(Ask::Dump);
        }
    }
}

/// Work that passes from span to span, on any threads; made by [`flow!`](crate::flow).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Flow(u64);

impl Flow {
    #[doc(hidden)]
    #[inline]
    pub fn begin(site: &'static Site) -> Self {
        site.id().map_or(Self::none(), begin_flow)
    }

    /// A flow that is not recorded.
    #[doc(hidden)]
    pub const fn none() -> Self {
        Self(0)
    }

    #[doc(hidden)]
    #[inline]
    pub fn step(self, site: &'static Site) {
        self.put(Kind::FlowStep, site);
    }

    #[doc(hidden)]
    #[inline]
    pub fn end(self, site: &'static Site) {
        self.put(Kind::FlowEnd, site);
    }

    #[inline]
    fn put(self, kind: Kind, site: &'static Site) {
        if self.0 != 0
            && let Some(id) = site.id()
        {
            put(kind, id, Weight::Span, self.0);
        }
    }
}

fn begin_flow(id: SiteId) -> Flow {
    let number = FLOWS.next();
    Flow(put(Kind::FlowBegin, id, Weight::Span, number).map_or(0, |_| number))
}

/// Called by [`event!`](crate::event).
#[doc(hidden)]
#[inline(always)]
pub fn record_event(site: Look) {
    if let Some(id) = site.id(&Types::NONE) {
        put(Kind::Event, id, Weight::Span, ());
    }
}

/// Called by [`event!`](crate::event) with a text.
#[doc(hidden)]
#[inline(always)]
pub fn record_event_with(site: Look, text: &str) {
    if let Some(id) = site.id(&Types::NONE) {
        put(Kind::Event, id, Weight::Span, cut(text.as_bytes()));
    }
}

/// Called by [`bookmark!`](crate::bookmark).
#[doc(hidden)]
pub fn record_bookmark(site: Look, text: &str) {
    if let Some(id) = site.id(&Types::NONE) {
        put(Kind::Bookmark, id, Weight::Span, cut(text.as_bytes()));
    }
}

/// Called by [`thread_name!`](crate::thread_name), also while nothing is recorded.
#[doc(hidden)]
pub fn record_thread_name(site: &'static Site, text: &str) {
    name_thread(text);
    if let Some(id) = site.id() {
        put(Kind::ThreadName, id, Weight::Span, cut(text.as_bytes()));
    }
}

/// A type that [`value!`](crate::value) records: numbers, bool, char, text, and arrays of all but text.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be recorded as a value",
    note = "numbers, bool, char, str, and arrays and slices of numbers, bool and char can"
)]
pub trait Value {
    #[doc(hidden)]
    fn with<R>(&self, hand_over: impl FnOnce(u8, bool, &[u8]) -> R) -> R;
}

macro_rules! values {
    ($($type:ty, $code:ident, $value:ident => $bytes:expr;)*) => {
        $(
            impl Value for $type {
                #[inline(always)]
                fn with<R>(&self, hand_over: impl FnOnce(u8, bool, &[u8]) -> R) -> R {
                    let $value = *self;
                    hand_over(DataType::$code.0, false, &$bytes)
                }
            }

            impl Value for [$type] {
                fn with<R>(&self, hand_over: impl FnOnce(u8, bool, &[u8]) -> R) -> R {
                    let stored = |$value: $type| $bytes;
                    let size = size_of_val(&stored(<$type>::default()));
                    let bytes: Vec<u8> = cut_elements(self, size).iter().flat_map(|element| stored(*element)).collect();
                    hand_over(DataType::$code.0, true, &bytes)
                }
            }

            impl<const N: usize> Value for [$type; N] {
                fn with<R>(&self, hand_over: impl FnOnce(u8, bool, &[u8]) -> R) -> R {
                    self.as_slice().with(hand_over)
                }
            }

            impl Value for Vec<$type> {
                fn with<R>(&self, hand_over: impl FnOnce(u8, bool, &[u8]) -> R) -> R {
                    self.as_slice().with(hand_over)
                }
            }
        )*
    };
}
values! {
    bool, BOOL, value => [u8::from(value)];
    // The format has one byte for a character.
    char, CHAR, value => [if value.is_ascii() { value as u8 } else { b'?' }];
    i8, INT8, value => value.to_le_bytes();
    u8, UINT8, value => value.to_le_bytes();
    i16, INT16, value => value.to_le_bytes();
    u16, UINT16, value => value.to_le_bytes();
    i32, INT32, value => value.to_le_bytes();
    u32, UINT32, value => value.to_le_bytes();
    i64, INT64, value => value.to_le_bytes();
    u64, UINT64, value => value.to_le_bytes();
    isize, INT64, value => (value as i64).to_le_bytes();
    usize, UINT64, value => (value as u64).to_le_bytes();
    f32, FLOAT, value => value.to_le_bytes();
    f64, DOUBLE, value => value.to_le_bytes();
}

/// The first elements, up to the size of a record; counted if it had to be cut.
fn cut_elements<T>(elements: &[T], size: usize) -> &[T] {
    match elements.get(..MAX_BYTES / size) {
        Some(kept) if kept.len() < elements.len() => {
            count_cut();
            kept
        }
        _ => elements,
    }
}

macro_rules! text_values {
    ($($type:ty),*) => {
        $(
            impl Value for $type {
                #[inline(always)]
                fn with<R>(&self, hand_over: impl FnOnce(u8, bool, &[u8]) -> R) -> R {
                    hand_over(DataType::STRING.0, true, cut(self.as_bytes()))
                }
            }
        )*
    };
}
text_values!(str, String);

impl<T: Value + ?Sized> Value for &T {
    #[inline(always)]
    fn with<R>(&self, hand_over: impl FnOnce(u8, bool, &[u8]) -> R) -> R {
        (**self).with(hand_over)
    }
}

/// Called by [`value!`](crate::value).
#[doc(hidden)]
#[inline(always)]
pub fn record_value<V: Value + ?Sized>(site: Look, value: &V) {
    if let Some(id) = site.id(&Types::NONE) {
        value.with(|code, is_array, bytes| {
            put(Kind::Value, id, Weight::Span, (describe(code, is_array, 0), bytes));
        });
    }
}

/// The word before the bytes of a value. Ids are addresses, which have 48 bits; 0 means none.
pub const fn describe(code: u8, is_array: bool, value_id: u64) -> u64 {
    code as u64 | (is_array as u64) << 8 | value_id << 16
}

/// The type of a value, whether it is an array, and its id.
pub(crate) const fn described(word: u64) -> (DataType, bool, u64) {
    (DataType(word as u8), word >> 8 & 1 == 1, word >> 16)
}
