//! Numbers as sentences need them, and what a name says about a span.

/// A time with three digits: `58.2 ms`.
pub(super) fn time(ns: f64) -> String {
    match ns.abs() {
        below if below < 999.5 => format!("{ns:.0} ns"),
        below if below < 999.5e3 => format!("{} µs", digits(ns / 1e3)),
        below if below < 999.5e6 => format!("{} ms", digits(ns / 1e6)),
        below if below < 600e9 => format!("{} s", digits(ns / 1e9)),
        below if below < 7200e9 => format!("{} min", digits(ns / 60e9)),
        _ => format!("{} h", digits(ns / 3600e9)),
    }
}

/// A size with three digits: `2.79 MB`.
pub(super) fn bytes(bytes: f64) -> String {
    match bytes.abs() {
        below if below < 999.5 => format!("{bytes:.0} B"),
        below if below < 999.5e3 => format!("{} kB", digits(bytes / 1e3)),
        below if below < 999.5e6 => format!("{} MB", digits(bytes / 1e6)),
        _ => format!("{} GB", digits(bytes / 1e9)),
    }
}

/// A share between 0 and 1 as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", digits(share.clamp(0.0, 1.0) * 100.0))
}

/// How many times as much.
pub(super) fn times(ratio: f64) -> String {
    match ratio {
        below if below < 9.95 => format!("{below:.1} times"),
        _ => format!("{ratio:.0} times"),
    }
}

/// Three digits, no more than that many behind the point, and no zeros at the end.
pub(super) fn digits(value: f64) -> String {
    let behind = match value.abs() {
        below if below < 9.995 => 2,
        below if below < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{value:.behind$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number with its noun: `1 frame`, `2 frames`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A text as SQL writes it.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Words for time that passes without work.
const WAITING: &[&str] = &[
    "await",
    "barrier",
    "blocked",
    "blocking",
    "epoll",
    "nanosleep",
    "park",
    "parked",
    "poll",
    "present",
    "stall",
    "yield",
];

/// What the name of a span says about it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Role {
    /// It works.
    #[default]
    Work,
    /// It collects garbage.
    Gc,
    /// It waits for a lock.
    Lock,
    /// It waits for its turn: for work, for the screen, for time to pass.
    Wait,
}

impl Role {
    pub(super) fn of(name: &str) -> Self {
        let words = words_of(name);
        let starts = |list: &[&str]| words.iter().any(|word| list.iter().any(|start| word.starts_with(start)));
        let is = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        if is(&["lock", "locking", "mutex", "rwlock", "spinlock", "semaphore", "futex", "acquire", "contention"]) {
            Self::Lock
        } else if is(&["gc", "garbage", "scavenge", "minorgc", "majorgc", "gcpause"]) {
            Self::Gc
        } else if starts(&["wait", "idle", "sleep", "vsync", "vblank", "suspend", "condvar"]) || is(WAITING) {
            Self::Wait
        } else {
            Self::Work
        }
    }

    /// Whether the processor has nothing to do meanwhile.
    pub(super) fn is_waiting(self) -> bool {
        matches!(self, Self::Lock | Self::Wait)
    }
}

/// Whether a name stands for one frame of a game or a page.
pub(super) fn is_frame(name: &str) -> bool {
    words_of(name).iter().any(|word| matches!(word.as_str(), "frame" | "loop" | "mainloop" | "tick" | "vsync"))
}

/// The words of a name in lower case: `WaitForVsync`, `wait_for_vsync` and `wait-for vsync` have the same.
fn words_of(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphabetic() || letter.is_uppercase() && was_lower {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if letter.is_alphabetic() {
            word.extend(letter.to_lowercase());
        }
        was_lower = letter.is_lowercase();
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// The name of a pool: the name of a thread without its number.
pub(super) fn pool_of(thread: &str) -> String {
    let letters: String = thread.chars().filter(|letter| letter.is_alphabetic()).collect();
    letters.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!(
            [58_160_000.0, 999.0, 999_600.0, 2.094e9, 72_000e9].map(time),
            ["58.2 ms", "999 ns", "1 ms", "2.09 s", "20 h"]
        );
        assert_eq!([2048.0, 379_000.0, 2_791_700.0].map(bytes), ["2.05 kB", "379 kB", "2.79 MB"]);
        assert_eq!(
            (percent(0.296), percent(54.0), times(19.1), times(1.68)),
            ("29.6 %".into(), "100 %".into(), "19 times".into(), "1.7 times".into())
        );
        assert_eq!((counted(1, "frame"), counted(3, "frame")), ("1 frame".to_owned(), "3 frames".to_owned()));
    }

    #[test]
    fn names_say_whether_they_wait() {
        let waits = ["WaitForVsync", "idle", "Worker::sleep", "vsync", "wait_for_job", "std::thread::park", "waiting"];
        assert!(waits.iter().all(|name| Role::of(name) == Role::Wait));
        assert!(["lock", "Mutex::acquire", "LockQueue"].iter().all(|name| Role::of(name) == Role::Lock));
        assert!(
            ["Clock", "Unlock", "Block", "Render", "enemy.lua", "Selection", "join_tables", "select_rows"]
                .iter()
                .all(|name| Role::of(name) == Role::Work)
        );
        assert!(["javascript#gc", "GC", "Gc::minor"].iter().all(|name| Role::of(name) == Role::Gc));
        assert!(is_frame("Frame") && is_frame("render_frame") && !is_frame("Framework"));
        assert_eq!(pool_of("Worker 12"), pool_of("worker-3"));
    }
}
