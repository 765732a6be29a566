//! The role of a span by its name.

pub(super) use crate::units::{bytes, counted, digits, percent, time, times};

/// A quoted SQL string.
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

/// The role of a span, guessed from its name.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Role {
    /// Does work.
    #[default]
    Work,
    /// Collects garbage.
    Gc,
    /// Waits for a lock.
    Lock,
    /// Waits for work, for the display, or for time to pass.
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

    /// Whether the processor is idle meanwhile.
    pub(super) fn is_waiting(self) -> bool {
        matches!(self, Self::Lock | Self::Wait)
    }
}

/// Whether a name means one frame of a game or a page.
pub(super) fn is_frame(name: &str) -> bool {
    words_of(name).iter().any(|word| matches!(word.as_str(), "frame" | "loop" | "mainloop" | "tick" | "vsync"))
}

/// The words of a name in lower case, the same for `WaitForVsync`, `wait_for_vsync` and `wait-for vsync`.
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
