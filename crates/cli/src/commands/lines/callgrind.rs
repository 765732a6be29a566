//! The file that nytprofcg writes, for KCachegrind.
//!
//! The header says ticks, but the costs are microseconds. Recursive calls cost nothing, because their time is part of
//! the outermost call.

use std::io::Write;

use traceloom_analysis::lines::{Profile, Sub, SubKind};
use traceloom_core::Result;

pub(super) fn write(profile: &Profile, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "events: Ticks\n")?;
    let index = profile.index();
    let called = || profile.subs.iter().filter(|(_, sub)| !sub.callers.is_empty());
    for (name, sub) in called() {
        let (file, line, cost) = (file_of(profile, sub), first_line(sub), microseconds(sub.total.excl_ns));
        writeln!(out, "fl={}\nfn={}\n{line} {cost}\n", one_line(file), one_line(name))?;
    }
    for (name, sub) in called() {
        for place in sub.places() {
            let by = if place.by.is_empty() { "__main".to_owned() } else { place.by.join(" or ") };
            // A call inside an eval counts as a call from the line of the outermost eval.
            let at = place.file.map(|file| index.outermost(file, place.line.unwrap_or(0)));
            let file = at.and_then(|(file, _)| profile.files.get(&file)).map_or(UNKNOWN, |file| file.name.as_str());
            let line = at.map_or(0, |(_, line)| line);
            writeln!(out, "fl={}\nfn={}", one_line(file), one_line(&by))?;
            writeln!(out, "cfl={}\ncfn={}", one_line(file_of(profile, sub)), one_line(name))?;
            writeln!(out, "calls={} {}", place.figures.count, first_line(sub))?;
            writeln!(out, "{line} {}\n", microseconds(place.figures.incl_ns))?;
        }
    }
    Ok(())
}

const UNKNOWN: &str = "Unknown";

fn file_of<'p>(profile: &'p Profile, sub: &Sub) -> &'p str {
    sub.file.and_then(|file| profile.files.get(&file)).map_or(UNKNOWN, |file| file.name.as_str())
}

/// 0 for a sub that is not written in Perl, empty if the line is unknown.
fn first_line(sub: &Sub) -> String {
    match (sub.first_line, sub.kind) {
        (Some(line), _) => line.to_string(),
        (None, SubKind::Perl) => String::new(),
        (None, _) => "0".to_owned(),
    }
}

/// Truncated to an integer, as Perl does.
fn microseconds(ns: i64) -> i64 {
    (ns as f64 / 1e9 * 1_000_000.0) as i64
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}
