//! Starts, queries and stops the recorder, and hooks it into the process.

use std::{
    cell::RefCell,
    ffi::{OsStr, c_char, c_int},
    os::unix::ffi::OsStrExt,
    path::PathBuf,
    sync::Once,
};

use traceloom_record::{
    Filter, Policy, Recorder,
    foreign::{ForkGuard, before_fork, enter_child, is_idle_child, prepare_thread},
};

use crate::{crash::traceloom_crash_handler, error::code, site::text};

/// Options of the recorder. All zeros are the defaults; a NULL path means that the file is not written.
#[derive(Debug)]
#[repr(C)]
pub struct Options {
    /// File for log entries.
    pub clog: *const c_char,
    /// File for spans, events and values, written when the recorder stops.
    pub prof: *const c_char,
    /// File for everything.
    pub wtf_trace: *const c_char,
    /// Filter, such as `info,src/net.c=debug`; NULL records everything.
    pub filter: *const c_char,
    /// Bytes of the ring of each thread; 0 means 1 MiB.
    pub ring_bytes: u32,
    /// Port for EasyProfiler's GUI and `traceloom capture`; 0 means none.
    pub port: u16,
    /// If the ring is full, log entries are dropped and counted; otherwise the thread waits.
    pub drop_logs: bool,
    /// If the ring is full, the thread waits to record its spans; otherwise they are dropped and counted.
    pub keep_spans: bool,
    /// Crash signals are delayed until everything is written, for at most 2 s.
    pub crash_handler: bool,
}

/// Starts the recorder, or adds these files if it is running. Returns 0, or -1 on failure; see `traceloom_error`.
///
/// # Safety
///
/// The texts of the options end in zero bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_start(options: *const Options) -> c_int {
    // SAFETY: the caller says so.
    let Some(options) = (unsafe { options.as_ref() }) else { return code::<(), _>(Err("the options are NULL")) };
    let mut recorder = Recorder::new();
    // SAFETY: the caller says so.
    let (clog, prof, wtf) = unsafe { (path(options.clog), path(options.prof), path(options.wtf_trace)) };
    recorder = clog.into_iter().fold(recorder, Recorder::clog);
    recorder = prof.into_iter().fold(recorder, Recorder::prof);
    recorder = wtf.into_iter().fold(recorder, Recorder::wtf_trace);
    if options.port != 0 {
        recorder = recorder.listen(options.port);
    }
    if options.ring_bytes != 0 {
        recorder = recorder.ring_bytes(options.ring_bytes as usize);
    }
    if options.drop_logs {
        recorder = recorder.logs(Policy::DropNewest);
    }
    if options.keep_spans {
        recorder = recorder.spans(Policy::Block);
    }
    if !options.filter.is_null() {
        // SAFETY: the caller says so.
        let Some(filter) = Filter::parse(&unsafe { text(options.filter) }) else {
            return code::<(), _>(Err("the filter contains an unknown level"));
        };
        recorder = recorder.filter(filter);
    }
    if options.crash_handler && traceloom_crash_handler() != 0 {
        return -1;
    }
    code(join(recorder))
}

/// Starts the recorder, or adds to a running one.
pub(crate) fn join(recorder: Recorder) -> Result<(), String> {
    watch_process();
    recorder.join().map_err(|error| error.to_string())
}

/// A path from C.
///
/// # Safety
///
/// It is NULL or ends in a zero byte.
pub(crate) unsafe fn path(path: *const c_char) -> Option<PathBuf> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller says so.
    let bytes = unsafe { std::ffi::CStr::from_ptr(path) }.to_bytes();
    (!bytes.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(bytes)))
}

/// The recorder stops with the process, and a forked child gets separate files.
fn watch_process() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the functions live as long as the library, which keeps itself loaded by what it runs in threads.
        unsafe {
            libc::atexit(at_exit);
            libc::pthread_atfork(Some(before), Some(after), Some(in_child));
        }
    });
}

extern "C" fn at_exit() {
    // A child that only runs another program has nothing to write.
    if !is_idle_child() {
        let _ = traceloom_record::stop();
    }
}

thread_local! {
    static FORK: RefCell<Option<ForkGuard>> = const { RefCell::new(None) };
}

unsafe extern "C" fn before() {
    let _ = FORK.try_with(|guard| guard.replace(Some(before_fork())));
}

unsafe extern "C" fn after() {
    let _ = FORK.try_with(|guard| guard.take());
}

unsafe extern "C" fn in_child() {
    let _ = FORK.try_with(|guard| guard.take());
    enter_child();
}

/// Writes everything and closes all files. Programs that call `exit` need not call this.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_stop() -> c_int {
    code(traceloom_record::stop())
}

/// Waits until everything recorded so far is written to the kernel, so that it survives the end of the process.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_flush() -> c_int {
    code(traceloom_record::flush())
}

/// Waits until everything recorded so far is on disk, so that it survives a power failure.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_sync() -> c_int {
    code(traceloom_record::sync())
}

/// Continues in a new log file.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_rotate() -> c_int {
    code(traceloom_record::rotate())
}

/// Turns sites on and off from now on: `info,src/net.c=debug,src/audio.c=off`.
///
/// # Safety
///
/// The text ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_filter(filter: *const c_char) -> c_int {
    // SAFETY: the caller says so.
    let filter = Filter::parse(&unsafe { text(filter) });
    code(filter.map(traceloom_record::set_filter).ok_or("the filter contains an unknown level"))
}

/// Whether the recorder is running.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_is_recording() -> bool {
    traceloom_record::is_recording()
}

/// Creates the ring of this thread now, instead of with its first record.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_prepare_thread() {
    prepare_thread();
}

/// Counts of recorded and lost records since the start.
#[derive(Debug)]
#[repr(C)]
pub struct Stats {
    /// Records that reached the writer.
    pub records: u64,
    /// Records dropped because the ring was full.
    pub dropped: u64,
    /// Calls after the end of the recorder or of the thread.
    pub late: u64,
    /// Texts that were cut because they exceeded the max length of a record.
    pub cut: u64,
    /// Records that could not be written.
    pub lost: u64,
    /// File errors.
    pub errors: u64,
    /// Bytes written to the kernel.
    pub bytes: u64,
}

/// Counts since the start.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_stats() -> Stats {
    let stats = traceloom_record::stats();
    Stats {
        records: stats.records,
        dropped: stats.dropped,
        late: stats.late,
        cut: stats.cut,
        lost: stats.lost,
        errors: stats.errors,
        bytes: stats.bytes,
    }
}
