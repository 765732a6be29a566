//! A progress bar on standard error for reads that take longer than half a second.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use crate::output::is_shown;

const PATIENCE: Duration = Duration::from_millis(500);
const REFRESH: Duration = Duration::from_millis(100);

/// One bar for all concurrent reads and writes; clones share it, and it disappears with the last one.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Mutex<State>>);

/// The current bar.
static CURRENT: Mutex<Weak<Mutex<State>>> = Mutex::new(Weak::new());

pub(crate) struct State {
    is_shown: bool,
    started: Instant,
    drawn: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let mut current = CURRENT.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(state) = current.upgrade() {
            return Self(state);
        }
        let (now, is_shown) = (Instant::now(), is_shown());
        let state = Arc::new(Mutex::new(State { is_shown, started: now, drawn: now, bar: None }));
        *current = Arc::downgrade(&state);
        Self(state)
    }

    /// Moves the bar to the position in a file, if standard error is a terminal and the work has taken long.
    pub(crate) fn seen(&self, path: &Path, offset: u64, bytes: u64) {
        let Ok(mut state) = self.0.lock() else { return };
        let now = Instant::now();
        if !state.is_shown || now - state.started < PATIENCE || now - state.drawn < REFRESH {
            return;
        }
        state.drawn = now;
        let bar = state.bar.get_or_insert_with(bar);
        // Several files may be read concurrently, and each more than once; the bar shows the one read last.
        bar.set_length(bytes);
        bar.set_message(path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default());
        bar.set_position(offset);
    }

    /// Shows how much of a file was written, unless a file is being read.
    pub(crate) fn written(&self, path: &Path, bytes: u64) {
        let Ok(mut state) = self.0.lock() else { return };
        let now = Instant::now();
        if !state.is_shown || now - state.started < PATIENCE || now - state.drawn < PATIENCE {
            return;
        }
        let bar = state.bar.get_or_insert_with(bar);
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        bar.set_length(bytes);
        bar.set_position(bytes);
        bar.set_message(format!("writing {name}"));
    }

    /// Restarts the delay: a bar appears only if the work from here on takes long.
    #[cfg(feature = "sql")]
    pub(crate) fn restart(&self) {
        if let Ok(mut state) = self.0.lock() {
            (state.is_shown, state.started) = (is_shown(), Instant::now());
        }
    }

    /// Removes the bar and shows no other until a restart, because output on the same terminal has begun.
    pub(crate) fn end(&self) {
        if let Ok(mut state) = self.0.lock() {
            state.clear();
            state.is_shown = false;
        }
    }

    /// Removes the bar to make room for output.
    pub(crate) fn clear(&self) {
        if let Ok(mut state) = self.0.lock() {
            state.clear();
        }
    }
}

impl State {
    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.clear();
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
    let bar = ProgressBar::new(0);
    if let Ok(style) = style { bar.with_style(style) } else { bar }
}
