//! The crash handler: asks the writer to write everything, waits, and then lets the signal take its course.

use std::{
    ffi::c_int,
    mem::MaybeUninit,
    ptr,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicPtr, Ordering},
    },
};

use traceloom_record::foreign::{ask_in_crash, is_crash_answered, is_idle_child};

use crate::error::code;

/// Signals that mean a crash.
const SIGNALS: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];
/// Time limit for the writer, in milliseconds.
const PATIENCE: u32 = 2000;
const STACK_BYTES: usize = 64 << 10;

/// The previous actions of the signals, in the order of [`SIGNALS`].
static BEFORE: [AtomicPtr<libc::sigaction>; SIGNALS.len()] = [const { AtomicPtr::new(ptr::null_mut()) }; SIGNALS.len()];

/// Delays crash signals until everything is written, for at most 2 s; then their previous actions are taken. Returns 0,
/// or -1 on failure; see `traceloom_error`.
#[unsafe(no_mangle)]
pub extern "C" fn traceloom_crash_handler() -> c_int {
    static IS_INSTALLED: Mutex<bool> = Mutex::new(false);
    let mut is_installed = IS_INSTALLED.lock().unwrap_or_else(PoisonError::into_inner);
    if *is_installed {
        return 0;
    }
    for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
        match install(signal) {
            Ok(action) => before.store(Box::into_raw(Box::new(action)), Ordering::Release),
            Err(error) => return code::<(), _>(Err(error)),
        }
    }
    give_stack();
    *is_installed = true;
    0
}

fn install(signal: c_int) -> std::io::Result<libc::sigaction> {
    let mut before = MaybeUninit::uninit();
    // SAFETY: the action is zero but for its handler, flags and empty mask; the system fills `before` if it returns 0.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(c_int) = handle;
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigemptyset(&mut action.sa_mask);
        if libc::sigaction(signal, &action, before.as_mut_ptr()) != 0 {
            return Err(std::io::Error::last_os_error());
        }
        Ok(before.assume_init())
    }
}

/// A stack for the handler, in case this thread overflows its stack.
fn give_stack() {
    let memory = Box::leak(vec![0u8; STACK_BYTES].into_boxed_slice());
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: STACK_BYTES };
    // SAFETY: the memory is never freed; a thread that has such a stack keeps it.
    unsafe {
        let mut before: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(ptr::null(), &mut before);
        if before.ss_flags & libc::SS_DISABLE != 0 {
            libc::sigaltstack(&stack, ptr::null_mut());
        }
    }
}

/// Calls only functions that are allowed in a handler: atomics, `gettid`, `nanosleep`, `sigaction` and `raise`.
extern "C" fn handle(signal: c_int) {
    static IS_FIRST: AtomicBool = AtomicBool::new(true);
    // SAFETY: it has no arguments.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) };
    // The writer cannot wait for itself.
    let is_asked = !IS_FIRST.load(Ordering::SeqCst);
    let has_writer = (is_asked || traceloom_record::is_recording()) && !is_idle_child();
    if has_writer && thread as u64 != traceloom_record::writer_thread() {
        if IS_FIRST.swap(false, Ordering::SeqCst) {
            ask_in_crash();
        }
        let pause = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        let mut waited = 0;
        while !is_crash_answered() && waited < PATIENCE {
            // SAFETY: the time is valid, and the remaining time is not requested.
            unsafe { libc::nanosleep(&pause, ptr::null_mut()) };
            waited += 1;
        }
    }
    let before = SIGNALS.iter().position(|known| *known == signal).and_then(|at| BEFORE.get(at));
    let before = before.map_or(ptr::null_mut(), |before| before.load(Ordering::Acquire));
    // SAFETY: what the signal did before is what the system said; the signal waits until this handler returns.
    unsafe {
        if before.is_null() {
            libc::signal(signal, libc::SIG_DFL);
        } else {
            libc::sigaction(signal, before, ptr::null_mut());
        }
        libc::raise(signal);
    }
}
