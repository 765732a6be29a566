//! Values that keep growing.

use super::Case;
use crate::advise::{
    measure::values::Curve,
    report::{Advice, Evidence, Rule, Unit, Weight},
    robust::growth,
    words::{digits, quoted},
};

/// Minimum growth, as a share of the highest value.
const MIN_GROWTH: f64 = 0.1;
const MIN_VALUES: u64 = 32;

pub(in crate::advise) fn growing(case: &Case<'_>) -> Vec<Advice> {
    let curves = case.measured.values.curves.iter();
    let mut all: Vec<Advice> = curves.filter_map(|((name, _), curve)| one(case, *name, curve)).collect();
    all.sort_by(|one, other| other.saved.total_cmp(&one.saved).then_with(|| one.subject.cmp(&other.subject)));
    all.truncate(3);
    all
}

fn one(case: &Case<'_>, name: u32, curve: &Curve) -> Option<Advice> {
    // A value that always grows by one is an index.
    if curve.has_one_step && curve.step == Some(1.0) || curve.count < MIN_VALUES {
        return None;
    }
    let trend = growth(&curve.lows())?;
    let size = trend.last.abs().max(trend.first.abs());
    let part = (trend.last - trend.first) / size.max(f64::MIN_POSITIVE);
    if part < MIN_GROWTH || !part.is_finite() {
        return None;
    }
    let name = case.measured.name(name);
    Some(Advice {
        rule: Rule::Growth,
        // A value that never falls may be a running total, which is expected to grow.
        weight: if curve.falls { Weight::Medium } else { Weight::Low },
        subject: name.to_owned(),
        place: None,
        cause: "it never returns to an earlier level".to_owned(),
        message: format!("{name} keeps growing: from {} to {}", digits(trend.first), digits(trend.last)),
        saved: part.clamp(0.0, 1.0),
        count: curve.count,
        evidence: vec![
            Evidence::new("at the start", trend.first, Unit::Number).at(curve.clock.start_ns(0)),
            Evidence::new("at the end", trend.last, Unit::Number).at(curve.clock.start_ns(curve.clock.reached())),
            Evidence::new(
                format!("of consecutive values increase ({} values)", curve.count),
                trend.steadiness,
                Unit::Part,
            ),
        ],
        query: format!("SELECT ts_ns, value FROM counters WHERE name = {} ORDER BY ts_ns", quoted(name)),
    })
}
