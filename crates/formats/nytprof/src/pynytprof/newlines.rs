//! Recognizes files in which every byte 0a became 01, as the Python writer of the document's commit wrote them.

use super::record::{Line, Record};

/// Among this many bytes with any value, the same value is missing in one of 3000 files.
const TELLING_BYTES: u64 = 2048;

/// Counts what a byte 0a could be in.
#[derive(Debug, Default)]
pub(super) struct Newlines {
    payload_bytes: u64,
    /// Bytes that are as likely to be 0a as anything else. Most bytes of a chunk are zeros and small numbers.
    telling_bytes: u64,
    has_newline: bool,
    calls: u64,
    visits: u64,
    last_line: Option<(u32, u32)>,
    has_moved_line: bool,
}

impl Newlines {
    pub(super) fn item(&mut self, bytes: &[u8], record: &Record<'_>) {
        self.payload_bytes += bytes.len() as u64;
        self.has_newline |= bytes.contains(&b'\n');
        match record {
            Record::Line(line) => {
                self.calls += u64::from(line.calls);
                self.line(line);
                self.times(&[line.inc_ticks, line.exc_ticks]);
            }
            Record::Visit(visit) => {
                self.visits += 1;
                self.times(&[visit.ns]);
            }
            // The tool writes the same value into both times.
            Record::Edge(edge) => self.times(&[edge.ticks]),
            Record::SiteCalls(calls) => self.times(&[calls.inc_ticks]),
            _ => {}
        }
    }

    /// The number of bytes in which 0a is missing, if that is not a coincidence.
    pub(super) fn missing_in(&self, is_cut: bool) -> Option<u64> {
        // There is a visit for each call, and ten calls became one.
        let has_lost_calls = self.visits > self.calls && !is_cut;
        let is_telling = has_lost_calls || self.has_moved_line || self.telling_bytes >= TELLING_BYTES;
        (is_telling && !self.has_newline).then_some(self.payload_bytes)
    }

    /// Lines are sorted, and each is written once: line 10 that became line 1 follows line 9.
    fn line(&mut self, line: &Line) {
        let this = (line.fid, line.line);
        let is_backward = self.last_line.is_some_and(|last| last.0 == this.0 && last >= this);
        self.has_moved_line |= is_backward && line.line.to_le_bytes().contains(&1);
        self.last_line = Some(this);
    }

    /// Of a time, all bytes but the most significant one can have any value.
    fn times(&mut self, times: &[u64]) {
        let bytes = |time: &u64| u64::from(u64::BITS - time.leading_zeros()).div_ceil(8);
        self.telling_bytes += times.iter().map(|time| bytes(time).saturating_sub(1)).sum::<u64>();
    }
}
