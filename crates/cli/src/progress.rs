//! A progress bar on standard error for work that takes longer than a second.

use std::{
    io::{self, IsTerminal},
    path::Path,
    sync::Mutex,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use traceloom_core::{ReadAt, Result, Source};

const PATIENCE: Duration = Duration::from_secs(1);
const REFRESH: Duration = Duration::from_millis(100);

/// The same source; reading from it moves a bar, where a person can see one.
pub(crate) fn watch(source: Source, path: &Path) -> Result<Source> {
    if !io::stderr().is_terminal() {
        return Ok(source);
    }
    let now = Instant::now();
    let state = State { started: now, drawn: now, offset: 0, bar: None };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Source::custom(Watched { len: source.len()?, source, name, state: Mutex::new(state) }))
}

struct Watched {
    source: Source,
    len: u64,
    name: String,
    state: Mutex<State>,
}

struct State {
    started: Instant,
    drawn: Instant,
    offset: u64,
    bar: Option<ProgressBar>,
}

impl Watched {
    fn moved(&self, offset: u64) {
        let Ok(mut state) = self.state.lock() else { return };
        let now = Instant::now();
        // Several passes over a file are several times the work: a pass that begins again starts anew.
        state.offset = offset;
        if now - state.started < PATIENCE || now - state.drawn < REFRESH {
            return;
        }
        state.drawn = now;
        let offset = state.offset;
        state.bar.get_or_insert_with(|| self.bar()).set_position(offset);
    }

    fn bar(&self) -> ProgressBar {
        let bar = ProgressBar::new(self.len).with_message(self.name.clone());
        let style = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}");
        if let Ok(style) = style { bar.with_style(style) } else { bar }
    }
}

impl ReadAt for Watched {
    fn len(&self) -> io::Result<u64> {
        self.source.len().map_err(io::Error::other)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.moved(offset);
        self.source.read_at(offset, buffer).map_err(io::Error::other)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Ok(state) = self.state.get_mut()
            && let Some(bar) = &state.bar
        {
            bar.finish_and_clear();
        }
    }
}
