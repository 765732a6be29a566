//! JSON lines: one object per row.

use std::io::Write;

use traceloom_core::{
    Loss, Result,
    text::{json, push_hex},
};
use traceloom_model::Table;

use super::tables::{pour_taken, table_variants};
use crate::AnyColumn;
use traceloom_passes::{Datum, Request, Target, Variant, Writer};

pub(super) static TARGET: Target = Target {
    id: "json",
    name: "JSON lines",
    about: "jq and data tools: one object per row, with its table, or only the table named after the colon",
    extensions: &["jsonl", "ndjson"],
    variants: &table_variants(Variant::new("all", "every row of every table, with the name of its table")),
    is_text: true,
    writer: Writer::Tables(write),
    ..Target::EMPTY
};

fn write(request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
    let named = Table::by_name(request.variant);
    let shows = |table: Table| named.is_none_or(|named| named == table);
    let mut json = json::Writer::default();
    pour_taken(request, shows, |table, batch, _| {
        let columns = AnyColumn::all(batch);
        for row in 0..batch.num_rows() {
            put_row(table, named.is_none(), &columns, row, &mut json);
        }
        out.write_all(&json.out)?;
        json.out.clear();
        Ok(())
    })
}

fn put_row(table: Table, with_table: bool, columns: &[AnyColumn<'_>], row: usize, json: &mut json::Writer) {
    json.begin_object();
    if with_table {
        json.key("table").string(table.name());
    }
    for (column, def) in columns.iter().zip(table.columns()) {
        json.key(def.name);
        match column.get(row) {
            Datum::Bytes(bytes) => {
                let mut hex = Vec::new();
                push_hex(&mut hex, bytes);
                json.string(&String::from_utf8_lossy(&hex))
            }
            Datum::Float(number) => json.float(number),
            Datum::Int(number) => json.int(number),
            Datum::Null => json.null(),
            Datum::Text(text) => json.string(text),
            Datum::Unsigned(number) => json.unsigned(number),
        };
    }
    json.end_object().end_line();
}

#[cfg(test)]
mod tests {
    use super::*;
    use traceloom_passes::{
        Options,
        fixture::{Synthetic, written, written_with},
    };

    #[test]
    fn every_row_of_every_table_is_a_line() {
        let trace = Synthetic::spans(&[("</script>\"\n", 0, 0, None, i64::MIN, None)]);
        let (lines, loss) = written(&TARGET, &trace);
        assert!(loss.is_empty());
        let lines: Vec<serde_json::Value> = lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        let span = lines.iter().find(|line| line["table"] == "spans").unwrap();
        assert_eq!((span["name"].as_str(), span["ts_ns"].as_i64()), (Some("</script>\"\n"), Some(i64::MIN)));
        assert!(span["dur_ns"].is_null() && lines.len() == 4);
    }

    #[test]
    fn one_table_has_its_columns_only_and_the_rest_is_lost() {
        let trace = Synthetic::spans(&[("a", 0, 0, None, 0, Some(1))]);
        let options = Options { variant: Some("processes".to_owned()), ..Options::default() };
        let (out, loss) = written_with(&TARGET, &trace, &options).unwrap();
        let line: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((line["pid"].as_u64(), line.get("table")), (Some(42), None));
        assert_eq!(
            loss.entries().map(|(what, count, _)| (what, count)).collect::<Vec<_>>(),
            [("spans", 1), ("threads", 1)]
        );
    }
}
