//! Time in cells of equal length, which doubles as the trace grows.

/// Number of cells, which is fixed so that memory does not depend on the length of the trace.
pub(in crate::advise) const CELLS: usize = 64;

/// Maps timestamps to cells.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::advise) struct Clock {
    first_ns: Option<i64>,
    shift: u32,
    /// Number of cells up to the last used one.
    reached: usize,
}

impl Clock {
    /// The cell of a timestamp; calls `halve` each time the cells have to double.
    #[inline]
    pub(in crate::advise) fn cell(&mut self, ts_ns: i64, mut halve: impl FnMut()) -> usize {
        let first_ns = *self.first_ns.get_or_insert(ts_ns);
        let since = ts_ns.saturating_sub(first_ns).max(0) as u64;
        while since >> self.shift >= CELLS as u64 {
            self.shift += 1;
            self.reached = self.reached.div_ceil(2);
            halve();
        }
        let cell = (since >> self.shift) as usize;
        self.reached = self.reached.max(cell + 1);
        cell
    }

    pub(in crate::advise) fn reached(&self) -> usize {
        self.reached
    }

    pub(in crate::advise) fn cell_ns(&self) -> u64 {
        1 << self.shift
    }

    /// The start time of a cell.
    pub(in crate::advise) fn start_ns(&self, cell: usize) -> i64 {
        self.first_ns.unwrap_or(0).saturating_add(((cell as u64) << self.shift) as i64)
    }
}

/// Merges each pair of cells.
pub(in crate::advise) fn halve<T: Copy + Default>(cells: &mut [T; CELLS], join: impl Fn(T, T) -> T) {
    for index in 0..CELLS / 2 {
        cells[index] = join(cells[index * 2], cells[index * 2 + 1]);
    }
    cells[CELLS / 2..].fill(T::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_double_and_keep_their_sums() {
        let mut clock = Clock::default();
        let mut cells = [0_u32; CELLS];
        for ts_ns in (0..10_000).map(|n| 1_000 + n * 7) {
            let cell = clock.cell(ts_ns, || halve(&mut cells, |one, other| one + other));
            cells[cell] += 1;
        }
        assert_eq!(cells.iter().sum::<u32>(), 10_000);
        assert!(clock.reached() > CELLS / 2 && clock.reached() <= CELLS);
        assert!(clock.start_ns(clock.reached()) >= 1_000 + 9_999 * 7);
        assert_eq!(clock.cell(0, || panic!("earlier times are in the first cell")), 0);
    }
}
