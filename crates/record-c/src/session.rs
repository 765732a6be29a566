//! Starting, asking and stopping the recorder, and what it wants to know of the process.

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

/// What to record and where to. All zeros are the defaults; NULL leaves a file out.
#[derive(Debug)]
#[repr(C)]
pub struct Options {
    /// Log entries go here.
    pub clog: *const c_char,
    /// Spans, events and values go here when the recorder stops.
    pub prof: *const c_char,
    /// Everything goes here.
    pub wtf_trace: *const c_char,
    /// What is on, such as `info,src/net.c=debug`; NULL for everything.
    pub filter: *const c_char,
    /// Bytes of a thread's ring; 0 for 1 MiB.
    pub ring_bytes: u32,
    /// The port for EasyProfiler's GUI and `traceloom capture`; 0 for none.
    pub port: u16,
    /// Log entries that find no room are dropped and counted; else the thread waits.
    pub drop_logs: bool,
    /// A thread waits until there is room for its spans; else they are dropped and counted.
    pub keep_spans: bool,
    /// Signals that end the process wait until everything is written, 2 s at most.
    pub crash_handler: bool,
}

/// Starts, or adds these files to what is recorded already; 0, or -1 and a reason.
///
/// # Safety
///
/// The texts of the options end in zero bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn traceloom_start(options: *const Options) -> c_int {
    // SAFETY: the caller says so.
    let Some(options) = (unsafe { options.as_ref() }) else { return code::<(), _>(Err("the options are missing")) };
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
            return code::<(), _>(Err("the filter names a level that does not exist"));
        };
        recorder = recorder.filter(filter);
    }
    if options.crash_handler && traceloom_crash_handler() != 0 {
        return -1;
    }
    code(join(recorder))
}

/// Starts, or adds to what runs.
pub(crate) fn join(recorder: Recorder) -> Result<(), String> {
    watch_process();
    recorder.join().map_err(|error| error.to_string())
}

/// A path of C.
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

/// The recorder stops with the process, and a child gets files of its own.
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
    // A child that only wants to run another program has nothing to write.
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

/// Writes everything and closes all files. Programs that end by `exit` need not call it.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_stop() -> c_int {
    code(traceloom_record::stop())
}

/// Waits until the kernel has everything that was recorded before: it survives the end of the process.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_flush() -> c_int {
    code(traceloom_record::flush())
}

/// Waits until the disk has everything that was recorded before: it survives a loss of power.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_sync() -> c_int {
    code(traceloom_record::sync())
}

/// Goes on in another log.
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
    code(filter.map(traceloom_record::set_filter).ok_or("the filter names a level that does not exist"))
}

/// Whether anything is recorded.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_is_recording() -> bool {
    traceloom_record::is_recording()
}

/// Makes the ring of this thread now, so that its first record does not have to.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_prepare_thread() {
    prepare_thread();
}

/// What was recorded since the start, and what was not.
#[derive(Debug)]
#[repr(C)]
pub struct Stats {
    /// Records that reached the writer.
    pub records: u64,
    /// Records that found no room.
    pub dropped: u64,
    /// Calls after the end of the recorder or of their thread.
    pub late: u64,
    /// Texts that were longer than a record can be.
    pub cut: u64,
    /// Records that could not be written.
    pub lost: u64,
    /// Errors of files.
    pub errors: u64,
    /// Bytes handed to the kernel.
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
