//! How far a figure is above the others of its kind.

/// The median of some figures and their deviation from it.
///
/// Both are medians, so a few very slow lines do not make themselves look normal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    median: f64,
    deviation: f64,
}

/// How much a figure stands out.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Heat {
    /// At most half a deviation above the median.
    Cold,
    /// At most one deviation.
    Mild,
    /// At most two deviations.
    Warm,
    /// More than two deviations.
    Hot,
}

impl Heat {
    /// The id in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Mild => "mild",
            Self::Warm => "warm",
            Self::Hot => "hot",
        }
    }
}

impl Spread {
    /// Computes the median and deviation of these figures.
    pub fn of(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut figures: Vec<f64> = figures.into_iter().collect();
        let median = upper_median(&mut figures);
        figures.iter_mut().for_each(|figure| *figure = (*figure - median).abs());
        Self { median, deviation: upper_median(&mut figures) }
    }

    /// How much one of them stands out.
    pub fn heat(&self, figure: f64) -> Heat {
        let above = figure - self.median;
        // If most figures are equal, every larger one stands out.
        match if self.deviation > 0.0 { above / self.deviation } else { above * f64::INFINITY } {
            far if far > 2.0 => Heat::Hot,
            far if far > 1.0 => Heat::Warm,
            far if far > 0.5 => Heat::Mild,
            _ => Heat::Cold,
        }
    }
}

/// The median; the upper one of an even number, as in NYTProf.
fn upper_median(figures: &mut [f64]) -> f64 {
    if figures.is_empty() {
        return 0.0;
    }
    let middle = figures.len() / 2;
    *figures.select_nth_unstable_by(middle, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_line_stands_out() {
        let spread = Spread::of([1.0, 2.0, 3.0, 4.0, 100.0]);
        assert_eq!(spread, Spread { median: 3.0, deviation: 1.0 });
        let heats = [3.0, 3.75, 4.5, 100.0].map(|figure| spread.heat(figure));
        assert_eq!(heats, [Heat::Cold, Heat::Mild, Heat::Warm, Heat::Hot]);
    }

    #[test]
    fn equal_figures_are_cold() {
        let spread = Spread::of([5.0; 3]);
        assert_eq!((spread.heat(5.0), spread.heat(4.0), spread.heat(5.1)), (Heat::Cold, Heat::Cold, Heat::Hot));
        assert_eq!(Spread::of([]).heat(0.0), Heat::Cold);
    }
}
