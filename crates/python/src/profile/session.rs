//! The state that callbacks write to.
//!
//! Everything here is accessed only by a thread that holds the interpreter lock.

use std::{
    cell::{Cell, UnsafeCell},
    sync::{Arc, Mutex, PoisonError, mpsc::SyncSender},
    thread::JoinHandle,
    time::{SystemTime, UNIX_EPOCH},
};

use hashbrown::HashMap;
use pyo3::{ffi, prelude::*, types::PyType};

use super::timer::{Timer, ask};

/// Number of events per chunk.
const CHUNK: usize = 4096;

/// An event in a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    /// Raw time since the previous event, without the overhead of the profiler.
    pub(super) elapsed: u64,
    /// Number of the code.
    pub(super) code: u32,
    /// The line that starts, or [`ENTER`], [`ENTER_NATIVE`] or [`LEAVE`].
    pub(super) step: u32,
}

/// A frame is entered, or resumed.
pub(super) const ENTER: u32 = u32::MAX;
/// A frame is left, or suspended.
pub(super) const LEAVE: u32 = u32::MAX - 1;

/// A function that is not written in Python is called.
pub(super) const ENTER_NATIVE: u32 = u32::MAX - 2;
/// The highest line that an event can hold.
pub(super) const MAX_LINE: u32 = u32::MAX - 3;

/// A message to the writer.
pub(super) enum Message {
    /// A thread starts; threads are numbered from 0.
    Thread { id: u32, unix_seconds: f64 },
    /// Events of a thread.
    Events { thread: usize, events: Vec<Event> },
    /// The recording ended; raw time of the overhead of the profiler.
    End { overhead: u64 },
}

/// The properties of a code object or a function that is not written in Python that a file contains.
#[derive(Clone, Debug)]
pub(super) struct Code {
    /// `None` if it is not written in Python.
    pub(super) file: Option<String>,
    pub(super) module: String,
    pub(super) name: String,
    pub(super) first_line: u32,
    pub(super) last_line: u32,
}

impl Code {
    fn unknown() -> Self {
        let unknown = || "<unknown>".to_owned();
        Self { file: Some(unknown()), module: unknown(), name: unknown(), first_line: 1, last_line: 1 }
    }
}

/// All codes by number; the writer reads it.
pub(super) type Codes = Vec<Code>;

/// A running recording.
pub(super) struct Session {
    sender: SyncSender<Message>,
    codes: Arc<Mutex<Codes>>,
    /// Numbers by address; objects are kept alive so that their addresses are not reused.
    numbers: HashMap<usize, Option<u32>>,
    kept: Vec<Py<PyAny>>,
    timer: Timer,
    own: String,
    threads: Vec<*mut Thread>,
    writer: JoinHandle<traceloom::Result<()>>,
}

/// Events of a thread that were not sent yet. It stays allocated, because the thread keeps its address.
struct Thread {
    /// Whether it belongs to the current session.
    is_open: bool,
    number: usize,
    /// End time of the last callback.
    last: u64,
    overhead: u64,
    last_code: Numbered,
    last_native: Numbered,
    events: Vec<Event>,
}

/// An address, and the number of the code there; `None` if it is our own code.
#[derive(Clone, Copy, Default)]
struct Numbered {
    address: usize,
    number: Option<u32>,
}

/// An object that needs a number.
#[derive(Clone, Copy)]
struct Callee {
    /// Its identity: the object itself, or the C function of a bound method.
    address: usize,
    object: *mut ffi::PyObject,
}

/// A value that is accessed only with the interpreter lock.
struct Attached<T>(UnsafeCell<T>);

#[allow(unsafe_code)]
// SAFETY: the interpreter lock orders all accesses; builds of CPython without it refuse modules of the limited API.
unsafe impl<T> Sync for Attached<T> {}

static SESSION: Attached<Option<Session>> = Attached(UnsafeCell::new(None));

thread_local! {
    static CURRENT: Cell<*mut Thread> = const { Cell::new(std::ptr::null_mut()) };
}

/// The session, as long as no other Python code runs.
#[allow(unsafe_code)]
fn session<'s>(_: Python<'_>) -> &'s mut Option<Session> {
    // SAFETY: the caller is attached, and no function of this module keeps the reference while it calls another one.
    unsafe { &mut *SESSION.0.get() }
}

impl Session {
    pub(super) fn new(
        sender: SyncSender<Message>,
        codes: Arc<Mutex<Codes>>,
        timer: Timer,
        own: String,
        writer: JoinHandle<traceloom::Result<()>>,
    ) -> Self {
        Self { sender, codes, numbers: HashMap::new(), kept: Vec::new(), timer, own, threads: Vec::new(), writer }
    }

    /// Adds the current thread.
    #[cold]
    fn open_thread(&mut self, thread: *mut Thread, now: u64) -> *mut Thread {
        let fresh = Thread {
            is_open: true,
            number: self.threads.len(),
            last: now,
            overhead: 0,
            last_code: Numbered::default(),
            last_native: Numbered::default(),
            events: Vec::new(),
        };
        let unix_seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        _ = self.sender.send(Message::Thread { id: thread_id(), unix_seconds });
        let thread = if thread.is_null() { Box::into_raw(Box::new(fresh)) } else { replaced(thread, fresh) };
        self.threads.push(thread);
        CURRENT.set(thread);
        thread
    }

    /// The number of a code; `None` if it is our own code.
    fn add(&mut self, callee: Callee, code: Bound<'_, PyAny>, about: Code) -> Option<u32> {
        let is_own = about.file.as_ref().is_some_and(|file| file.starts_with(&self.own));
        let number = (!is_own).then(|| {
            let mut codes = self.codes.lock().unwrap_or_else(PoisonError::into_inner);
            codes.push(about);
            (codes.len() - 1) as u32
        });
        self.numbers.insert(callee.address, number);
        if callee.address == callee.object as usize {
            self.kept.push(code.unbind());
        }
        number
    }
}

/// The number of a callee; `None` for our own code. Describing a callee may run other threads, so no reference is held
/// meanwhile.
#[cold]
fn number_of(py: Python<'_>, callee: Callee) -> Option<u32> {
    if let Some(known) = session(py).as_ref()?.numbers.get(&callee.address) {
        return *known;
    }
    let object = borrowed(py, callee.object);
    let described =
        if object.hasattr("co_code").unwrap_or(false) { describe(&object) } else { describe_native(&object) };
    let about = described.unwrap_or_else(|_| Code::unknown());
    session(py).as_mut()?.add(callee, object, about)
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

/// Records that a frame of a code is entered or left, or that a line of it starts.
#[inline]
#[allow(unsafe_code)]
pub(super) fn record(py: Python<'_>, code: *mut ffi::PyObject, step: u32) {
    let Some((thread, now)) = current(py) else { return };
    // SAFETY: a thread's record is never freed, and only its own thread uses it while it holds the interpreter.
    let known = unsafe { (*thread).last_code };
    let fresh = numbered(py, known, Callee { address: code as usize, object: code });
    // SAFETY: as above.
    unsafe { (*thread).last_code = fresh };
    store(py, thread, Step { now, code: fresh.number, step });
}

/// Records that a code calls a function that is not written in Python, or that it returned.
#[inline]
#[allow(unsafe_code)]
pub(super) fn record_native(
    py: Python<'_>,
    code: *mut ffi::PyObject,
    (address, object): (usize, *mut ffi::PyObject),
    step: u32,
) {
    let Some((thread, now)) = current(py) else { return };
    // SAFETY: as in `record`.
    let (caller, called) = unsafe { ((*thread).last_code, (*thread).last_native) };
    if numbered(py, caller, Callee { address: code as usize, object: code }).number.is_none() {
        return;
    }
    let fresh = numbered(py, called, Callee { address, object });
    // SAFETY: as in `record`.
    unsafe { (*thread).last_native = fresh };
    store(py, thread, Step { now, code: fresh.number, step });
}

/// The record of this thread, and the time; `None` if nothing is being recorded.
#[inline]
#[allow(unsafe_code)]
fn current(py: Python<'_>) -> Option<(*mut Thread, u64)> {
    let now = match &session(py).as_ref()?.timer {
        Timer::Counter(clock) => clock.raw(),
        Timer::Python(timer) => ask(py, &timer.clone_ref(py))?,
    };
    let thread = CURRENT.get();
    // SAFETY: as in `record`.
    if thread.is_null() || !unsafe { (*thread).is_open } {
        return Some((session(py).as_mut()?.open_thread(thread, now), now));
    }
    Some((thread, now))
}

#[inline]
fn numbered(py: Python<'_>, known: Numbered, callee: Callee) -> Numbered {
    if known.address == callee.address {
        return known;
    }
    Numbered { address: callee.address, number: number_of(py, callee) }
}

/// An event at a raw time, unless its code is our own.
struct Step {
    now: u64,
    code: Option<u32>,
    step: u32,
}

#[inline]
#[allow(unsafe_code)]
fn store(py: Python<'_>, thread: *mut Thread, Step { now, code, step }: Step) {
    let (Some(running), Some(code)) = (session(py), code) else { return };
    // SAFETY: as in `record`; nothing else runs until this returns.
    let thread = unsafe { &mut *thread };
    thread.events.push(Event { elapsed: now.saturating_sub(thread.last), code, step });
    if thread.events.len() == CHUNK {
        let events = std::mem::replace(&mut thread.events, Vec::with_capacity(CHUNK));
        // A failed writer reports its error at the end.
        _ = running.sender.send(Message::Events { thread: thread.number, events });
    }
    // With a Python timer, the overhead is not subtracted.
    thread.last = if let Timer::Counter(clock) = &running.timer { clock.raw() } else { now };
    thread.overhead += thread.last.saturating_sub(now);
}

pub(super) fn is_running(py: Python<'_>) -> bool {
    session(py).is_some()
}

/// Starts a session; the current thread is the first one.
pub(super) fn begin(py: Python<'_>, fresh: Session) {
    *session(py) = Some(fresh);
    current(py);
}

/// Ends the session, sends the remaining events, and returns the writer.
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

/// Discards the session in the child of a fork, because its writer runs in the parent.
#[allow(unsafe_code)]
pub(super) fn abandon(py: Python<'_>) {
    let Some(session) = session(py).take() else { return };
    for thread in &session.threads {
        // SAFETY: as in `end`.
        unsafe { (**thread).is_open = false };
    }
    std::mem::forget(session);
}

/// A built-in function or a method of a built-in type, called as a Python program would call it.
fn describe_native(function: &Bound<'_, PyAny>) -> PyResult<Code> {
    let name = function.getattr("__qualname__")?.extract()?;
    let own = function.getattr("__module__").and_then(|module| module.extract::<String>());
    let module = own.or_else(|_| {
        let of = function.getattr("__objclass__").or_else(|_| {
            let of = function.getattr("__self__")?;
            PyResult::Ok(if of.is_instance_of::<PyType>() { of } else { of.get_type().into_any() })
        })?;
        of.getattr("__module__")?.extract()
    });
    let module = module.unwrap_or_else(|_| "builtins".into());
    Ok(Code { file: None, module, name, first_line: 0, last_line: 0 })
}

fn describe(code: &Bound<'_, PyAny>) -> PyResult<Code> {
    let text = |name: &str| code.getattr(name)?.extract::<String>();
    let first_line: u32 = code.getattr("co_firstlineno")?.extract().unwrap_or(1);
    let mut last_line = first_line;
    for entry in code.call_method0("co_lines")?.try_iter()? {
        let (_, _, line): (u32, u32, Option<u32>) = entry?.extract()?;
        last_line = last_line.max(line.unwrap_or(0));
    }
    let mut file = text("co_filename")?;
    // A module that is frozen into the interpreter contains the path of its source.
    if file.starts_with("<frozen ") {
        file = global(code.py(), "__file__").unwrap_or(file);
    }
    Ok(Code {
        file: Some(file),
        module: global(code.py(), "__name__").unwrap_or_else(|| "__main__".into()),
        name: text("co_qualname")?,
        first_line: first_line.max(1),
        last_line: last_line.max(1),
    })
}

/// A variable of the module of the running code.
#[allow(unsafe_code)]
fn global(py: Python<'_>, name: &str) -> Option<String> {
    // SAFETY: the function returns a borrowed dictionary of the running frame, or null if there is none.
    let globals = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetGlobals()) };
    globals?.get_item(name).ok()?.extract().ok()
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
