//! `top` of a file that is still being written: its last seconds while it grows, then the whole file.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use traceloom_core::{Error, Result, TimeRange};
use traceloom_passes::TraceFacts;

use super::{End, TICK, top::draw};
use crate::{Outcome, args::figures::Stats};

/// Whether there is a single file that was changed so recently that a program may still be writing it.
pub(super) fn is_written(shown: &Stats, every: Duration) -> bool {
    let [path] = shown.files.as_slice() else { return false };
    let Ok(found) = fs::metadata(path) else { return false };
    // A time in the future comes from another machine.
    let is_new = |age: std::result::Result<Duration, _>| age.map_or(true, |age| age < 2 * every);
    found.is_file() && found.modified().is_ok_and(|changed| is_new(changed.elapsed()))
}

/// Shows the file repeatedly, at most `rounds` times.
pub(super) fn show(mut shown: Stats, every: Duration, rounds: Option<u64>) -> Result<Outcome> {
    let (whole, end) = (shown.range, End::new(None));
    let path = shown.files.first().cloned().unwrap_or_default();
    for round in 1.. {
        let before = bytes(&path)?;
        shown.range = whole.or(last(&shown, every)?);
        draw(&shown)?;
        if rounds == Some(round) {
            return Ok(Outcome::Fine);
        }
        let drawn = Instant::now();
        while drawn.elapsed() < every && !end.has_come() {
            thread::sleep(TICK);
        }
        if end.has_come() {
            return Ok(Outcome::Fine);
        }
        if rounds.is_none() && bytes(&path)? == before {
            break;
        }
    }
    shown.range = whole;
    draw(&shown)
}

fn bytes(path: &Path) -> Result<u64> {
    fs::metadata(path).map(|found| found.len()).map_err(|error| Error::from(error).in_file(path))
}

/// The last seconds of the file; `None` if it has no times.
fn last(shown: &Stats, every: Duration) -> Result<Option<TimeRange>> {
    let set = shown.shifts.apply(shown.answer.reading.open_all(&shown.files)?).set()?;
    let mut facts = TraceFacts::read(&set)?;
    TraceFacts::read_extents(&mut facts, &set)?;
    let last = facts.iter().filter_map(|facts| facts.extent_ns).map(|(_, last)| last).max();
    let every_ns = i64::try_from(every.as_nanos()).unwrap_or(i64::MAX);
    Ok(last.map(|last| TimeRange::new(Some(last.saturating_sub(every_ns)), None)))
}
