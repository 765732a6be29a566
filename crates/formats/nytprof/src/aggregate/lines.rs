//! Sums per file and line, with fast lookup.

use std::collections::HashMap;

use super::Line;

/// A sum for each pair of file and line.
///
/// Files and lines are numbered from 1, so arrays hold nearly all of them; a pair whose numbers would make an array too
/// large for the file goes to a hash table.
#[derive(Debug)]
pub(super) struct LineTable {
    files: Vec<Vec<Line>>,
    /// Number of bytes by which the arrays may still grow.
    dense_bytes_left: u64,
    others: HashMap<(u32, u32), Line>,
}

/// Size of a line in the hash table, including the slack of the table.
pub(super) const OTHER_BYTES: u64 = 110;
const LINE_BYTES: u64 = size_of::<Line>() as u64;
const FILE_BYTES: u64 = size_of::<Vec<Line>>() as u64;
/// No statement was on this line: a count that cannot occur.
const UNUSED: Line = Line { seconds: 0.0, count: i64::MIN };

impl LineTable {
    pub(super) fn new(dense_bytes: u64) -> Self {
        Self { files: Vec::new(), dense_bytes_left: dense_bytes, others: HashMap::new() }
    }

    /// Number of entries outside the arrays.
    #[inline]
    pub(super) fn others(&self) -> usize {
        self.others.len()
    }

    #[inline]
    pub(super) fn add(&mut self, fid: u32, line: u32, seconds: f64, count: i64) {
        let sum = match self.files.get_mut(fid as usize).and_then(|lines| lines.get_mut(line as usize)) {
            Some(sum) => sum,
            None => self.find(fid, line),
        };
        if sum.count == i64::MIN {
            sum.count = 0;
        }
        sum.seconds += seconds;
        sum.count += count;
    }

    #[cold]
    #[inline(never)]
    fn find(&mut self, fid: u32, line: u32) -> &mut Line {
        let is_dense = self.make_room(fid, line);
        match self.files.get_mut(fid as usize).and_then(|lines| lines.get_mut(line as usize)) {
            Some(sum) if is_dense => sum,
            _ => self.others.entry((fid, line)).or_insert(UNUSED),
        }
    }

    /// Makes the arrays long enough, if that is worth it.
    fn make_room(&mut self, fid: u32, line: u32) -> bool {
        let (fid, line) = (fid as usize, line as usize);
        let files = if fid < self.files.len() { self.files.len() } else { (fid + 1).next_power_of_two() };
        let before = self.files.get(fid).map_or(0, Vec::len);
        let lines = (line + 1).next_power_of_two().max(4);
        let more = (files - self.files.len()) as u64 * FILE_BYTES + (lines - before) as u64 * LINE_BYTES;
        if more > self.dense_bytes_left || self.others.contains_key(&(fid as u32, line as u32)) {
            return false;
        }
        self.dense_bytes_left -= more;
        self.files.resize_with(files, Vec::new);
        if let Some(of_file) = self.files.get_mut(fid) {
            of_file.reserve_exact(lines - before);
            of_file.resize(lines, UNUSED);
        }
        true
    }

    /// All sums, with file and line.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = (u32, u32, Line)> + use<> {
        let files = std::mem::take(&mut self.files).into_iter().zip(0u32..);
        let dense =
            files.flat_map(|(lines, fid)| lines.into_iter().zip(0u32..).map(move |(sum, line)| (fid, line, sum)));
        let others = std::mem::take(&mut self.others).into_iter().map(|((fid, line), sum)| (fid, line, sum));
        dense.chain(others).filter(|(.., sum)| sum.count != i64::MIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_lines_take_no_array_and_all_come_back() {
        let mut table = LineTable::new(1 << 12);
        let pairs = [(1, 1), (1, 31), (1, 70_000), (u32::MAX, u32::MAX), (1, 1), (3, 0), (1, 70_000)];
        for (fid, line) in pairs {
            table.add(fid, line, 0.5, 1);
        }
        assert_eq!(table.others(), 2, "{table:?}");
        let mut sums: Vec<_> = table.drain().map(|(fid, line, sum)| (fid, line, sum.count)).collect();
        sums.sort_unstable();
        assert_eq!(sums, [(1, 1, 2), (1, 31, 1), (1, 70_000, 2), (3, 0, 1), (u32::MAX, u32::MAX, 1)]);
    }
}
