//! Sample profiles, made with the writer of this crate.

mod modules;
mod shop;

use std::io::Write;

use traceloom_core::{Result, Sample};

/// The sample, with a description.
pub fn sample() -> Result<Sample> {
    let bytes = shop::profile()?;
    Ok(Sample::new("nytprof.out", bytes, "the profile of a Perl program that prices orders")
        .tries(&["convert --to nytprof:plain {file} plain.out", "convert --to pynytprof {file} py.out"]))
}

/// Writes a profile of about `records` records; memory use does not grow with it.
pub fn write<W: Write>(out: W, records: u64) -> Result<W> {
    modules::write(out, records)
}
