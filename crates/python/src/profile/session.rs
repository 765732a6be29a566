//! What callbacks write to.
//!
//! Everything here is touched only by a thread that holds the interpreter, which is the lock.

use std::{
    cell::{Cell, UnsafeCell},
    sync::{Arc, Mutex, PoisonError, mpsc::SyncSender},
    thread::JoinHandle,
    time::{SystemTime, UNIX_EPOCH},
};

use hashbrown::HashMap;
use pyo3::{ffi, prelude::*};

/// Events that are handed over together.
const CHUNK: usize = 4096;

/// Something that happened in a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// Raw time since the event before, without what the profiler took.
    pub(super) elapsed: u64,
    /// Number of the code.
    pub(super) code: u32,
    /// The line that begins, or [`ENTER`] or [`LEAVE`].
    pub(super) step: u32,
}

/// A frame is entered, or resumed.
pub(super) const ENTER: u32 = u32::MAX;
/// A frame is left, or suspended.
pub(super) const LEAVE: u32 = u32::MAX - 1;

/// What the writer receives.
pub(super) enum Message {
    /// A thread begins; threads are numbered from 0.
    Thread { id: u32, unix_seconds: f64 },
    /// Events of a thread.
    Events { thread: usize, events: Vec<Event> },
    /// The recording is over; raw time that the profiler took.
    End { overhead: u64 },
}

/// A code object, as far as a file tells about it.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) file: String,
    pub(super) module: String,
    pub(super) name: String,
    pub(super) first_line: u32,
    pub(super) last_line: u32,
}

impl Code {
    fn unknown() -> Self {
        let unknown = || "<unknown>".to_owned();
        Self { file: unknown(), module: unknown(), name: unknown(), first_line: 1, last_line: 1 }
    }
}

/// All codes by number; the writer reads it.
pub(super) type Codes = Vec<Code>;

/// A running recording.
pub(super) struct Session {
    sender: SyncSender<Message>,
    codes: Arc<Mutex<Codes>>,
    /// Numbers by address; each address is kept from being used again.
    numbers: HashMap<usize, Option<u32>>,
    kept: Vec<Py<PyAny>>,
    clock: quanta::Clock,
    own: String,
    threads: Vec<*mut Thread>,
    writer: JoinHandle<traceloom::Result<()>>,
}

/// What a thread has recorded and not yet handed over. It stays allocated, because the thread keeps its address.
struct Thread {
    /// Whether it belongs to the session that runs.
    is_open: bool,
    number: usize,
    /// When the last callback ended.
    last: u64,
    overhead: u64,
    last_code: *mut ffi::PyObject,
    last_number: Option<u32>,
    events: Vec<Event>,
}

/// A value that only a thread with the interpreter touches.
struct Attached<T>(UnsafeCell<T>);

#[allow(unsafe_code)]
// SAFETY: the interpreter lock orders all accesses; builds of CPython without it refuse modules of the limited API.
unsafe impl<T> Sync for Attached<T> {}

static SESSION: Attached<Option<Session>> = Attached(UnsafeCell::new(None));

thread_local! {
    static CURRENT: Cell<*mut Thread> = const { Cell::new(std::ptr::null_mut()) };
}

/// The session, for as long as nothing else of Python runs.
#[allow(unsafe_code)]
fn session<'s>(_: Python<'_>) -> &'s mut Option<Session> {
    // SAFETY: the caller is attached, and no function of this module keeps the reference while it calls another one.
    unsafe { &mut *SESSION.0.get() }
}

impl Session {
    pub(super) fn new(
        sender: SyncSender<Message>,
        codes: Arc<Mutex<Codes>>,
        clock: quanta::Clock,
        own: String,
        writer: JoinHandle<traceloom::Result<()>>,
    ) -> Self {
        Self { sender, codes, numbers: HashMap::new(), kept: Vec::new(), clock, own, threads: Vec::new(), writer }
    }

    /// Takes the current thread in.
    #[cold]
    fn open_thread(&mut self, thread: *mut Thread) -> *mut Thread {
        let fresh = Thread {
            is_open: true,
            number: self.threads.len(),
            last: self.clock.raw(),
            overhead: 0,
            last_code: std::ptr::null_mut(),
            last_number: None,
            events: Vec::new(),
        };
        let unix_seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        _ = self.sender.send(Message::Thread { id: thread_id(), unix_seconds });
        let thread = if thread.is_null() { Box::into_raw(Box::new(fresh)) } else { replaced(thread, fresh) };
        self.threads.push(thread);
        CURRENT.set(thread);
        thread
    }

    /// Gives a code its number, or none if it is our own.
    fn add(&mut self, code: Bound<'_, PyAny>, about: Code) -> Option<u32> {
        let number = (!about.file.starts_with(&self.own)).then(|| {
            let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
            codes.push(about);
            (codes.len() - 1) as u32
        });
        self.numbers.insert(code.as_ptr() as usize, number);
        self.kept.push(code.unbind());
        number
    }
}

/// The number of a code, or none for our own. Describing one may run other threads, so no reference is kept over it.
#[cold]
fn number_of(py: Python<'_>, code: *mut ffi::PyObject) -> Option<u32> {
    if let Some(known) = session(py).as_ref()?.numbers.get(&(code as usize)) {
        return *known;
    }
    let code = borrowed(py, code);
    let about = describe(&code).unwrap_or_else(|_| Code::unknown());
    session(py).as_mut()?.add(code, about)
}

#[allow(unsafe_code)]
fn replaced(thread: *mut Thread, fresh: Thread) -> *mut Thread {
    // SAFETY: the pointer came from `Box::into_raw` in this thread and is never freed.
    unsafe { *thread = fresh };
    thread
}

#[allow(unsafe_code)]
fn borrowed(py: Python<'_>, object: *mut ffi::PyObject) -> Bound<'_, PyAny> {
    // SAFETY: CPython passes a live object to the callback that this runs in.
    unsafe { Bound::from_borrowed_ptr(py, object) }
}

/// Stores one event.
#[inline]
#[allow(unsafe_code)]
pub(super) fn record(py: Python<'_>, code: *mut ffi::PyObject, step: u32) {
    let Some(running) = session(py) else { return };
    let now = running.clock.raw();
    let mut current = CURRENT.get();
    // SAFETY: a thread's record is never freed, and only its own thread uses it while it holds the interpreter.
    let last_code = unsafe {
        if current.is_null() || !(*current).is_open {
            current = running.open_thread(current);
        }
        (*current).last_code
    };
    let fresh = if last_code == code { None } else { Some(number_of(py, code)) };
    let Some(running) = session(py) else { return };
    // SAFETY: as above; nothing else runs until this returns.
    let thread = unsafe { &mut *current };
    if let Some(number) = fresh {
        (thread.last_code, thread.last_number) = (code, number);
    }
    let Some(code) = thread.last_number else { return };
    thread.events.push(Event { elapsed: now.saturating_sub(thread.last), code, step });
    if thread.events.len() == CHUNK {
        let events = std::mem::replace(&mut thread.events, Vec::with_capacity(CHUNK));
        // A writer that failed says why at the end.
        _ = running.sender.send(Message::Events { thread: thread.number, events });
    }
    thread.last = running.clock.raw();
    thread.overhead += thread.last.saturating_sub(now);
}

pub(super) fn is_running(py: Python<'_>) -> bool {
    session(py).is_some()
}

/// Begins; the current thread is the first one.
pub(super) fn begin(py: Python<'_>, mut fresh: Session) {
    fresh.open_thread(CURRENT.get());
    *session(py) = Some(fresh);
}

/// Ends, hands over what is left, and gives the writer.
#[allow(unsafe_code)]
pub(super) fn end(py: Python<'_>) -> Option<JoinHandle<traceloom::Result<()>>> {
    let session = session(py).take()?;
    let mut overhead = 0;
    for thread in &session.threads {
        // SAFETY: records are never freed, and their threads wait for the interpreter that we hold.
        let thread = unsafe { &mut **thread };
        thread.is_open = false;
        overhead += thread.overhead;
        let events = std::mem::take(&mut thread.events);
        _ = session.sender.send(Message::Events { thread: thread.number, events });
    }
    _ = session.sender.send(Message::End { overhead });
    Some(session.writer)
}

/// Forgets the session in the child of a fork: its writer runs in the parent.
#[allow(unsafe_code)]
pub(super) fn abandon(py: Python<'_>) {
    let Some(session) = session(py).take() else { return };
    for thread in &session.threads {
        // SAFETY: as in `end`.
        unsafe { (**thread).is_open = false };
    }
    std::mem::forget(session);
}

fn describe(code: &Bound<'_, PyAny>) -> PyResult<Code> {
    let text = |name: &str| code.getattr(name)?.extract::<String>();
    let first_line: u32 = code.getattr("co_firstlineno")?.extract().unwrap_or(1);
    let mut last_line = first_line;
    for entry in code.call_method0("co_lines")?.try_iter()? {
        let (_, _, line): (u32, u32, Option<u32>) = entry?.extract()?;
        last_line = last_line.max(line.unwrap_or(0));
    }
    Ok(Code {
        file: text("co_filename")?,
        module: module(code.py()),
        name: text("co_qualname")?,
        first_line: first_line.max(1),
        last_line: last_line.max(1),
    })
}

/// The module whose code runs.
#[allow(unsafe_code)]
fn module(py: Python<'_>) -> String {
    // SAFETY: the function gives a borrowed dictionary of the frame that runs, or null where none does.
    let globals = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetGlobals()) };
    let name = globals.and_then(|globals| globals.get_item("__name__").ok()?.extract().ok());
    name.unwrap_or_else(|| "__main__".into())
}

/// The number that the system gives to this thread.
fn thread_id() -> u32 {
    #[cfg(target_os = "linux")]
    if let Ok(own) = std::fs::read_link("/proc/thread-self")
        && let Some(id) = own.file_name().and_then(|name| name.to_str()?.parse().ok())
    {
        return id;
    }
    std::process::id()
}
