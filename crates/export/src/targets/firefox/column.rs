//! Columns of a table, collected row by row and written one after the other.

use std::io::Write;

use traceloom_core::{
    Result, Store,
    text::number::{push_i64, push_u64},
};

/// Bytes of a column that are kept in memory.
const RESIDENT_BYTES: u64 = 1 << 20;
/// Bytes copied at once.
const PART: usize = 64 << 10;

/// Values of a JSON array.
#[derive(Debug)]
pub(super) struct Column {
    cells: Store,
    cell: Vec<u8>,
}

impl Default for Column {
    fn default() -> Self {
        Self { cells: Store::new(RESIDENT_BYTES), cell: Vec::new() }
    }
}

impl Column {
    /// Adds a value that is already JSON, as appended by the closure.
    #[inline]
    pub(super) fn push(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.cell.clear();
        if !self.cells.is_empty() {
            self.cell.push(b',');
        }
        fill(&mut self.cell);
        self.cells.append(&self.cell)?;
        Ok(())
    }

    /// Adds a number.
    pub(super) fn number(&mut self, number: u64) -> Result<()> {
        self.push(|out| push_u64(out, number))
    }

    /// Adds a number, or null.
    pub(super) fn maybe(&mut self, number: Option<u32>) -> Result<()> {
        self.push(|out| match number {
            Some(number) => push_u64(out, number.into()),
            None => out.extend_from_slice(b"null"),
        })
    }

    /// Adds a signed number.
    pub(super) fn signed(&mut self, number: i64) -> Result<()> {
        self.push(|out| push_i64(out, number))
    }

    /// Adds a time as milliseconds.
    pub(super) fn millis(&mut self, ns: u64) -> Result<()> {
        self.push(|out| push_millis(out, ns))
    }

    /// Writes the array after its key, with a comma before it unless it is the first of its object.
    pub(super) fn write(&mut self, key: &str, is_first: bool, out: &mut dyn Write) -> Result<()> {
        write!(out, "{}\"{key}\":[", if is_first { "" } else { "," })?;
        // A profile may have many threads with short columns.
        let mut part = vec![0; self.cells.len().min(PART as u64) as usize];
        let mut offset = 0;
        while offset < self.cells.len() {
            let len = (self.cells.len() - offset).min(PART as u64) as usize;
            self.cells.read(offset, &mut part[..len])?;
            out.write_all(&part[..len])?;
            offset += len as u64;
        }
        Ok(out.write_all(b"]")?)
    }
}

/// Appends nanoseconds as milliseconds, exactly.
pub(super) fn push_millis(out: &mut Vec<u8>, ns: u64) {
    push_u64(out, ns / 1_000_000);
    let mut rest = ns % 1_000_000;
    if rest == 0 {
        return;
    }
    out.push(b'.');
    let mut unit = 100_000;
    while rest > 0 {
        out.push(b'0' + (rest / unit) as u8);
        (rest, unit) = (rest % unit, unit / 10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_are_exact() {
        for (ns, expected) in [(0, "0"), (1, "0.000001"), (1_500_000, "1.5"), (u64::MAX, "18446744073709.551615")] {
            let mut out = Vec::new();
            push_millis(&mut out, ns);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn a_column_is_an_array_however_long_it_is() {
        let mut column = Column::default();
        (0..400_000).for_each(|number| column.number(number).unwrap());
        let mut out = b"{".to_vec();
        column.write("a", true, &mut out).unwrap();
        Column::default().write("b", false, &mut out).unwrap();
        out.push(b'}');
        let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(json["a"].as_array().unwrap().len(), 400_000);
        assert_eq!(json["a"][399_999], 399_999);
        assert_eq!(json["b"], serde_json::json!([]));
    }
}
