//! Targets: from the bytes of a file to the bytes of another format.

use std::io;

use traceloom_core::{Limits, Result};
use traceloom_export::{Options, by_id, write};
use traceloom_mapping::Trace;

use crate::{
    easyprofiler,
    measure::{baseline, cpu_times, forget_peak, peak_bytes, row},
};

const SPANS: u64 = 5_000_000;
/// Memory limit for sorting spans, in the limited runs.
const LIMITED_BYTES: u64 = 16 << 20;

pub(crate) fn run() -> Result<bool> {
    let (_file, source) = easyprofiler::generated(SPANS)?;
    let trace = Trace::new("big.prof".as_ref(), source.clone(), None, &traceloom_mapping::Options::default())?;
    println!("export: easyprofiler, {} MB", source.len()? / 1_000_000);
    let limited = Options { limits: Limits::with(|limits| limits.tree_bytes = LIMITED_BYTES), ..Options::default() };
    let spilled = memory("perfetto", &trace, &limited)?;
    let spilled_otlp = memory("otlp", &trace, &limited)?;
    let resident = memory("perfetto", &trace, &Options::default())?;
    let export = |target: &str, options: &Options| write(by_id(target)?, &trace, options, &mut io::sink()).map(drop);
    let plain = Options::default();
    let [base, perfetto, spilling, chrome, folded, otlp] = cpu_times([
        &mut || baseline(&source),
        &mut || export("perfetto", &plain),
        &mut || export("perfetto", &limited),
        &mut || export("chrome", &plain),
        &mut || export("folded", &plain),
        &mut || export("otlp", &plain),
    ])?;
    let ratio = |time: std::time::Duration| time.div_duration_f64(base);
    println!("  baseline: {:.1} ms", base.as_secs_f64() * 1e3);
    let mut met = row("perfetto", ratio(perfetto), "x baseline", 25.0);
    met &= row("perfetto, order in a temporary file", ratio(spilling), "x baseline", 40.0);
    met &= row("chrome", ratio(chrome), "x baseline", 70.0);
    met &= row("folded", ratio(folded), "x baseline", 25.0);
    met &= row("otlp", ratio(otlp), "x baseline", 40.0);
    met &= row("perfetto, memory", resident as f64 / SPANS as f64, "bytes per span", 80.0);
    met &= row("perfetto, limited to 16 MB, memory", spilled as f64 / 1e6, "MB", 160.0);
    met &= row("otlp, limited to 16 MB, memory", spilled_otlp as f64 / 1e6, "MB", 160.0);
    Ok(met)
}

/// The peak memory of writing.
fn memory(target: &str, trace: &Trace, options: &Options) -> Result<u64> {
    forget_peak();
    let resting = peak_bytes();
    write(by_id(target)?, trace, options, &mut io::sink())?;
    Ok(peak_bytes().saturating_sub(resting))
}
