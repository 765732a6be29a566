//! Writes the rows of a result.

use std::io::{self, Write};

use anstream::adapter::StripBytes;
use traceloom_core::Result;
use traceloom_query::{Cells, Format, Rows, Writer};

use crate::{progress::Progress, table::TextTable};

/// Rows per batch; the column widths fit the rows of a batch.
const BLOCK_ROWS: usize = 10_000;

/// Writes an aligned table; returns the number of rows.
pub(crate) fn write(answer: &mut dyn Rows, progress: &Progress, out: &mut dyn Write) -> Result<u64> {
    let cells = Cells::new(answer.schema());
    let (mut table, mut waiting, mut total) = (empty(&cells), 0, 0);
    while let Some(batch) = answer.next()? {
        for row in cells.rows(&batch)? {
            table.row(row);
            waiting += 1;
        }
        if waiting >= BLOCK_ROWS {
            progress.clear();
            table.write(out)?;
            total += waiting as u64;
            (table, waiting) = (empty(&cells), 0);
        }
    }
    progress.clear();
    if waiting > 0 || total == 0 {
        table.write(out)?;
    }
    Ok(total + waiting as u64)
}

fn empty(cells: &Cells) -> TextTable {
    cells.heads().iter().fold(
        TextTable::new(),
        |table, (head, is_number)| {
            if *is_number { table.numbers(&[head]) } else { table.text(head) }
        },
    )
}

/// Writes the table into a file, which has no colors.
pub(crate) fn write_plain(answer: &mut dyn Rows, progress: &Progress, out: &mut dyn Write) -> Result<()> {
    write(answer, progress, &mut Plain { out, strip: StripBytes::new() }).map(drop)
}

struct Plain<'w> {
    out: &'w mut dyn Write,
    strip: StripBytes,
}

impl Write for Plain<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for plain in self.strip.strip_next(bytes) {
            self.out.write_all(plain)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes rows for programs.
pub(crate) fn write_as(format: Format, answer: &mut dyn Rows, progress: &Progress, out: &mut dyn Write) -> Result<()> {
    let mut writer = Writer::new(format, &answer.schema(), out)?;
    while let Some(batch) = answer.next()? {
        progress.clear();
        writer.write(&batch)?;
    }
    progress.clear();
    writer.finish()
}
