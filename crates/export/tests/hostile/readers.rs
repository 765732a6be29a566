//! Reads the names from the output of targets.

use std::{collections::BTreeSet, io::Cursor, path::Path};

use arrow_array::{StringArray, cast::AsArray};
use serde_json::Value as Json;
use traceloom_core::Source;
use traceloom_mapping::Trace;
use traceloom_model::{Batches, Filter, Table, TableSource, Wanted, calls, definitions, frames, logs, spans};

use crate::support::protobuf::{all, fields, unpacked};

type Names = BTreeSet<String>;

fn texts(json: &Json, key: &str) -> Names {
    json.as_array().unwrap().iter().filter_map(|item| item[key].as_str()).map(str::to_owned).collect()
}

fn utf8(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn arrow(out: &[u8]) -> Names {
    let reader = arrow_ipc::reader::FileReader::try_new(Cursor::new(out), None).unwrap();
    let mut names = Names::new();
    for batch in reader {
        let batch = batch.unwrap();
        let column: &StringArray = batch["name"].as_string();
        names.extend(column.iter().flatten().map(str::to_owned));
    }
    names
}

/// The names after `fn=`; every other line is one that the format knows.
pub(crate) fn callgrind(out: &[u8]) -> Names {
    let text = std::str::from_utf8(out).unwrap();
    let mut names = Names::new();
    for line in text.lines().skip_while(|line| !line.starts_with("events:")).skip(1) {
        let known = ["fl=", "fn=", "cfi=", "cfn=", "calls=", "totals: "];
        let is_cost = line.split(' ').all(|word| word.parse::<u64>().is_ok());
        assert!(line.is_empty() || is_cost || known.iter().any(|key| line.starts_with(key)), "{line:.80}");
        let named = line.strip_prefix("fn=").or(line.strip_prefix("cfn="));
        names.extend(named.and_then(|named| named.split_once(") ")).map(|(_, name)| name.to_owned()));
    }
    assert_eq!(text.matches("\ntotals: ").count(), 1);
    names
}

pub(crate) fn chrome(out: &[u8]) -> Names {
    let json: Json = serde_json::from_slice(out).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    texts(&events.iter().filter(|event| event["ph"] == "X").cloned().collect(), "name")
}

/// The cells of the column `name`, by the rules of RFC 4180.
pub(crate) fn csv(out: &[u8]) -> Names {
    let text = std::str::from_utf8(out).unwrap();
    let (mut rows, mut cell, mut is_quoted) = (vec![vec![]], String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => {
                rows.last_mut().unwrap().push(std::mem::take(&mut cell));
                if letter == '\n' {
                    rows.push(Vec::new());
                }
            }
            letter => cell.push(letter),
        }
    }
    let column = rows[0].iter().position(|name| name == "name").unwrap();
    let cells = rows.iter().skip(1).filter(|row| !row.is_empty());
    assert!(cells.clone().all(|row| row.len() == rows[0].len()));
    assert!(cells.clone().flatten().all(|cell| !cell.starts_with(['=', '+', '@', '\t', '\r'])));
    cells.map(|row| row[column].clone()).collect()
}

pub(crate) fn firefox(out: &[u8]) -> Names {
    let json: Json = serde_json::from_slice(out).unwrap();
    let threads = json["threads"].as_array().unwrap().iter();
    let mut names = Names::new();
    for thread in threads {
        let texts = thread["stringArray"].as_array().unwrap();
        let markers = thread["markers"]["name"].as_array().unwrap();
        names.extend(markers.iter().map(|name| texts[name.as_u64().unwrap() as usize].as_str().unwrap().to_owned()));
    }
    names
}

pub(crate) fn folded(out: &[u8]) -> Names {
    let text = std::str::from_utf8(out).unwrap();
    let innermost = |line: &str| line.rsplit_once(' ').unwrap().0.rsplit(';').next().unwrap().to_owned();
    text.lines().map(innermost).collect()
}

pub(crate) fn json(out: &[u8]) -> Names {
    let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let rows = lines.map(|line| serde_json::from_slice::<Json>(line).unwrap());
    texts(&rows.filter(|row| row["table"] == "spans").collect(), "name")
}

pub(crate) fn otlp(out: &[u8]) -> Names {
    let scopes = all(out, 1).flat_map(|part| all(part.bytes(), 2).collect::<Vec<_>>());
    let spans = scopes.flat_map(|scope| all(scope.bytes(), 2).collect::<Vec<_>>());
    spans.flat_map(|span| all(span.bytes(), 5).map(|name| utf8(name.bytes())).collect::<Vec<_>>()).collect()
}

/// Interned names of events.
pub(crate) fn perfetto(out: &[u8]) -> Names {
    let data = all(out, 1).flat_map(|packet| all(packet.bytes(), 12).collect::<Vec<_>>());
    let names = data.flat_map(|data| all(data.bytes(), 2).collect::<Vec<_>>());
    names.map(|name| all(name.bytes(), 2).next().map_or_else(String::new, |text| utf8(text.bytes()))).collect()
}

/// The string table, which holds the names of functions.
pub(crate) fn pprof(out: &[u8]) -> Names {
    let message = unpacked(out);
    let texts: Vec<String> = all(&message, 6).map(|text| utf8(text.bytes())).collect();
    let functions = all(&message, 5).map(|function| fields(function.bytes()));
    let name = |fields: Vec<(u64, _)>| fields.into_iter().find(|(number, _)| *number == 2);
    functions
        .map(|fields| name(fields).map_or(0, |(_, name)| name.number()))
        .map(|name| texts[name as usize].clone())
        .collect()
}

pub(crate) fn speedscope(out: &[u8]) -> Names {
    let json: Json = serde_json::from_slice(out).unwrap();
    texts(&json["shared"]["frames"], "name")
}

/// Names as Traceloom reads them: names of spans, messages, functions.
pub(crate) fn format(id: &str, out: &[u8]) -> Names {
    let strict = traceloom_core::Options::strict();
    let source = Source::bytes(out.to_vec());
    let checked = traceloom_open::by_id(id).unwrap().check(&source, &strict);
    checked.unwrap_or_else(|error| panic!("{id} refuses it: {error}"));
    let trace = Trace::new(Path::new("hostile"), source, Some(id), &Default::default()).unwrap();
    let mut batches = Batches::of(Wanted::everything());
    trace.pour(&Filter::default(), &mut batches).unwrap();
    let mut names = Names::new();
    for view in batches.table(Table::Spans).map(|batch| spans::View::of(batch).unwrap()) {
        names.extend((0..view.rows).map(|row| view.name.get(row).to_owned()));
    }
    for view in batches.table(Table::Logs).map(|batch| logs::View::of(batch).unwrap()) {
        names.extend((0..view.rows).map(|row| view.message.get(row).to_owned()));
    }
    for view in batches.table(Table::Frames).map(|batch| frames::View::of(batch).unwrap()) {
        names.extend((0..view.rows).map(|row| view.function.get(row).to_owned()));
    }
    for view in batches.table(Table::Calls).map(|batch| calls::View::of(batch).unwrap()) {
        names.extend((0..view.rows).map(|row| view.callee.get(row).to_owned()));
    }
    for view in batches.table(Table::Definitions).map(|batch| definitions::View::of(batch).unwrap()) {
        names.extend((0..view.rows).map(|row| view.name.get(row).to_owned()));
    }
    names
}
