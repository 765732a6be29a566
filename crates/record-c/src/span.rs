//! Spans, frames, events and values. A thread tracks its open spans, so that the last one can be ended without its
//! name.

use std::{
    cell::Cell,
    ffi::{c_char, c_void},
    sync::atomic::{AtomicU64, Ordering},
};

use traceloom_record::foreign::{
    Kind, SiteId, SiteState, Weight, cut, describe, name_thread, next_frame, put, put_slowly, tick,
};

use crate::{
    clock::quick_tick,
    site::{Site, Tag, bytes, is_empty, text},
    thread::{quick_stack, stack, take_ring, try_put_at},
};

/// Max nesting depth of recorded spans, which is also the limit of readers of `.prof` files.
const MAX_DEPTH: usize = 254;

/// An open span in one word: the id of its site, or none if it is not recorded; whether nothing inside it is recorded;
/// and its number among the spans of the thread, so that an ended span is not mistaken for a later one.
#[derive(Clone, Copy)]
struct Open(u64);

impl Open {
    const MUTES: u64 = 1 << 31;

    #[inline(always)]
    fn new(id: Option<SiteId>, mutes: bool, serial: u32) -> Self {
        let mutes = if mutes { Self::MUTES } else { 0 };
        Self(u64::from(id.map_or(0, SiteId::get)) | mutes | u64::from(serial) << 32)
    }

    #[inline(always)]
    fn id(self) -> Option<SiteId> {
        SiteId::new((self.0 & (Self::MUTES - 1)) as u32)
    }

    #[inline(always)]
    fn mutes(self) -> bool {
        self.0 & Self::MUTES != 0
    }

    #[inline(always)]
    fn serial(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// Times of the outermost spans, in ticks.
#[derive(Clone, Copy, Default)]
pub(crate) struct Frames {
    pub(crate) last: u64,
    pub(crate) max: u64,
    pub(crate) sum: u64,
    pub(crate) count: u64,
}

/// The open spans of a thread. Has no destructor, so it can be used until the thread exits.
pub(crate) struct Stack {
    depth: Cell<usize>,
    serial: Cell<u32>,
    open: [Cell<Open>; MAX_DEPTH],
    began: Cell<u64>,
    pub(crate) frames: Cell<Frames>,
    pub(crate) is_main: Cell<bool>,
}

thread_local! {
    pub(crate) static STACK: Stack = const {
        Stack {
            depth: Cell::new(0),
            serial: Cell::new(0),
            open: [const { Cell::new(Open(0)) }; MAX_DEPTH],
            began: Cell::new(0),
            frames: Cell::new(Frames { last: 0, max: 0, sum: 0, count: 0 }),
            is_main: Cell::new(false),
        }
    };
}

/// The same for the thread named Main.
pub(crate) struct MainFrames {
    pub(crate) last: AtomicU64,
    pub(crate) max: AtomicU64,
    pub(crate) sum: AtomicU64,
    pub(crate) count: AtomicU64,
}

pub(crate) static MAIN_FRAMES: MainFrames =
    MainFrames { last: AtomicU64::new(0), max: AtomicU64::new(0), sum: AtomicU64::new(0), count: AtomicU64::new(0) };

impl MainFrames {
    /// Only one thread is named Main, so plain stores are enough, at a tenth of the cost; if a concurrent reset is
    /// lost, the reader gets the frame again.
    #[inline(always)]
    fn add(&self, took: u64) {
        let change = |number: &AtomicU64, next: fn(u64, u64) -> u64, by| {
            number.store(next(number.load(Ordering::Relaxed), by), Ordering::Relaxed);
        };
        self.last.store(took, Ordering::Relaxed);
        change(&self.max, u64::max, took);
        change(&self.sum, u64::wrapping_add, took);
        change(&self.count, u64::wrapping_add, 1);
    }
}

impl Stack {
    /// Whether nothing inside the innermost open span is recorded.
    #[inline(always)]
    pub(crate) fn is_muted(&self) -> bool {
        let innermost = self.depth.get().checked_sub(1).and_then(|at| self.open.get(at));
        innermost.is_some_and(|open| open.get().mutes())
    }

    /// Starts a span at this tick; without an id, it is only tracked.
    #[inline(always)]
    pub(crate) fn begin(&self, tick: u64, id: Option<SiteId>, mutes: bool, name: &[u8]) -> u64 {
        let (depth, serial) = (self.depth.get(), self.serial.get().wrapping_add(1));
        self.depth.set(depth + 1);
        self.serial.set(serial);
        if depth == 0 {
            self.began.set(tick);
        }
        let span = (depth as u64) << 32 | u64::from(serial);
        let Some(open) = self.open.get(depth) else { return span };
        open.set(Open::new(id, mutes, serial));
        match id {
            Some(id) if !name.is_empty() => self.put_begin(tick, id, span, Some(cut(name))),
            Some(id) if !try_put_at(tick, Kind::SpanBegin, id, &()) => self.put_begin(tick, id, span, None),
            _ => span,
        }
    }

    /// Starts a span with a name, or on the slow path; a dropped span is tracked as such.
    #[inline(never)]
    fn put_begin(&self, tick: u64, id: SiteId, span: u64, name: Option<&[u8]>) -> u64 {
        let put = match name {
            Some(name) if try_put_at(tick, Kind::SpanBegin, id, &name) => Some(tick),
            Some(name) => put_slowly(tick, Kind::SpanBegin, id, Weight::Span, name),
            None => put_slowly(tick, Kind::SpanBegin, id, Weight::Span, ()),
        };
        take_ring();
        if let (None, Some(open)) = (put, self.open.get((span >> 32) as usize)) {
            open.set(Open::new(None, open.get().mutes(), span as u32));
        }
        span
    }

    /// Whether a span is the innermost one and recorded.
    #[inline(always)]
    fn is_last(&self, span: u64) -> bool {
        let (depth, serial) = ((span >> 32) as usize, span as u32);
        let open = self.open.get(depth).map(Cell::get);
        self.depth.get() == depth + 1 && open.is_some_and(|open| open.serial() == serial && open.id().is_some())
    }

    /// Ends a span and the spans inside it, unless it has already ended.
    #[inline(never)]
    fn end(&self, span: u64) {
        let (depth, serial) = ((span >> 32) as usize, span as u32);
        let is_open = self.open.get(depth).is_none_or(|open| open.get().serial() == serial);
        while is_open && self.depth.get() > depth {
            self.end_last(tick());
        }
    }

    /// Ends the innermost span at this tick.
    #[inline(always)]
    fn end_last(&self, tick: u64) {
        let Some(depth) = self.depth.get().checked_sub(1) else { return };
        self.depth.set(depth);
        let Some(id) = self.open.get(depth).and_then(|open| open.get().id()) else { return };
        if depth == 0 {
            self.end_frame(tick.saturating_sub(self.began.get()));
        }
        if !try_put_at(tick, Kind::SpanEnd, id, &()) {
            put_end_slowly(tick, id);
        }
    }

    #[inline(always)]
    fn end_frame(&self, took: u64) {
        let Frames { max, sum, count, .. } = self.frames.get();
        self.frames.set(Frames { last: took, max: max.max(took), sum: sum + took, count: count + 1 });
        if self.is_main.get() {
            MAIN_FRAMES.add(took);
        }
    }
}

#[cold]
#[inline(never)]
fn put_end_slowly(tick: u64, id: SiteId) {
    put_slowly(tick, Kind::SpanEnd, id, Weight::End, ());
    take_ring();
}

/// The id of a site without arguments, if it is on.
///
/// # Safety
///
/// The site is a static of a header.
#[inline(always)]
pub(crate) unsafe fn id_of(site: *const Site) -> Option<SiteId> {
    // SAFETY: the caller says so.
    let site = unsafe { Site::of(site) };
    site.state.look(|question| site.register(question, None)).map(|(id, _)| id)
}

/// Starts a span on this thread, with a text or NULL; pass the result to [`traceloom_span_end`].
///
/// # Safety
///
/// The site is a static of a header, and the text ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_span_begin(site: *const Site, text: *const c_char) -> u64 {
    // SAFETY: the caller says so.
    let (id, is_empty) = unsafe { (Site::of(site).state.id_if(NO_TYPES), is_empty(text)) };
    if is_empty
        && let (Some(id), Some(stack)) = (id, quick_stack())
        && let Some(tick) = quick_tick()
    {
        return stack.begin(tick, Some(id), false, &[]);
    }
    // SAFETY: the caller says so.
    unsafe { begin_slowly(site, text) }
}

/// The tag of a site without arguments.
pub(crate) const NO_TYPES: u8 = Tag::numbers(0).0;

#[inline(never)]
unsafe fn begin_slowly(site: *const Site, text: *const c_char) -> u64 {
    // SAFETY: the caller says so.
    match unsafe { id_of(site) } {
        // SAFETY: the caller says so.
        Some(id) => stack().begin(tick(), Some(id), false, unsafe { bytes(text) }),
        None => begin_off(),
    }
}

/// Tracks a span that is not recorded.
pub(crate) fn begin_off() -> u64 {
    stack().begin(0, None, false, &[])
}

/// Ends a span of this thread and the spans inside it; does nothing if it has already ended.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_span_end(span: u64) {
    match quick_stack() {
        Some(stack) if stack.is_last(span) => match quick_tick() {
            Some(tick) => stack.end_last(tick),
            None => stack.end(span),
        },
        _ => stack().end(span),
    }
}

/// Ends the innermost open span of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_span_end_last() {
    stack().end_last(tick());
}

/// Starts a frame; pass its number to [`traceloom_frame_end`].
///
/// # Safety
///
/// The site is a static of a header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_frame_begin(site: *const Site) -> u64 {
    let number = next_frame();
    // SAFETY: the caller says so.
    let id = unsafe { id_of(site) };
    let tick = id.and_then(|id| put(Kind::FrameBegin, id, Weight::Span, number));
    tick.map_or(0, |_| number)
}

/// Ends a frame.
///
/// # Safety
///
/// The site is the one with which the frame was started.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_frame_end(site: *const Site, frame: u64) {
    // SAFETY: the caller says so.
    if let (1.., Some(id)) = (frame, unsafe { id_of(site) }) {
        put(Kind::FrameEnd, id, Weight::End, frame);
    }
}

/// Records an event, with a text or NULL.
///
/// # Safety
///
/// The site is a static of a header, and the text ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_event(site: *const Site, text: *const c_char) {
    // SAFETY: the caller says so.
    let (id, text) = unsafe { (id_of(site), bytes(text)) };
    let Some(id) = id else { return };
    if text.is_empty() {
        put(Kind::Event, id, Weight::Span, ());
    } else {
        put(Kind::Event, id, Weight::Span, cut(text));
    }
}

/// A value or an array of values: EasyProfiler's type number and the bytes.
#[derive(Debug)]
#[repr(C)]
pub struct Value {
    /// The elements.
    pub data: *const c_void,
    /// Size of all elements in bytes.
    pub size: usize,
    /// Id of the quantity if the name does not identify it: an address, or 0.
    pub id: u64,
    /// `TRACELOOM_VALUE_BOOL` and so on.
    pub data_type: u8,
    /// Whether it is an array.
    pub is_array: bool,
}

/// A `bool`.
pub const TRACELOOM_VALUE_BOOL: u8 = 0;
/// A `char`.
pub const TRACELOOM_VALUE_CHAR: u8 = 1;
/// An `int8_t`.
pub const TRACELOOM_VALUE_INT8: u8 = 2;
/// A `uint8_t`.
pub const TRACELOOM_VALUE_UINT8: u8 = 3;
/// An `int16_t`.
pub const TRACELOOM_VALUE_INT16: u8 = 4;
/// A `uint16_t`.
pub const TRACELOOM_VALUE_UINT16: u8 = 5;
/// An `int32_t`.
pub const TRACELOOM_VALUE_INT32: u8 = 6;
/// A `uint32_t`.
pub const TRACELOOM_VALUE_UINT32: u8 = 7;
/// An `int64_t`.
pub const TRACELOOM_VALUE_INT64: u8 = 8;
/// A `uint64_t`.
pub const TRACELOOM_VALUE_UINT64: u8 = 9;
/// A `float`.
pub const TRACELOOM_VALUE_FLOAT: u8 = 10;
/// A `double`.
pub const TRACELOOM_VALUE_DOUBLE: u8 = 11;
/// A text.
pub const TRACELOOM_VALUE_STRING: u8 = 12;

/// Records a value.
///
/// # Safety
///
/// The site is a static of a header, and the value has as many bytes as it says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_value(site: *const Site, value: *const Value) {
    // SAFETY: the caller says so.
    let (id, value) = unsafe { (id_of(site), &*value) };
    let Some(id) = id else { return };
    let data = if value.size == 0 || value.data.is_null() {
        &[][..]
    } else {
        // SAFETY: the caller says so.
        unsafe { std::slice::from_raw_parts(value.data.cast::<u8>(), value.size) }
    };
    let data = if value.data_type == TRACELOOM_VALUE_STRING {
        // Files contain the terminating zero byte, whether it was counted or not.
        cut(data.split(|byte| *byte == 0).next().unwrap_or_default())
    } else {
        data.get(..traceloom_record::foreign::MAX_BYTES).unwrap_or(data)
    };
    put(Kind::Value, id, Weight::Span, (describe(value.data_type, value.is_array, value.id), data));
}

/// A site of this library.
pub(crate) const fn own_site(name: &'static std::ffi::CStr) -> Site {
    Site {
        state: SiteState::new(),
        name: name.as_ptr(),
        file: c"traceloom-record-c".as_ptr(),
        types: std::ptr::null(),
        pattern: std::ptr::null(),
        line: 0,
        color: 0,
        count: 0,
        level: 0,
        status: 0,
    }
}

/// Records a text of the whole thread or program.
fn put_text(kind: Kind, site: &'static Site, text: &str) {
    // SAFETY: the site is a static of this library.
    if let Some(id) = unsafe { id_of(site) } {
        put(kind, id, Weight::Span, cut(text.as_bytes()));
    }
}

/// Names this thread, for this and later recordings.
///
/// # Safety
///
/// The name is a text that ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_thread_name(name: *const c_char) {
    static SITE: Site = own_site(c"thread");
    // SAFETY: the caller says so.
    let name = unsafe { text(name) };
    name_thread(&name);
    put_text(Kind::ThreadName, &SITE, &name);
}

/// Adds a bookmark with a text.
///
/// # Safety
///
/// The text ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_bookmark(text: *const c_char) {
    static SITE: Site = own_site(c"bookmark");
    // SAFETY: the caller says so.
    put_text(Kind::Bookmark, &SITE, &unsafe { crate::site::text(text) });
}
