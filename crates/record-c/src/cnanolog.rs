//! CNanoLog's functions; `include/cnanolog.h` declares them.

use std::{
    ffi::{CString, c_char, c_int},
    mem::MaybeUninit,
    path::{Path, PathBuf},
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use traceloom_record::{LogLines, Recorder, Slot, foreign::SiteState};

use crate::{
    error::code,
    log::traceloom_log,
    session::{join, path},
    site::{Site, TRACELOOM_DOUBLE, text, traceloom_level},
};

const ROTATE_DAILY: c_int = 1;
const OUTPUT_TEXT: c_int = 1;
const DEFAULT_PATTERN: &str = "[%t] [%l] [%f:%n] %m";
/// Rank of CNanoLog's custom levels: CNanoLog has no filter, so they are on whenever INFO is.
const CUSTOM_RANK: u8 = 20;

/// CNanoLog's `cnanolog_rotation_config_t`.
#[derive(Debug)]
#[repr(C)]
pub struct RotationConfig {
    policy: c_int,
    base_path: *const c_char,
    format: c_int,
    text_pattern: *const c_char,
}

/// CNanoLog's `cnanolog_stats_t`.
#[derive(Debug, Default)]
#[repr(C)]
pub struct CnanologStats {
    total_logs_written: u64,
    total_bytes_written: u64,
    dropped_logs: u64,
    compression_ratio_x100: u64,
    staging_buffers_active: u64,
    background_wakeups: u64,
}

/// Logs to this file.
///
/// # Safety
///
/// The path ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cnanolog_init(log_file_path: *const c_char) -> c_int {
    // SAFETY: the caller says so.
    let path = unsafe { path(log_file_path) };
    code(path.ok_or_else(|| "no path given for the log".to_owned()).and_then(|path| join(Recorder::new().clog(path))))
}

/// Logs according to the configuration.
///
/// # Safety
///
/// The texts of the configuration end in zero bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cnanolog_init_ex(config: *const RotationConfig) -> c_int {
    // SAFETY: the caller says so.
    let Some(config) = (unsafe { config.as_ref() }) else { return code::<(), _>(Err("the configuration is NULL")) };
    // SAFETY: the caller says so.
    let (path, pattern) = unsafe { (path(config.base_path), text(config.text_pattern).into_owned()) };
    let Some(base) = path else { return code::<(), _>(Err("no path given for the log")) };
    let pattern = if pattern.is_empty() { DEFAULT_PATTERN.to_owned() } else { pattern };
    let log = Log { base, pattern: (config.format == OUTPUT_TEXT).then_some(pattern) };
    let run = RUN.fetch_add(1, Ordering::SeqCst) + 1;
    if config.policy != ROTATE_DAILY {
        return code(join(log.recorder(log.base.clone())));
    }
    let outcome = log.open_today();
    if outcome.is_ok() {
        // Without the thread, the log stays in today's file.
        let _ = thread::Builder::new().name("traceloom-daily".to_owned()).spawn(move || log.follow_days(run));
    }
    code(outcome)
}

/// Counts calls of init and shutdown, so that the thread of an earlier log ends.
static RUN: AtomicU64 = AtomicU64::new(0);

/// A requested log.
struct Log {
    base: PathBuf,
    /// Pattern of a text log; `None` for a binary log.
    pattern: Option<String>,
}

impl Log {
    fn recorder(&self, path: PathBuf) -> Recorder {
        match self.pattern.clone() {
            Some(pattern) => Recorder::new().lines(LogLines { path, pattern, zone: seconds_east }),
            None => Recorder::new().clog(path),
        }
    }

    fn open_today(&self) -> Result<(), String> {
        join(self.recorder(dated(&self.base, &local_time(unix_now()))))
    }

    /// Switches to another file whenever the date changes.
    fn follow_days(&self, run: u64) {
        let mut today = local_time(unix_now()).tm_yday;
        while RUN.load(Ordering::SeqCst) == run {
            thread::sleep(Duration::from_millis(200));
            let day = local_time(unix_now()).tm_yday;
            if day != today && RUN.load(Ordering::SeqCst) == run && self.open_today().is_ok() {
                today = day;
            }
        }
    }
}

/// `NAME-YYYY-MM-DD.EXT`
fn dated(base: &Path, day: &libc::tm) -> PathBuf {
    let stem = base.file_stem().unwrap_or_default().to_string_lossy();
    let extension = base.extension().map(|extension| format!(".{}", extension.display())).unwrap_or_default();
    let (year, month) = (day.tm_year + 1900, day.tm_mon + 1);
    base.with_file_name(format!("{stem}-{year:04}-{month:02}-{:02}{extension}", day.tm_mday))
}

fn unix_now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

fn local_time(unix: i64) -> libc::tm {
    let mut time = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both addresses are valid, and a time of zeros is one, too.
    unsafe {
        libc::localtime_r(&unix, time.as_mut_ptr());
        time.assume_init()
    }
}

fn seconds_east(unix: i64) -> i32 {
    local_time(unix).tm_gmtoff as i32
}

/// Writes all remaining entries and closes the log.
#[unsafe(no_mangle)]
pub extern "C" fn cnanolog_shutdown() {
    RUN.fetch_add(1, Ordering::SeqCst);
    code(traceloom_record::leave(Slot::Clog).and(traceloom_record::leave(Slot::Lines)));
}

/// Counts since the start.
///
/// # Safety
///
/// `stats` points to writable memory for the result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cnanolog_get_stats(stats: *mut CnanologStats) {
    let counts = traceloom_record::stats();
    let answer = CnanologStats {
        total_logs_written: counts.records,
        total_bytes_written: counts.bytes,
        dropped_logs: counts.dropped,
        // The log is not compressed, so the ratio is constant.
        compression_ratio_x100: 100,
        staging_buffers_active: counts.rings,
        background_wakeups: 0,
    };
    if !stats.is_null() {
        // SAFETY: the caller says so.
        unsafe { stats.write(answer) };
    }
}

/// Resets the counts.
#[unsafe(no_mangle)]
pub extern "C" fn cnanolog_reset_stats() {
    traceloom_record::reset_stats();
}

/// Creates the ring of this thread now.
#[unsafe(no_mangle)]
pub extern "C" fn cnanolog_preallocate() {
    traceloom_record::foreign::prepare_thread();
}

/// Pins the writer thread to one processor.
#[unsafe(no_mangle)]
pub extern "C" fn cnanolog_set_writer_affinity(core_id: c_int) -> c_int {
    // After it has answered, the id of the writer thread is known.
    if let Err(error) = traceloom_record::flush() {
        return code::<(), _>(Err(error));
    }
    let writer = traceloom_record::writer_thread();
    let Some(core) = usize::try_from(core_id).ok().filter(|core| *core < libc::CPU_SETSIZE as usize) else {
        return code::<(), _>(Err("the processor does not exist"));
    };
    // SAFETY: the set is as large as it says, and the number was checked to be in it.
    let outcome = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(writer as libc::pid_t, size_of_val(&set), &set)
    };
    code(if outcome == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) })
}

/// Names a level.
///
/// # Safety
///
/// The name ends in a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cnanolog_register_level(name: *const c_char, level: u8) -> c_int {
    // SAFETY: the caller says so.
    unsafe { traceloom_level(level, CUSTOM_RANK, name) }
}

/// Sites of programs that were compiled with CNanoLog's own header.
static SITES: RwLock<Vec<&'static Site>> = RwLock::new(Vec::new());

/// Called by the macros of CNanoLog's own header once per site; returns its number.
///
/// # Safety
///
/// There are as many types as there are arguments, and texts end in zero bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _cnanolog_register_site(
    level: c_int,
    filename: *const c_char,
    line_number: u32,
    format: *const c_char,
    num_args: u8,
    arg_types: *const u8,
    text_pattern: *const c_char,
) -> u32 {
    // SAFETY: the caller says so.
    let texts = unsafe { [text(format), text(filename), text(text_pattern)] };
    // The library of the caller may be unloaded together with its texts.
    let [name, file, pattern] = texts.map(|text| CString::new(text.into_owned()).unwrap_or_default().into_raw());
    // SAFETY: the caller says so.
    let types: Box<[u8]> = unsafe { std::slice::from_raw_parts(arg_types, num_args.into()) }.into();
    let site = Box::leak(Box::new(Site {
        state: SiteState::new(),
        name,
        file,
        types: Box::leak(types).as_ptr(),
        pattern,
        line: line_number,
        color: 0,
        count: num_args,
        level: level as u8,
        status: 0,
    }));
    let mut sites = SITES.write().unwrap_or_else(PoisonError::into_inner);
    sites.push(site);
    sites.len() as u32 - 1
}

/// Called by the macros of CNanoLog's own header with their arguments, so that programs compiled with it only need to
/// be relinked.
///
/// # Safety
///
/// The arguments have the types that the site was registered with.
#[cfg(all(target_arch = "x86_64", unix))]
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _cnanolog_log_binary() {
    // The registers that can hold arguments are saved on the stack, because Rust has no variadic functions.
    std::arch::naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 160",
        "mov [rsp], rcx",
        "mov [rsp + 8], r8",
        "mov [rsp + 16], r9",
        "movups [rsp + 32], xmm0",
        "movups [rsp + 48], xmm1",
        "movups [rsp + 64], xmm2",
        "movups [rsp + 80], xmm3",
        "movups [rsp + 96], xmm4",
        "movups [rsp + 112], xmm5",
        "movups [rsp + 128], xmm6",
        "movups [rsp + 144], xmm7",
        "mov rsi, rsp",
        "lea rdx, [rsp + 32]",
        "lea rcx, [rbp + 16]",
        "call {}",
        "leave",
        "ret",
        sym log_registers,
    )
}

/// Reads the arguments from where the calling convention puts them.
#[cfg(all(target_arch = "x86_64", unix))]
unsafe extern "C" fn log_registers(id: u32, integers: &[u64; 3], floats: &[[u64; 2]; 8], mut stack: *const u64) {
    let site = SITES.read().unwrap_or_else(PoisonError::into_inner).get(id as usize).copied();
    let Some(site) = site else { return };
    let (mut integers, mut floats) = (integers.iter(), floats.iter());
    let words: Vec<u64> = site
        .types()
        .iter()
        .map(|code| {
            let register =
                if *code == TRACELOOM_DOUBLE { floats.next().map(|[low, _]| *low) } else { integers.next().copied() };
            register.unwrap_or_else(|| {
                // SAFETY: arguments that found no register are on the stack, in their order.
                unsafe {
                    stack = stack.add(1);
                    *stack.sub(1)
                }
            })
        })
        .collect();
    // SAFETY: there is a word for each type.
    unsafe { traceloom_log(site, words.as_ptr()) };
}
