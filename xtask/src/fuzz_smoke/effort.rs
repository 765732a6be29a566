//! How much each target runs: the same inputs every time for the tests, or new ones for any length of time.

/// The effort for a target.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Effort {
    /// The same inputs every time, derived only from the fixtures.
    Fixed,
    /// Different inputs every time for this many seconds, also derived from the corpus of earlier runs.
    Seconds(u32),
}

/// Any fixed number; another seed would be another test.
const SEED: u32 = 5;
/// Time limit; a slow machine does fewer runs.
const MAX_SECONDS: u32 = 60;
/// Number of runs per target, for five to ten seconds of CPU time each in the build of the tests.
const RUNS: &[(&str, u32)] = &[
    ("analysis", 1_100),
    ("cnanolog_edit", 1_100),
    ("cnanolog_export", 1_100),
    ("cnanolog_read", 4_000),
    ("cnanolog_rewrite", 2_000),
    ("cnanolog_tables", 1_100),
    ("easyprofiler_edit", 1_500),
    ("easyprofiler_export", 1_100),
    ("easyprofiler_live", 66_700),
    ("easyprofiler_read", 4_000),
    ("easyprofiler_rewrite", 3_700),
    ("easyprofiler_tables", 1_100),
    ("memlyze_edit", 1_100),
    ("memlyze_export", 1_100),
    ("memlyze_read", 5_000),
    ("memlyze_rewrite", 4_300),
    ("memlyze_tables", 1_100),
    ("nytprof_edit", 1_100),
    ("nytprof_export", 1_100),
    ("nytprof_read", 2_000),
    ("nytprof_rewrite", 2_000),
    ("nytprof_tables", 1_100),
    ("pynytprof_edit", 2_300),
    ("pynytprof_export", 1_100),
    ("pynytprof_read", 7_300),
    ("pynytprof_rewrite", 4_000),
    ("pynytprof_tables", 1_100),
    ("scene", 1_100),
    ("stream_live", 133_300),
    ("wtf_edit", 1_100),
    ("wtf_export", 1_100),
    ("wtf_read", 3_000),
    ("wtf_rewrite", 2_500),
    ("wtf_tables", 1_100),
];
/// For targets that were not measured.
const OTHER_RUNS: u32 = 2_000;

impl Effort {
    /// The arguments for libFuzzer.
    pub(super) fn arguments(self, target: &str) -> Vec<String> {
        match self {
            Self::Fixed => vec![
                format!("-seed={SEED}"),
                format!("-runs={}", runs(target)),
                format!("-max_total_time={MAX_SECONDS}"),
                // Mutations would use compared values, and some of those are addresses.
                "-use_cmp=0".into(),
            ],
            Self::Seconds(seconds) => vec![format!("-max_total_time={seconds}")],
        }
    }

    /// The profile of the build, in the manifest of the fuzz crate.
    pub(super) fn profile(self) -> &'static str {
        match self {
            Self::Fixed => "smoke",
            Self::Seconds(_) => "release",
        }
    }

    /// Whether a target uses and extends the corpus of earlier runs.
    pub(super) fn learns(self) -> bool {
        self != Self::Fixed
    }

    /// For people.
    pub(super) fn describe(self, target: &str) -> String {
        match self {
            Self::Fixed => format!("with the same {} inputs as always", runs(target)),
            Self::Seconds(seconds) => format!("for {seconds} s"),
        }
    }

    /// Whether a run of this many inputs ended because of the time limit, so that it differs between machines.
    pub(super) fn is_short(self, target: &str, inputs: &str) -> bool {
        self == Self::Fixed && inputs.parse().is_ok_and(|inputs: u32| inputs < runs(target))
    }
}

fn runs(target: &str) -> u32 {
    RUNS.iter().find(|(name, _)| *name == target).map_or(OTHER_RUNS, |(_, runs)| *runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::root;

    #[test]
    fn the_numbers_of_runs_are_those_of_targets() {
        for (name, runs) in RUNS {
            assert!(root().join("fuzz/fuzz_targets").join(format!("{name}.rs")).is_file(), "there is no {name}");
            assert!(*runs > 1_000, "{name} hardly gets beyond its seeds");
        }
    }

    #[test]
    fn only_a_fixed_effort_can_be_short() {
        assert!(Effort::Fixed.is_short("cnanolog_edit", "1099"));
        assert!(!Effort::Fixed.is_short("cnanolog_edit", "1100"));
        assert!(!Effort::Seconds(1).is_short("cnanolog_edit", "1"));
    }
}
