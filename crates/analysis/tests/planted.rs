//! Planted problems are found, and clean traces cause no false alarms.

use traceloom_analysis::advise::{Options, Weight, of_trace};
use traceloom_core::Result;
use traceloom_mapping::Trace;
use traceloom_testkit::planted::{Blame, Score};

fn blames(trace: &Trace) -> Result<Vec<Blame>> {
    let advice = of_trace(trace, &Options::default())?;
    let blames = advice.into_iter().map(|advice| Blame {
        is_alarm: advice.weight <= Weight::Medium,
        text: format!("{} {} {}: {}", advice.weight.as_str(), advice.rule.as_str(), advice.subject, advice.message),
        name: advice.subject,
        place: advice.place,
    });
    Ok(blames.collect())
}

/// Number of traces per family; more with `PLANTED_SEEDS=from..to`.
fn seeds() -> std::ops::Range<u64> {
    let named = std::env::var("PLANTED_SEEDS").ok();
    let range = named.as_deref().and_then(|text| text.split_once("..").map(|(from, to)| (from.parse(), to.parse())));
    if let Some((Ok(from), Ok(to))) = range { from..to } else { 0..6 }
}

#[test]
fn planted_problems_are_blamed_first_and_clean_traces_are_not_blamed() {
    let score = Score::of(seeds(), blames).expect("planted traces can be read");
    let misses: Vec<&String> = score.problems.iter().chain(&score.clean).flat_map(|family| &family.misses).collect();
    let report = format!("{}\n{}", misses.iter().map(|miss| format!("{miss}\n")).collect::<String>(), score.table());
    println!("{report}");
    assert!(score.recall_at_one() >= 0.9, "{report}");
    assert!(score.false_alarms() <= 0.1, "{report}");
    for family in &score.problems {
        assert!(family.first * 3 >= family.traces * 2, "{}: {report}", family.name);
    }
}
#[test]
fn the_score_can_fail() {
    // Controls: an advisor without findings, and one with too many.
    let silent = Score::of(0..2, |_| Ok(Vec::new())).expect("read");
    assert_eq!((silent.recall_at_one(), silent.recall_at_three(), silent.false_alarms()), (0.0, 0.0, 0.0));
    let wolf = |_: &Trace| Ok(vec![Blame { name: "wolf".into(), place: None, is_alarm: true, text: String::new() }]);
    let wolf = Score::of(0..2, wolf).expect("read");
    assert_eq!((wolf.recall_at_one(), wolf.false_alarms()), (0.0, 1.0));
}
