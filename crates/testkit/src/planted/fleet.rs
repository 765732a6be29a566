//! The traces of a fleet in which a name gets slower from one day on.

use std::{fs, path::Path};

use traceloom_core::Result;

use super::{Dice, Scene};

/// Where [`write_fleet`] has the tags of a trace in its path.
pub const FLEET_TEMPLATE: &str = "{host}/{build}/{day}/*.prof";

/// Writes ten days with a build each and two traces of either host; from build `b6` on `Render` takes `slowdown` times
/// as long.
pub fn write_fleet(traces: &Path, slowdown: f64) -> Result<()> {
    for day in 1..=10_u64 {
        let render_ns = if day >= 6 { 200_000.0 * slowdown } else { 200_000.0 };
        for run in 0..4 {
            let path = format!("host{}/b{day}/2026-11-{day:02}/{run}.prof", run % 2);
            write_run(&traces.join(path), render_ns, day * 100 + run)?;
        }
    }
    Ok(())
}

/// Writes a profile in which `Render` takes about this long, 40 times, and `Update` always the same.
pub fn write_run(path: &Path, render_ns: f64, seed: u64) -> Result<()> {
    let (mut scene, mut dice, mut now) = (Scene::new(&["Main"]), Dice::new(seed), 0);
    let run = 1.0 + 0.02 * dice.normal();
    for _ in 0..40 {
        let render = (render_ns * run * (1.0 + 0.05 * dice.normal())) as i64;
        let update = (80_000.0 * run * (1.0 + 0.05 * dice.normal())) as i64;
        now = scene.span(0, "Render", now, render) + 1000;
        now = scene.span(0, "Update", now, update) + 1000;
    }
    let source = scene.written("easyprofiler")?.opened.source;
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    Ok(fs::write(path, source.prefix(source.len()? as usize)?)?)
}
