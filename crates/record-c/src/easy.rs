//! EasyProfiler's functions, as `include/easy/profiler.h` calls them.

use std::{
    cell::OnceCell,
    ffi::{CString, c_char, c_int},
    sync::atomic::{AtomicBool, Ordering},
};

use traceloom_record::{
    Policy, Recorder, Slot,
    foreign::{Kind, SiteId, Weight, cut, put, tick, ticks_to_ns},
};

use crate::{
    clock::quick_tick,
    error::code,
    session::{join, path},
    site::{Site, bytes, is_empty, text},
    span::{
        Frames, MAIN_FRAMES, NO_TYPES, Stack, Value, begin_off, id_of, traceloom_event, traceloom_thread_name,
        traceloom_value,
    },
    thread::{quick_stack, stack},
};

/// The program enabled capturing.
static IS_ENABLED: AtomicBool = AtomicBool::new(false);
/// Capturing over the port is possible.
static IS_LISTENING: AtomicBool = AtomicBool::new(false);
/// Either of them: blocks are recorded.
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Bytes of a thread's ring: a quarter of a million blocks.
const RING_BYTES: usize = 8 << 20;

// Bits of a status.
const ON: u8 = 1;
const FORCE: u8 = 2;
const OFF_RECURSIVE: u8 = 4;

/// The effect of a status and of the enclosing blocks: whether a block is recorded, and whether blocks inside it are
/// not.
#[inline(always)]
fn decide(status: u8, is_muted: bool) -> (bool, bool) {
    if !is_muted { (status & ON != 0, status & OFF_RECURSIVE != 0) } else { (status & FORCE != 0, true) }
}

/// Starts a block, with a runtime name or an empty one; pass the result to `traceloom_span_end`.
///
/// # Safety
///
/// The site is a static of a header, and the name ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_easy_begin(site: *const Site, name: *const c_char) -> u64 {
    // SAFETY: the caller says so.
    let (known, is_empty) = unsafe { (Site::of(site), is_empty(name)) };
    if IS_ON.load(Ordering::Relaxed)
        && is_empty
        && let (Some(id), Some(stack)) = (known.state.id_if(NO_TYPES), quick_stack())
        && let Some(tick) = quick_tick()
    {
        return begin_in(stack, tick, known.status, id, &[]);
    }
    // SAFETY: the caller says so.
    unsafe { begin_slowly(site, name) }
}

#[inline(never)]
unsafe fn begin_slowly(site: *const Site, name: *const c_char) -> u64 {
    // SAFETY: the caller says so.
    let (status, name) = unsafe { (Site::of(site).status, bytes(name)) };
    // SAFETY: the caller says so.
    let id = if IS_ON.load(Ordering::Relaxed) { unsafe { id_of(site) } } else { None };
    id.map_or_else(begin_off, |id| begin_in(stack(), tick(), status, id, name))
}

#[inline(always)]
fn begin_in(stack: &Stack, tick: u64, status: u8, id: SiteId, name: &[u8]) -> u64 {
    let (is_on, mutes) = decide(status, stack.is_muted());
    stack.begin(tick, is_on.then_some(id), mutes, name)
}

/// Whether an event or a value of this site is recorded here.
unsafe fn is_on(site: *const Site) -> bool {
    // SAFETY: the caller says so.
    IS_ON.load(Ordering::Relaxed) && decide(unsafe { Site::of(site) }.status, stack().is_muted()).0
}

/// Records an event, with a runtime name or an empty one.
///
/// # Safety
///
/// The site is a static of a header, and the name ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_easy_event(site: *const Site, name: *const c_char) {
    // SAFETY: the caller says so.
    unsafe {
        if is_on(site) {
            traceloom_event(site, name);
        }
    }
}

/// Records a value.
///
/// # Safety
///
/// As for [`traceloom_value`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_easy_value(site: *const Site, value: *const Value) {
    // SAFETY: the caller says so.
    unsafe {
        if is_on(site) {
            traceloom_value(site, value);
        }
    }
}

/// Records a block whose times are known.
///
/// # Safety
///
/// The site is a static of a header, and the name ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_easy_block(site: *const Site, name: *const c_char, begin: u64, end: u64) {
    // SAFETY: the caller says so.
    if let (true, Some(id)) = unsafe { (is_on(site), id_of(site)) } {
        // SAFETY: the caller says so.
        let name = cut(unsafe { bytes(name) });
        put(Kind::Block, id, Weight::Span, ([begin, end], name));
    }
}

/// Starts or stops capturing blocks; captured blocks are kept for [`traceloom_easy_dump`].
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_easy_enable(is_enabled: bool) -> c_int {
    if IS_ENABLED.swap(is_enabled, Ordering::SeqCst) == is_enabled {
        return 0;
    }
    let outcome = match (traceloom_record::writes_to(Slot::Prof), is_enabled) {
        (true, _) => traceloom_record::pause_prof(!is_enabled).map_err(|error| error.to_string()),
        // EasyProfiler keeps every block, so threads wait for space; larger rings make that rare.
        (false, true) => join(Recorder::new().prof_later().spans(Policy::Block).ring_bytes(RING_BYTES)),
        (false, false) => Ok(()),
    };
    turn();
    code(outcome)
}

fn turn() {
    let is_on = IS_ENABLED.load(Ordering::SeqCst) || IS_LISTENING.load(Ordering::SeqCst);
    IS_ON.store(is_on, Ordering::SeqCst);
}

/// Whether blocks are being captured.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_easy_is_enabled() -> bool {
    IS_ENABLED.load(Ordering::Relaxed)
}

/// Stops capturing and writes the captured blocks to a file; returns the number of blocks, events and values, or 0 on
/// failure.
///
/// # Safety
///
/// The path ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_easy_dump(filename: *const c_char) -> u32 {
    traceloom_easy_enable(false);
    // SAFETY: the caller says so.
    let Some(path) = (unsafe { path(filename) }) else { return 0 };
    match traceloom_record::save_prof(path) {
        Ok(blocks) => blocks.try_into().unwrap_or(u32::MAX),
        Err(error) => {
            code::<(), _>(Err(error));
            0
        }
    }
}

/// Lets EasyProfiler's GUI and `traceloom capture` capture this program over a port on loopback.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_easy_listen(port: u16) -> c_int {
    if IS_LISTENING.load(Ordering::SeqCst) {
        return 0;
    }
    let outcome = join(Recorder::new().listen(port));
    IS_LISTENING.store(outcome.is_ok(), Ordering::SeqCst);
    turn();
    code(outcome)
}

/// Closes the port.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_easy_stop_listen() -> c_int {
    if !IS_LISTENING.swap(false, Ordering::SeqCst) {
        return 0;
    }
    turn();
    code(traceloom_record::leave(Slot::Listen))
}

/// Whether the port is open.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_easy_is_listening() -> bool {
    IS_LISTENING.load(Ordering::Relaxed)
}

/// Names this thread, once; returns its name.
///
/// # Safety
///
/// The name ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_easy_thread(name: *const c_char) -> *const c_char {
    thread_local!(static NAME: OnceCell<CString> = const { OnceCell::new() });
    let named = NAME.try_with(|own| {
        let name = own.get_or_init(|| {
            // SAFETY: the caller says so.
            let text = unsafe {
                traceloom_thread_name(name);
                text(name)
            };
            stack().is_main.set(text == "Main");
            CString::new(text.into_owned()).unwrap_or_default()
        });
        name.as_ptr()
    });
    named.unwrap_or(c"".as_ptr())
}

/// Whether this thread is named Main.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_easy_is_main_thread() -> bool {
    stack().is_main.get()
}

/// The time of the last frame, which is the last outermost block.
pub const TRACELOOM_FRAME_LAST: c_int = 0;
/// The time of the longest frame since the previous request.
pub const TRACELOOM_FRAME_MAX: c_int = 1;
/// The average time of frames since the previous request.
pub const TRACELOOM_FRAME_AVERAGE: c_int = 2;

/// A frame time of this thread, or of the thread named Main, in ticks.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_easy_frame_time(which: c_int, of_main: bool) -> u64 {
    let average = |sum: u64, count: u64| sum.checked_div(count).unwrap_or(0);
    if of_main {
        return match which {
            TRACELOOM_FRAME_LAST => MAIN_FRAMES.last.load(Ordering::Relaxed),
            TRACELOOM_FRAME_MAX => MAIN_FRAMES.max.swap(0, Ordering::Relaxed),
            _ => average(MAIN_FRAMES.sum.swap(0, Ordering::Relaxed), MAIN_FRAMES.count.swap(0, Ordering::Relaxed)),
        };
    }
    let stack = stack();
    let frames = stack.frames.get();
    match which {
        TRACELOOM_FRAME_LAST => frames.last,
        TRACELOOM_FRAME_MAX => {
            stack.frames.set(Frames { max: 0, ..frames });
            frames.max
        }
        _ => {
            stack.frames.set(Frames { sum: 0, count: 0, ..frames });
            average(frames.sum, frames.count)
        }
    }
}

/// The current time, in ticks.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_tick() -> u64 {
    traceloom_record::tick()
}

/// Converts ticks to nanoseconds.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_ticks_to_ns(ticks: u64) -> u64 {
    ticks_to_ns(ticks)
}
