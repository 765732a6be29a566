//! Memory of the Memlyze corpus, equal to the sums of the goldens, and of traces built row by row.

#[allow(dead_code, reason = "each test needs a part of it")]
mod made;

use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value as Json;
use traceloom_analysis::memory::{Moment, Options, Report, memory};
use traceloom_mapping::open;
use traceloom_model::{Filter, allocations::Allocation, frees::Free};

use crate::made::Made;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/memlyze")
}

fn report(path: &Path, options: &Options) -> Report {
    let trace = open(path, None, &traceloom_mapping::Options::default()).expect("the fixture opens");
    memory(&trace, &Filter::default(), options).expect("the fixture is read")
}

/// Files with a golden that lists their contents.
fn goldens() -> Vec<(PathBuf, Json)> {
    let mut goldens = Vec::new();
    for path in traceloom_testkit::files(&folder()).expect("the corpus") {
        let golden = path.with_extension("json");
        if path.extension().is_some_and(|ending| ending == "mlyze") && golden.exists() {
            let json: Json = serde_json::from_slice(&fs::read(golden).expect("the golden")).expect("JSON");
            // The reader of the golden stops at a padded number; ours continues.
            if json.get("summary").is_some() && !json["warnings"].to_string().contains("overlong varint") {
                goldens.push((path, json));
            }
        }
    }
    goldens
}

#[test]
fn sums_are_those_of_the_goldens() {
    let goldens = goldens();
    assert!(goldens.len() > 20, "{} files", goldens.len());
    for (path, golden) in &goldens {
        let report = report(path, &Options::default());
        let totals = &report.totals;
        for (name, found) in [
            ("alloc", totals.allocations),
            ("free", totals.frees),
            ("gc", totals.collections),
            ("alloc_bytes", totals.allocated_bytes),
            ("live_at_end", totals.live),
            ("live_bytes_at_end", totals.live_bytes),
            ("freed_bytes", totals.freed_bytes),
            ("unmatched_frees", totals.double_frees + totals.unknown_frees),
            ("address_reused_without_free", totals.reused),
            ("peak_bytes", report.peak.bytes),
        ] {
            assert_eq!(Some(found), golden["summary"][name].as_u64(), "{name} of {}", path.display());
        }
        let is_growth = golden["summary"]["all_addresses_zero"] == true && totals.allocations > 0;
        assert_eq!(report.is_growth_only, is_growth, "{}", path.display());
        check_parts(&report, path);
    }
}

/// Every way to sum the same allocations gives the same result.
fn check_parts(report: &Report, path: &Path) {
    let totals = &report.totals;
    let place = path.display();
    let of_sites = |figure: fn(&traceloom_analysis::memory::Site) -> u64| report.sites.iter().map(figure).sum::<u64>();
    assert_eq!(of_sites(|site| site.bytes), totals.allocated_bytes, "{place}");
    assert_eq!(of_sites(|site| site.count), totals.allocations, "{place}");
    assert_eq!(of_sites(|site| site.live_bytes), totals.live_bytes, "{place}");
    assert_eq!(of_sites(|site| site.temporary), totals.temporary, "{place}");
    assert_eq!(of_sites(|site| site.quarters.iter().sum()), totals.allocated_bytes, "{place}");
    assert_eq!(report.lifetimes.iter().map(|row| row.count).sum::<u64>(), of_sites(|site| site.freed), "{place}");
    assert_eq!(report.peak.sites.iter().map(|(_, bytes, _)| bytes).sum::<u64>(), report.peak.bytes, "{place}");
    assert_eq!(report.peak.sites.iter().map(|(.., count)| count).sum::<u64>(), report.peak.count, "{place}");
    let highest = report.curve.iter().map(|point| point.max_bytes).max().unwrap_or(0);
    assert_eq!(highest, report.peak.bytes, "{place}");
    if !report.is_growth_only {
        let last = report.curve.last().map_or(0, |point| point.used_bytes);
        assert_eq!(last, totals.live_bytes, "{place}");
    }
}

/// An allocation that event `end` frees, with 10 ns per event.
fn taken(id: i64, address: u64, size_bytes: u64, end: Option<i64>, fate: &'static str) -> Allocation<'static> {
    Allocation {
        id,
        ts_ns: id * 10,
        address,
        size_bytes,
        fate: fate.into(),
        freed_ts_ns: end.map(|end| end * 10),
        end_id: end,
        lifetime_ns: end.map(|end| (end - id) * 10),
        ..Allocation::default()
    }
}

fn freed(id: i64, address: u64, allocation_id: Option<i64>) -> Free<'static> {
    Free { id, ts_ns: id * 10, address, allocation_id }
}

#[test]
fn odd_frees_and_moments_are_told_apart() {
    // 0 is freed at once, 2 lives until 6, 3 is reused by 4, 4 is never freed; 5 is a double free, 7 frees an unknown
    // address.
    let made = Made(|tables: &mut traceloom_model::Tables<'_>| {
        tables.push(taken(0, 1, 100, Some(1), "freed"))?;
        tables.push(taken(2, 2, 30, Some(6), "freed"))?;
        tables.push(taken(3, 3, 7, Some(4), "reused"))?;
        tables.push(taken(4, 3, 9, None, "live"))?;
        tables.push(freed(1, 1, Some(0)))?;
        tables.push(freed(5, 1, None))?;
        tables.push(freed(6, 2, Some(2)))?;
        tables.push(freed(7, 99, None))
    });
    let options = Options { at_ns: Some(35), ..Options::default() };
    let report = memory(&made, &Filter::default(), &options).expect("it is in memory");
    let totals = &report.totals;
    assert_eq!((totals.allocations, totals.frees, totals.temporary, totals.reused), (4, 4, 1, 1));
    assert_eq!((totals.double_frees, totals.unknown_frees), (1, 1));
    assert_eq!((report.peak.bytes, report.peak.count, report.peak.ts_ns), (100, 1, 0));
    let at = report.at.expect("it was asked for");
    assert_eq!((at.bytes, at.count), (37, 2));
    assert_eq!((totals.first_ns, totals.last_ns), (0, 70));
    assert!(!report.is_growth_only && !report.is_coarse);
}

/// Frees before an address is allocated are unknown, regardless of later allocations.
#[test]
fn each_unmatched_free_has_its_own_verdict() {
    let path = folder().join("found/frees-before-and-after.mlyze");
    let totals = report(&path, &Options::default()).totals;
    assert_eq!((totals.frees, totals.double_frees, totals.unknown_frees), (5, 1, 3));
}

#[test]
fn a_small_budget_gives_a_lower_bound() {
    let path = folder().join("memlyze-0.1.0-encoder/api_medium.mlyze");
    let exact = report(&path, &Options::default());
    let coarse = report(&path, &Options { order_bytes: 1 << 10, ..Options::default() });
    assert!(coarse.is_coarse && !exact.is_coarse);
    assert!(coarse.peak.bytes <= exact.peak.bytes && coarse.peak.bytes > 0);
    assert_eq!(coarse.totals.live_bytes, exact.totals.live_bytes);
}

/// The number of passes, and the peak; asking for a time always takes a second pass.
fn peak(rows: &[Allocation<'static>], at_ns: Option<i64>) -> (u32, Moment) {
    let passes = Cell::new(0);
    let made = Made(|tables: &mut traceloom_model::Tables<'_>| {
        passes.set(passes.get() + 1);
        rows.iter().try_for_each(|row| tables.push(*row))
    });
    let options = Options { at_ns, ..Options::default() };
    let report = memory(&made, &Filter::default(), &options).expect("it is in memory");
    (passes.get(), report.peak)
}

#[test]
fn one_pass_is_enough_if_each_event_has_one_site() {
    let on = |stack_id, row| Allocation { stack_id: Some(stack_id), ..row };
    let plain = [on(1, taken(0, 1, 100, Some(3), "freed")), on(2, taken(2, 2, 0, Some(4), "freed"))];
    let live = [on(2, taken(1, 3, 30, None, "live")), on(1, taken(5, 4, 7, None, "live"))];
    let reused = [on(1, taken(0, 1, 8, Some(1), "reused")), on(2, taken(1, 1, 16, None, "live"))];
    let huge = [taken(0, 1, u64::MAX, Some(1), "freed"), taken(2, 1, 5, Some(3), "freed")];
    let backward = [taken(4, 1, 6, Some(2), "freed"), taken(5, 2, 5, None, "live")];
    let negative = [taken(-3, 1, 6, Some(2), "freed"), taken(1, 2, 5, None, "live")];
    let cases =
        [(&[plain, live].concat()[..], 1), (&live, 1), (&reused, 2), (&huge, 2), (&backward, 2), (&negative, 2)];
    for (rows, expected) in cases {
        let ((passes, once), (two, twice)) = (peak(rows, None), peak(rows, Some(0)));
        assert_eq!((passes, two), (expected, 2), "{rows:?}");
        assert_eq!(
            (once.ts_ns, once.bytes, once.count, once.sites),
            (twice.ts_ns, twice.bytes, twice.count, twice.sites)
        );
    }
    let (_, most) = peak(&[plain, live].concat(), None);
    assert_eq!((most.ts_ns, most.bytes, most.count), (10, 130, 2));
}

#[test]
fn a_second_pass_finds_the_same_peak() {
    for (path, _) in goldens() {
        let [once, twice] = [None, Some(0)].map(|at_ns| report(&path, &Options { at_ns, ..Options::default() }).peak);
        assert_eq!((once.ts_ns, once.bytes, once.count), (twice.ts_ns, twice.bytes, twice.count), "{}", path.display());
        assert_eq!(once.sites, twice.sites, "{}", path.display());
    }
}
