//! CSV: one table with a header line.

use std::io::Write;

use traceloom_core::{
    Loss, Result,
    text::{
        number::{push_f64, push_i64, push_u64},
        push_hex,
    },
};
use traceloom_model::Table;

use super::tables::{MAIN_TABLE, choose, pour_taken, table_variants};
use crate::{AnyColumn, text::csv::push_text};
use traceloom_passes::{Datum, Request, Target, Writer};

pub(super) static TARGET: Target = Target {
    id: "csv",
    name: "CSV",
    about: "spreadsheets and data tools: one table, named after the colon",
    extensions: &["csv"],
    variants: &table_variants(MAIN_TABLE),
    is_text: true,
    writer: Writer::Tables(write),
    ..Target::EMPTY
};

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
    let table = choose(request)?;
    let mut buffer = Vec::new();
    put_names(table, &mut buffer);
    let loss = pour_taken(
        request,
        |other| other == table,
        |_, batch, loss| {
            let columns = AnyColumn::all(batch);
            for row in 0..batch.num_rows() {
                put_row(&columns, row, &mut buffer, loss);
            }
            out.write_all(&buffer)?;
            buffer.clear();
            Ok(())
        },
    )?;
    out.write_all(&buffer)?;
    Ok(loss)
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
            Datum::Bytes(bytes) => push_hex(out, bytes),
            Datum::Float(number) => {
                if !push_f64(out, number) {
                    out.extend_from_slice(number.to_string().as_bytes());
                }
            }
            Datum::Int(number) => push_i64(out, number),
            Datum::Null => {}
            Datum::Text(text) => {
                if push_text(out, text) {
                    loss.lose("text that spreadsheets would execute, now after an apostrophe", || text.to_owned());
                }
            }
            Datum::Unsigned(number) => push_u64(out, number),
        }
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceloom_passes::{
        Options,
        fixture::{Synthetic, written, written_with},
    };

    #[test]
    fn the_first_table_with_rows_is_written_and_texts_do_no_harm() {
        let trace =
            Synthetic::spans(&[("=cmd|' /C calc'!A0", 0, 0, None, -5, Some(9)), ("a,\"b\"", 1, 0, None, 7, None)]);
        let (csv, loss) = written(&TARGET, &trace);
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
            [("processes", 1), ("text that spreadsheets would execute, now after an apostrophe", 1), ("threads", 1)]
        );
    }

    #[test]
    fn a_table_can_be_named_and_its_rows_chosen() {
        let trace = Synthetic::spans(&[("a", 0, 0, None, 0, Some(9)), ("b", 1, 0, None, 20, Some(1))]);
        let text = |variant: &str, from_ns: Option<i64>| {
            let range = traceloom_core::TimeRange::new(from_ns, None);
            let slice = traceloom_core::Slice { range, ..Default::default() };
            let options = Options { variant: Some(variant.to_owned()), slice, ..Options::default() };
            written_with(&TARGET, &trace, &options).map(|(out, _)| String::from_utf8(out).unwrap())
        };
        assert_eq!(text("threads", None).unwrap().lines().nth(1), Some("7,0,100,0,main,,"));
        assert_eq!(text("spans", Some(10)).unwrap().lines().count(), 2);
        assert!(text("nothing", None).is_err());
    }
}
