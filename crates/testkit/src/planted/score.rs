//! Scores how well problems are found.

use traceloom_core::Result;
use traceloom_mapping::Trace;

use super::{CLEAN, Dice, Family, PROBLEMS};

/// The parts of a finding that are scored.
#[derive(Clone, Debug)]
pub struct Blame {
    /// The blamed name.
    pub name: String,
    /// The `file:line` of the name.
    pub place: Option<String>,
    /// Whether it is medium or higher, which is a false alarm if there is no problem.
    pub is_alarm: bool,
    /// The finding as text.
    pub text: String,
}

/// The score of one family.
#[derive(Clone, Debug)]
pub struct FamilyScore {
    /// Name of the family.
    pub name: &'static str,
    /// Number of traces.
    pub traces: u64,
    /// How often the right name was first.
    pub first: u64,
    /// How often the right name was among the first three.
    pub in_three: u64,
    /// False alarms.
    pub alarms: u64,
    /// What went wrong: the seed and the findings.
    pub misses: Vec<String>,
}

/// The score of all families.
#[derive(Clone, Debug, Default)]
pub struct Score {
    /// Families with a problem.
    pub problems: Vec<FamilyScore>,
    /// Families without a problem.
    pub clean: Vec<FamilyScore>,
}

impl Score {
    /// Scores some traces of each family.
    pub fn of(seeds: std::ops::Range<u64>, mut advise: impl FnMut(&Trace) -> Result<Vec<Blame>>) -> Result<Self> {
        let mut score = Self::default();
        for (number, family) in (0..).zip(PROBLEMS) {
            score.problems.push(family.score(number, seeds.clone(), &mut advise)?);
        }
        for (number, family) in (100..).zip(CLEAN) {
            score.clean.push(family.score(number, seeds.clone(), &mut advise)?);
        }
        Ok(score)
    }

    /// The share of problems whose name is blamed first.
    pub fn recall_at_one(&self) -> f64 {
        share(&self.problems, |family| family.first)
    }

    /// The share of problems whose name is blamed first, second or third.
    pub fn recall_at_three(&self) -> f64 {
        share(&self.problems, |family| family.in_three)
    }

    /// False alarms per clean trace.
    pub fn false_alarms(&self) -> f64 {
        share(&self.clean, |family| family.alarms)
    }

    /// A table for people.
    pub fn table(&self) -> String {
        let mut text = String::new();
        for family in &self.problems {
            let FamilyScore { name, traces, first, in_three, .. } = family;
            text += &format!("  {name:<32} first {first:>3}/{traces}  in three {in_three:>3}/{traces}\n");
        }
        for FamilyScore { name, traces, alarms, .. } in &self.clean {
            text += &format!("  {name:<32} false alarms {alarms:>3} in {traces}\n");
        }
        text += &format!(
            "recall at one {:.3}, at three {:.3}; {:.3} false alarms per clean trace\n",
            self.recall_at_one(),
            self.recall_at_three(),
            self.false_alarms()
        );
        text
    }
}

fn share(families: &[FamilyScore], count: impl Fn(&FamilyScore) -> u64) -> f64 {
    let traces: u64 = families.iter().map(|family| family.traces).sum();
    families.iter().map(count).sum::<u64>() as f64 / traces.max(1) as f64
}

impl Family {
    fn score(
        &self,
        number: u64,
        seeds: std::ops::Range<u64>,
        advise: &mut impl FnMut(&Trace) -> Result<Vec<Blame>>,
    ) -> Result<FamilyScore> {
        let mut score =
            FamilyScore { name: self.name, traces: 0, first: 0, in_three: 0, alarms: 0, misses: Vec::new() };
        for seed in seeds {
            let planted = (self.plant)(&mut Dice::new(seed * 1000 + number));
            let found = advise(&planted.trace()?)?;
            let is_right = |blame: &Blame| {
                planted.blamed.iter().any(|name| *name == blame.name || Some(name) == blame.place.as_ref())
            };
            score.traces += 1;
            let place = found.iter().position(is_right);
            score.first += u64::from(place == Some(0));
            score.in_three += u64::from(place.is_some_and(|place| place < 3));
            let alarms = found.iter().filter(|blame| planted.blamed.is_empty() && blame.is_alarm).count();
            score.alarms += alarms as u64;
            if alarms > 0 || !planted.blamed.is_empty() && place != Some(0) {
                let said: Vec<&str> = found.iter().take(3).map(|blame| blame.text.as_str()).collect();
                score.misses.push(format!(
                    "{} seed {seed} {}, wants {:?}: {said:#?}",
                    self.name, planted.format, planted.blamed
                ));
            }
        }
        Ok(score)
    }
}
