//! Bursts of errors, and sites that flood the log.

use super::Case;
use crate::advise::{
    measure::{
        clock::CELLS,
        logs::{Level, LogSite, Logs, SiteLines},
    },
    report::{Advice, Evidence, Rule, Unit, Weight},
    robust::{Burst, burst},
    words::{counted, percent, quoted, time},
};

/// Minimum log-likelihood of a burst compared with an even rate, and its minimum number of lines.
const LIKELIHOOD: f64 = 9.0;
const MIN_LINES: u64 = 5;

/// A burst of errors: its time, and the site with the most errors.
#[derive(Debug)]
pub(in crate::advise) struct ErrorBurst {
    pub(in crate::advise) site: LogSite,
    pub(in crate::advise) first_ns: i64,
    last_ns: i64,
    burst: Burst,
    level: Level,
    total: u64,
    of_site: u64,
    warnings_before: u64,
}

/// The burst of errors, or else of warnings.
pub(in crate::advise) fn error_burst(logs: &Logs) -> Option<ErrorBurst> {
    burst_of(logs, Level::Error).or_else(|| burst_of(logs, Level::Warning))
}

fn burst_of(logs: &Logs, level: Level) -> Option<ErrorBurst> {
    let cells = sum(logs, |site| site.level == level);
    let reached = logs.clock.reached();
    let burst = burst(&cells[..reached]).filter(|burst| burst.likelihood >= LIKELIHOOD && burst.count >= MIN_LINES)?;
    let inside = |site: &SiteLines| site.cells[burst.first..burst.end].iter().sum::<u64>();
    let sites = logs.sites.iter().filter(|(_, site)| site.level == level);
    let (site, lines) = sites.max_by_key(|(key, site)| (inside(site), std::cmp::Reverse(**key)))?;
    let length = burst.end - burst.first;
    let warnings = sum(logs, |site| site.level == Level::Warning);
    Some(ErrorBurst {
        site: *site,
        first_ns: lines.first_ns,
        last_ns: lines.last_ns,
        burst,
        level,
        total: cells.iter().sum(),
        of_site: inside(lines),
        warnings_before: warnings[burst.first.saturating_sub(length)..burst.end].iter().sum(),
    })
}

fn sum(logs: &Logs, is_taken: impl Fn(&SiteLines) -> bool) -> [u64; CELLS] {
    let mut cells = [0; CELLS];
    for site in logs.sites.values().filter(|site| is_taken(site)) {
        cells.iter_mut().zip(&site.cells).for_each(|(sum, count)| *sum += count);
    }
    cells
}

pub(in crate::advise) fn errors(case: &Case<'_>, found: &ErrorBurst) -> Advice {
    let measured = case.measured;
    let clock = &measured.logs.clock;
    let (mut from_ns, mut to_ns) = (clock.start_ns(found.burst.first), clock.start_ns(found.burst.end));
    if found.of_site == found.burst.count {
        (from_ns, to_ns) = (from_ns.max(found.first_ns), to_ns.min(found.last_ns.saturating_add(1)));
    }
    let since_start = |ts_ns: i64| time(ts_ns.saturating_sub(clock.start_ns(0)) as f64);
    let (name, place) = (found.site.name(&measured.names), found.site.place(&measured.names));
    let is_error = found.level == Level::Error;
    let noun = if is_error { "error" } else { "warning" };
    let which =
        if found.of_site == found.burst.count { "all".to_owned() } else { format!("{} of them", found.of_site) };
    let at = place.as_ref().map_or_else(String::new, |place| format!(" {place}"));
    let before = if is_error && found.warnings_before > 0 {
        format!("; {} before and during the burst", counted(found.warnings_before, "warning"))
    } else {
        String::new()
    };
    let mut evidence = vec![
        Evidence::count(format!("{noun}s in the burst"), found.burst.count).at(from_ns),
        Evidence::count(format!("{noun}s in the whole log"), found.total),
    ];
    evidence.extend(is_error.then(|| Evidence::count("warnings before and during the burst", found.warnings_before)));
    evidence
        .extend(case.first_line.iter().map(|line| Evidence::count(format!("example: {line}"), 1).at(found.first_ns)));
    Advice {
        rule: Rule::ErrorBurst,
        weight: match found.level {
            Level::Error if found.burst.count >= 10 => Weight::High,
            Level::Error => Weight::Medium,
            _ if found.burst.likelihood > 4.0 * LIKELIHOOD => Weight::Medium,
            _ => Weight::Low,
        },
        subject: name.clone(),
        place,
        cause: case.first_line.clone().unwrap_or_else(|| format!("{which} from one site")),
        message: format!(
            "{} between {} and {}, {which} `{name}`{at}{before}",
            counted(found.burst.count, noun),
            since_start(from_ns),
            since_start(to_ns)
        ),
        saved: (found.burst.count as f64 / measured.logs.lines.max(1) as f64).min(1.0),
        count: found.burst.count,
        evidence,
        query: format!(
            "SELECT ts_ns, level_name, file, line, message FROM logs WHERE ts_ns >= {from_ns} AND ts_ns < {to_ns} AND level_name IN ('ERROR', 'FATAL', 'WARN') ORDER BY ts_ns"
        ),
    }
}

/// Minimum number of lines of a storm.
const STORM: u64 = 200;
/// A site floods the log if it has this share of all lines and this many times the lines of any other site.
const FLOOD_SHARE: f64 = 0.6;
const FLOOD_LEAD: f64 = 5.0;

pub(in crate::advise) fn storm(case: &Case<'_>) -> Option<Advice> {
    let logs = &case.measured.logs;
    let mut counts: Vec<u64> = logs.sites.values().map(|site| site.count).collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    let next = counts.get(1).copied().unwrap_or(0);
    let all = sum(logs, |_| true);
    let reached = logs.clock.reached();
    let large = logs.sites.iter().filter(|(_, site)| site.count >= STORM);
    let storms = large.filter_map(|(key, site)| {
        let burst = burst(&site.cells[..reached]).filter(|burst| is_storm(&all[..reached], site, burst));
        let share = site.count as f64 / logs.lines.max(1) as f64;
        let is_flood = counts.len() >= 3 && share >= FLOOD_SHARE && site.count as f64 >= next as f64 * FLOOD_LEAD;
        (burst.is_some() || is_flood).then_some((key, site, burst))
    });
    let (key, site, burst) =
        storms.max_by_key(|(key, site, burst)| (burst.map_or(site.count, |burst| burst.count), **key))?;
    let clock = &logs.clock;
    let (first, end) = burst.map_or((0, clock.reached()), |burst| (burst.first, burst.end));
    let count = burst.map_or(site.count, |burst| burst.count);
    let seconds = (end - first) as f64 * clock.cell_ns() as f64 / 1e9;
    let rate = count as f64 / seconds.max(1e-9);
    let share = site.count as f64 / logs.lines.max(1) as f64;
    let (name, place) = (key.name(&case.measured.names), key.place(&case.measured.names));
    let at = place.as_ref().map_or_else(String::new, |place| format!(" {place}"));
    let from_ns = clock.start_ns(first);
    let when = burst.map_or_else(String::new, |_| {
        format!(" starting at {}", time(from_ns.saturating_sub(clock.start_ns(0)) as f64))
    });
    Some(Advice {
        rule: Rule::LogStorm,
        weight: if count >= 10_000 { Weight::High } else { Weight::Medium },
        cause: format!("{rate:.0} lines/s from one site"),
        message: format!(
            "`{name}`{at} floods the log: {count} lines{when}, {rate:.0}/s, {} of all lines",
            percent(share)
        ),
        saved: share,
        count,
        evidence: vec![
            Evidence::count("lines in the burst", count).at(from_ns),
            Evidence::new("of all lines", share, Unit::Part),
            Evidence::count("lines of the site", site.count),
        ],
        query: format!(
            "SELECT ts_ns / 1000000000 AS at_s, COUNT(*) AS lines FROM logs WHERE {} GROUP BY ts_ns / 1000000000 ORDER BY lines DESC",
            case.measured
                .names
                .get(key.format)
                .map_or("format IS NULL".to_owned(), |text| format!("format = {}", quoted(text)))
        ),
        subject: name,
        place,
    })
}

/// Whether a burst is a short time in which the site logs most of the lines, at a rate far above its usual one.
fn is_storm(all: &[u64], site: &SiteLines, burst: &Burst) -> bool {
    let cells = all.len() as f64;
    let all: u64 = all[burst.first..burst.end].iter().sum();
    let length = (burst.end - burst.first) as f64;
    let outside = (site.count - burst.count) as f64 / (cells - length).max(1.0);
    let rate = burst.count as f64 / length;
    burst.count >= STORM && burst.likelihood > 100.0 && burst.count * 2 >= all && rate >= 8.0 * outside.max(1.0)
}
