//! The summary of the samples of `demo`, and of every fixture.

use traceloom_analysis::{
    advise::{self, Rule},
    summary::{Badge, Summary, of_trace},
};
use traceloom_core::Source;
use traceloom_mapping::Trace;
use traceloom_testkit::each_case;

fn summary(name: &str, bytes: Vec<u8>) -> Option<Summary> {
    let trace = Trace::new(name.as_ref(), Source::bytes(bytes), None, &Default::default()).ok()?;
    of_trace(&trace, &advise::Options::default()).ok()
}

fn of_demo(format: &str, name: &str) -> Summary {
    let format = traceloom_open::FORMATS.iter().find(|known| known.descriptor().id == format).expect("a format");
    summary(name, format.sample().expect("it has a sample").bytes).expect("it can be read")
}

fn rows(summary: &Summary, table: &str) -> u64 {
    summary.about.counts.iter().find(|count| count.table == table).map_or(0, |count| count.rows)
}

#[test]
fn a_game_has_slow_frames_with_their_causes() {
    let game = of_demo("easyprofiler", "game.prof");
    assert_eq!((game.about.format_name.as_str(), game.health.badge), ("EasyProfiler", Badge::Fine));
    assert!(rows(&game, "spans") > 1000 && rows(&game, "threads") >= 2, "{:?}", game.about.counts);
    let worst = &game.slow[0];
    assert_eq!((worst.name.as_str(), worst.thread.as_str(), worst.is_slow), ("Frame", "Main", true));
    assert_eq!(worst.blamed, "Collide", "{worst:?}");
    assert!(worst.blamed_ns < worst.dur_ns && worst.dur_ns as f64 > worst.median_ns);
    assert_eq!(game.findings[0].rule, Rule::FrameSpike);
    assert!(game.verdict.starts_with("2 slow frames: up to 3.54 ms"), "{}", game.verdict);
    assert!(game.memory.is_none() && game.logs.is_none());
}

#[test]
fn a_page_has_frames_that_the_collector_made_slow() {
    let page = of_demo("wtf", "game.wtf-trace");
    let blamed: Vec<&str> = page.slow.iter().map(|slow| slow.blamed.as_str()).collect();
    assert_eq!(blamed, ["javascript#gc"; 3]);
    assert!(page.slow.windows(2).all(|pair| pair[0].dur_ns >= pair[1].dur_ns), "{:?}", page.slow);
}

#[test]
fn a_log_has_levels_and_the_first_and_last_errors() {
    let log = of_demo("cnanolog", "service.clog").logs.expect("it has lines");
    assert_eq!(log.levels.iter().map(|level| level.lines).sum::<u64>(), log.lines);
    assert_eq!(log.levels[0].level, "ERROR", "the worst level comes first");
    assert_eq!(log.first_errors.len(), 5);
    assert!(log.first_errors[0].message.starts_with("query failed: "), "{:?}", log.first_errors);
    assert_eq!(log.first_errors[0].place.as_deref(), Some("src/db.c:310"));
    let times = log.first_errors.iter().chain(&log.last_errors).map(|line| line.ts_ns.expect("a time"));
    assert!(times.is_sorted());
}

#[test]
fn memory_has_a_peak_and_leaks() {
    let memory = of_demo("memlyze", "service.mlyze").memory.expect("it has allocations");
    assert!(memory.peak_bytes >= memory.live_bytes && memory.live_bytes > 0);
    let most = memory.curve.iter().map(|point| point.max_bytes).max();
    assert_eq!(most, Some(memory.peak_bytes), "the curve reaches the peak");
    assert_eq!(memory.at_peak.iter().map(|site| site.bytes).sum::<u64>(), memory.peak_bytes);
    assert!(memory.leaks.windows(2).all(|pair| pair[0].bytes >= pair[1].bytes));
}

#[test]
fn a_profile_has_its_functions() {
    let profile = of_demo("nytprof", "nytprof.out");
    assert!(!profile.names.is_empty() && profile.all_names >= profile.names.len());
}

#[test]
fn no_share_of_any_fixture_is_above_the_whole() {
    each_case(|_, case, bytes| {
        let Some(summary) = summary("fixture", bytes) else { return };
        let shares: f64 = summary.names.iter().map(|row| row.share).sum();
        assert!(shares <= 1.0 + 1e-9, "{}: {shares}", case.name);
        let saved = summary.findings.iter().all(|finding| (0.0..=1.0).contains(&finding.saved));
        let parts = summary.slow.iter().all(|slow| slow.blamed_ns <= slow.dur_ns);
        assert!(saved && parts, "{}", case.name);
        assert!(summary.verdict.ends_with('.'), "{}", summary.verdict);
    });
}
