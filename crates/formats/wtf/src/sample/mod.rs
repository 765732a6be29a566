//! Traces that are always the same: one to try things on, and one of any size.

mod game;
mod page;

use std::io::Write;

use traceloom_core::{Result, Sample};

/// The sample, with a description.
pub fn sample() -> Result<Sample> {
    let bytes = game::record()?;
    Ok(Sample::new(
        "game.wtf-trace",
        bytes,
        "two seconds of a game in a browser: frames, requests that flow between zones, a shader",
    )
    .tries(&[
        "convert --to wtf:json-events {file} game.wtf-json",
        "slice --range 1s..1.1s --thread Script {file} part.wtf-trace",
        "dump --resources resources {file}",
    ]))
}

/// Writes a binary trace of about `size` events; memory use does not grow with it.
pub fn write<W: Write>(out: W, size: u64) -> Result<W> {
    page::record(out, size)
}
