//! A bar on standard error while a question reads its files; gone before the first row is shown.

use std::{
    io::{self, IsTerminal},
    path::Path,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use traceloom_core::{ReadAt, Source};
use traceloom_query::Watch;

const PATIENCE: Duration = Duration::from_secs(1);
const REFRESH: Duration = Duration::from_millis(100);

/// What is read for the question at hand, shown where a person can see it and it takes longer than a second.
#[derive(Clone)]
pub(crate) struct Progress(Arc<Mutex<State>>);

struct State {
    is_shown: bool,
    asked: Instant,
    drawn: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self(Arc::new(Mutex::new(State { is_shown: io::stderr().is_terminal(), asked: now, drawn: now, bar: None })))
    }

    /// Sees what is read of each file.
    pub(crate) fn watch(&self) -> Watch {
        let progress = self.clone();
        Watch::new(move |source: Source, path: &Path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            Ok(Source::custom(Watched { bytes: source.len()?, source, name, progress: progress.clone() }))
        })
    }

    /// A question begins.
    pub(crate) fn begin(&self) {
        if let Ok(mut state) = self.0.lock() {
            state.asked = Instant::now();
        }
    }

    /// Makes room for rows.
    pub(crate) fn clear(&self) {
        if let Ok(mut state) = self.0.lock()
            && let Some(bar) = state.bar.take()
        {
            bar.finish_and_clear();
        }
    }

    fn moved(&self, name: &str, offset: u64, bytes: u64) {
        let Ok(mut state) = self.0.lock() else { return };
        let now = Instant::now();
        if !state.is_shown || now - state.asked < PATIENCE || now - state.drawn < REFRESH {
            return;
        }
        state.drawn = now;
        let bar = state.bar.get_or_insert_with(bar);
        // Several files are read side by side, and each may be read more than once: the bar is of the one read last.
        bar.set_length(bytes);
        bar.set_message(name.to_owned());
        bar.set_position(offset);
    }
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}");
    let bar = ProgressBar::new(0);
    if let Ok(style) = style { bar.with_style(style) } else { bar }
}

struct Watched {
    source: Source,
    bytes: u64,
    name: String,
    progress: Progress,
}

impl ReadAt for Watched {
    fn len(&self) -> io::Result<u64> {
        self.source.len().map_err(io::Error::other)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.progress.moved(&self.name, offset, self.bytes);
        self.source.read_at(offset, buffer).map_err(io::Error::other)
    }
}
