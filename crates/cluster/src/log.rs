//! The engine's log messages on standard error.

use log::{LevelFilter, Log, Metadata, Record};

/// Prints warnings of the engine, and more with `--verbose`.
pub(crate) fn start(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::Error,
        1 => LevelFilter::Info,
        _ => LevelFilter::Debug,
    };
    // No other code sets a logger.
    if log::set_logger(&Lines).is_ok() {
        log::set_max_level(level);
    }
}

struct Lines;

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("ballista")
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            eprintln!("{}: {}", record.level().as_str().to_lowercase(), record.args());
        }
    }

    fn flush(&self) {}
}
