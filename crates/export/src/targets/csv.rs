//! CSV: one table with a line of names.

use std::io::Write;

use traceloom_bytes::{Loss, Result};
use traceloom_model::{Columns, Filter, Table, TableSource, Wanted};

use crate::{
    AnyColumn, Cell, Descriptor, Options, Roster, Taken, Target, Variant, lose_table,
    loss::{counted_columns, counts},
    phrase, pour,
    text::{
        csv::push_text,
        number::{push_f64, push_i64, push_u64},
        push_hex,
    },
};

/// CSV.
#[derive(Debug)]
pub(super) struct Csv;

static DESCRIPTOR: Descriptor = Descriptor {
    id: "csv",
    name: "CSV",
    about: "spreadsheets and data tools: one table, named after the colon",
    extensions: &["csv"],
    variants: &table_variants(Variant {
        id: "main",
        about: "spans; where there are none, log entries, allocations, sums of calls, times of lines, events or values",
    }),
    // Which table it is depends on the trace; those that it is not are counted as lost.
    needs: &[],
    is_text: true,
};

/// One variant for each table, after the default.
pub(super) const fn table_variants(default: Variant) -> [Variant; Table::ALL.len() + 1] {
    let mut variants = [const { Variant { id: "", about: "" } }; Table::ALL.len() + 1];
    let mut number = 0;
    while number < Table::ALL.len() {
        let table = Table::ALL[number];
        variants[number + 1] = Variant { id: table.name(), about: phrase(table) };
        number += 1;
    }
    variants[0] = default;
    variants
}

/// Tables that can be meant where none is named, the best first.
const MAIN: [Table; 7] =
    [Table::Spans, Table::Logs, Table::Allocations, Table::Calls, Table::LineTimes, Table::Events, Table::Counters];

impl Target for Csv {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, source: &dyn TableSource, options: &Options, out: &mut dyn Write) -> Result<Loss> {
        let named = Table::by_name(DESCRIPTOR.variant(options)?);
        let (table, mut loss) = choose(source, options, named)?;
        let mut roster = Roster::new(source, &options.slice, &options.limits)?;
        let filter = roster.filter();
        let mut buffer = Vec::new();
        put_names(table, &mut buffer);
        pour(source, &filter, Wanted::nothing().and(table, Columns::ALL), |_, batch| {
            let columns = AnyColumn::all(batch);
            let taken = Taken::new(batch, &options.slice);
            for row in 0..batch.num_rows() {
                if taken.takes(row, &mut roster, table)? {
                    put_row(&columns, row, &mut buffer, &mut loss);
                }
            }
            out.write_all(&buffer)?;
            buffer.clear();
            Ok(())
        })?;
        out.write_all(&buffer)?;
        Ok(loss)
    }
}

/// The table to write, and what is lost with all others.
fn choose(source: &dyn TableSource, options: &Options, named: Option<Table>) -> Result<(Table, Loss)> {
    let counted = Table::ALL.into_iter().filter(|table| counts(*table) && Some(*table) != named);
    let wanted = counted.fold(Wanted::nothing(), |wanted, table| wanted.and(table, counted_columns(table)));
    let mut rows = [false; Table::ALL.len()];
    let mut losses: [Loss; Table::ALL.len()] = std::array::from_fn(|_| Loss::default());
    pour(source, &Filter::default(), wanted, |table, batch| {
        rows[table as usize] |= batch.num_rows() > 0;
        lose_table(&mut losses[table as usize], table, batch, &options.slice);
        Ok(())
    })?;
    let first = MAIN.into_iter().find(|table| rows[*table as usize]).unwrap_or(Table::Spans);
    let table = named.unwrap_or(first);
    let mut loss = Loss::default();
    for other in Table::ALL.into_iter().filter(|other| *other != table) {
        for (what, count, example) in losses[other as usize].entries() {
            (0..count).for_each(|_| loss.lose(what, || example.to_owned()));
        }
    }
    Ok((table, loss))
}

fn put_names(table: Table, out: &mut Vec<u8>) {
    for (number, column) in table.columns().iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        out.extend_from_slice(column.name.as_bytes());
    }
    out.push(b'\n');
}

fn put_row(columns: &[AnyColumn<'_>], row: usize, out: &mut Vec<u8>, loss: &mut Loss) {
    for (number, column) in columns.iter().enumerate() {
        if number > 0 {
            out.push(b',');
        }
        match column.get(row) {
            Cell::Bytes(bytes) => push_hex(out, bytes),
            Cell::Float(number) => {
                if !push_f64(out, number) {
                    out.extend_from_slice(number.to_string().as_bytes());
                }
            }
            Cell::Int(number) => push_i64(out, number),
            Cell::Null => {}
            Cell::Text(text) => {
                if push_text(out, text) {
                    loss.lose("texts that spreadsheets would run, now after an apostrophe", || text.to_owned());
                }
            }
            Cell::Unsigned(number) => push_u64(out, number),
        }
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{Synthetic, written};

    #[test]
    fn the_first_table_with_rows_is_written_and_texts_do_no_harm() {
        let trace =
            Synthetic::spans(&[("=cmd|' /C calc'!A0", 0, 0, None, -5, Some(9)), ("a,\"b\"", 1, 0, None, 7, None)]);
        let (csv, loss) = written(&Csv, &trace);
        let csv = String::from_utf8(csv).unwrap();
        let lines: Vec<&str> = csv.lines().collect();
        assert_eq!(
            lines[0],
            "trace_id,id,parent_id,thread_id,depth,ts_ns,dur_ns,self_ns,name,category,definition_id,file,line,color"
        );
        assert_eq!(lines[1], "7,0,,0,0,-5,9,9,\"'=cmd|' /C calc'!A0\",block,,,,");
        assert_eq!(lines[2], "7,1,,0,0,7,,,\"a,\"\"b\"\"\",block,,,,");
        let counts: Vec<_> = loss.entries().map(|(what, count, _)| (what, count)).collect();
        assert_eq!(
            counts,
            [("processes", 1), ("texts that spreadsheets would run, now after an apostrophe", 1), ("threads", 1)]
        );
    }

    #[test]
    fn a_table_can_be_named_and_its_rows_chosen() {
        let trace = Synthetic::spans(&[("a", 0, 0, None, 0, Some(9)), ("b", 1, 0, None, 20, Some(1))]);
        let text = |variant: &str, from_ns: Option<i64>| {
            let slice = traceloom_bytes::Slice { from_ns, ..Default::default() };
            let options = Options { variant: Some(variant.to_owned()), slice, ..Options::default() };
            let mut out = Vec::new();
            Csv.write(&trace, &options, &mut out).map(|_| String::from_utf8(out).unwrap())
        };
        assert_eq!(text("threads", None).unwrap().lines().nth(1), Some("7,0,100,0,main,,"));
        assert_eq!(text("spans", Some(10)).unwrap().lines().count(), 2);
        assert!(text("nothing", None).is_err());
    }
}
