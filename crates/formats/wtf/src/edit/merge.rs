//! Merges several traces into one.

use std::io::Write;

use traceloom_core::{Edited, Error, Findings, Loss, Options, Records, Result, Source};

use super::{
    mend::UniqueIds,
    transfer::{Transfer, run},
    usable_info,
};
use crate::{Composer, Form};

/// Milliseconds after which stored times wrap.
const TURN_MS: f64 = (1_u64 << 32) as f64 / 1000.0;

/// Merges files on one time axis; zones, ranges and flows of different files stay separate.
pub fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
    let readers = sources.iter().map(|source| crate::open(source.clone(), options)).collect::<Result<Vec<_>>>()?;
    let bases = readers.iter().map(|reader| reader.header().info.timebase_ms);
    let [first_ms, last_ms] =
        [bases.clone().fold(f64::INFINITY, f64::min), bases.clone().fold(f64::NEG_INFINITY, f64::max)];
    // Stored times wrap after this time, and a gap of that length would go unnoticed.
    let is_far = last_ms - first_ms >= TURN_MS;
    // Without a wall-clock timebase, the relative times of files are unknown, so all of them start together.
    let has_clock = first_ms > 0.0 && !is_far;
    let origin_ms = if has_clock { first_ms } else { bases.clone().next().unwrap_or(0.0) };
    let Some(first) = readers.first() else { return Err(Error::usage("nothing to merge")) };
    let info = usable_info(&first.header().info).with_timebase(origin_ms);
    let mut composer = Composer::new(out, Form::Binary, &info)?;
    let mut ids = UniqueIds::default();
    let mut edited = Edited { findings: Findings::new(options.mode, &options.limits), loss: Loss::default() };
    for (reader, file) in readers.into_iter().zip(1..) {
        let base_ms = reader.header().info.timebase_ms;
        let shift_ms = if has_clock { base_ms - origin_ms } else { 0.0 };
        let mut transfer = Transfer::new(&mut composer, None);
        transfer.shift_us = (shift_ms * 1000.0).round() as i64;
        transfer.file = file;
        transfer.ids = Some(&mut ids);
        let Edited { findings, mut loss } = run(reader, transfer)?;
        if is_far && first_ms > 0.0 && base_ms != origin_ms {
            loss.lose("the time between files that are 71 minutes or more apart: they start together", || {
                format!("file {file} began {} ms from the first", base_ms - origin_ms)
            });
        }
        if file > 1 {
            loss.lose("context and metadata of all files but the first", || format!("file {file}"));
        }
        edited.findings.absorb(findings);
        edited.loss.absorb(&loss);
    }
    composer.finish()?;
    Ok(edited)
}
