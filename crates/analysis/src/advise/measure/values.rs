//! Values over time.

use hashbrown::HashMap;
use traceloom_model::select;
use traceloom_passes::{Interner, Translation};

use super::clock::{CELLS, Clock, halve};

select! { pub(in crate::advise) struct CounterRows of counters { ts_ns, name, value_id, value } }

/// Measurements of values.
#[derive(Debug, Default)]
pub(in crate::advise) struct Values {
    column: Translation,
    /// By name and the key that distinguishes values of one name.
    pub(in crate::advise) curves: HashMap<(u32, u64), Curve>,
}

/// One value over time.
#[derive(Debug)]
pub(in crate::advise) struct Curve {
    pub(in crate::advise) clock: Clock,
    /// The number of values and the lowest value, by time.
    pub(in crate::advise) cells: [(u32, f64); CELLS],
    pub(in crate::advise) count: u64,
    last: f64,
    /// The first nonzero step.
    pub(in crate::advise) step: Option<f64>,
    /// Whether all other steps are equal to it.
    pub(in crate::advise) has_one_step: bool,
    /// Whether the value ever decreased.
    pub(in crate::advise) falls: bool,
}

const MAX_CURVES: usize = 4096;

impl Values {
    pub(in crate::advise) fn add(&mut self, view: &CounterRows<'_>, names: &mut Interner) {
        let numbers = self.column.of(view.name.values(), names);
        for (row, key) in view.name.keys().iter().enumerate() {
            let Some(value) = view.value.get(row).filter(|value| value.is_finite()) else { continue };
            let key = (numbers[*key as usize], view.value_id.get(row).unwrap_or(0));
            if self.curves.len() >= MAX_CURVES && !self.curves.contains_key(&key) {
                continue;
            }
            self.curves.entry(key).or_insert_with(|| Curve::new(value)).add(view.ts_ns.get(row), value);
        }
    }
}

impl Curve {
    fn new(value: f64) -> Self {
        Self {
            clock: Clock::default(),
            cells: [(0, 0.0); CELLS],
            count: 0,
            last: value,
            step: None,
            has_one_step: true,
            falls: false,
        }
    }

    fn add(&mut self, ts_ns: i64, value: f64) {
        let step = value - self.last;
        if step != 0.0 {
            self.has_one_step &= *self.step.get_or_insert(step) == step;
            self.falls |= step < 0.0;
        }
        self.last = value;
        self.count += 1;
        let Self { clock, cells, .. } = self;
        let cell = clock.cell(ts_ns, || halve(cells, lowest));
        cells[cell] = lowest(cells[cell], (1, value));
    }

    /// The lowest value of each nonempty cell.
    pub(in crate::advise) fn lows(&self) -> Vec<f64> {
        self.cells.iter().filter(|(count, _)| *count > 0).map(|(_, low)| *low).collect()
    }
}

fn lowest(one: (u32, f64), other: (u32, f64)) -> (u32, f64) {
    let value = match (one.0, other.0) {
        (0, _) => other.1,
        (_, 0) => one.1,
        _ => one.1.min(other.1),
    };
    (one.0.saturating_add(other.0), value)
}
