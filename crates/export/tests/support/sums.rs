//! Counts the contents of outputs without the tools that open them.

use std::io::Cursor;

use serde_json::Value as Json;

use super::protobuf::{all, fields, packed, unpacked};

/// Number and total duration of spans; `None` if they cannot be determined.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Sums {
    pub(crate) spans: Option<i128>,
    pub(crate) total_ns: Option<i128>,
    /// Sum of self time or self bytes.
    pub(crate) own: Option<i128>,
    /// Number of rows, if the target writes rows.
    pub(crate) rows: Option<i128>,
}

/// Counts what a target has written; `None` if only its tool can read it.
pub(crate) fn sums(target: &str, out: &[u8]) -> Option<Sums> {
    Some(match target {
        "arrow" => arrow(out),
        "callgrind" => callgrind(out),
        "chrome" => chrome(out),
        "csv" => csv(out),
        "firefox" => firefox(out),
        "folded" => folded(out),
        "json" => json_lines(out),
        "otlp" => otlp(out),
        "perfetto" => perfetto(out),
        "pprof" => pprof(out),
        "speedscope" => speedscope(out),
        _ => return None,
    })
}

fn arrow(out: &[u8]) -> Sums {
    let reader = arrow_ipc::reader::FileReader::try_new(Cursor::new(out), None).unwrap();
    let rows = reader.map(|batch| batch.unwrap().num_rows() as i128).sum();
    Sums { rows: Some(rows), ..Sums::default() }
}

fn callgrind(out: &[u8]) -> Sums {
    let text = std::str::from_utf8(out).unwrap();
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap();
    Sums { own: Some(total.parse().unwrap()), ..Sums::default() }
}

fn chrome(out: &[u8]) -> Sums {
    let json: Json = serde_json::from_slice(out).unwrap();
    let (mut spans, mut total_ns) = (0, 0);
    for event in json["traceEvents"].as_array().unwrap() {
        if matches!(event["ph"].as_str(), Some("X" | "B")) {
            spans += 1;
            total_ns += event.get("dur").map_or(0, |dur| (dur.as_f64().unwrap() * 1e3).round() as i128);
        }
    }
    Sums { spans: Some(spans), total_ns: Some(total_ns), ..Sums::default() }
}

fn csv(out: &[u8]) -> Sums {
    let (mut rows, mut is_quoted) = (-1, false);
    for byte in out {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' if !is_quoted => rows += 1,
            _ => {}
        }
    }
    Sums { rows: Some(rows), ..Sums::default() }
}

fn firefox(out: &[u8]) -> Sums {
    let json: Json = serde_json::from_slice(out).unwrap();
    let length = |thread: &Json| i128::from(thread["markers"]["length"].as_u64().unwrap());
    Sums { rows: Some(json["threads"].as_array().unwrap().iter().map(length).sum()), ..Sums::default() }
}

fn folded(out: &[u8]) -> Sums {
    let text = std::str::from_utf8(out).unwrap();
    let cost = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<i128>().unwrap();
    Sums { own: Some(text.lines().map(cost).sum()), ..Sums::default() }
}

fn json_lines(out: &[u8]) -> Sums {
    let (mut rows, mut spans, mut total_ns) = (0, 0, 0);
    for line in out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let json: Json = serde_json::from_slice(line).unwrap();
        rows += 1;
        if matches!(json["table"].as_str(), Some("spans" | "switches")) {
            spans += 1;
            total_ns += i128::from(json["dur_ns"].as_i64().unwrap_or(0));
        }
    }
    Sums { spans: Some(spans), total_ns: Some(total_ns), rows: Some(rows), own: None }
}

fn otlp(out: &[u8]) -> Sums {
    let (mut spans, mut total_ns, mut records) = (0, 0, 0);
    let scopes = all(out, 1).flat_map(|part| all(part.bytes(), 2).collect::<Vec<_>>());
    for item in scopes.flat_map(|scope| all(scope.bytes(), 2).collect::<Vec<_>>()) {
        let fields = fields(item.bytes());
        let number = |of: u64| fields.iter().find(|(number, _)| *number == of).map(|(_, value)| *value);
        // A span's start is field 7, which a log record does not have.
        let Some(begin) = number(7) else {
            records += 1;
            continue;
        };
        spans += 1;
        total_ns += number(8).map_or(0, |end| i128::from(end.number()) - i128::from(begin.number()));
    }
    Sums { spans: Some(spans), total_ns: Some(total_ns), rows: Some(records), own: None }
}

fn perfetto(out: &[u8]) -> Sums {
    let (mut spans, mut total_ns, mut open) = (0, 0, 0);
    for packet in all(out, 1) {
        let packet = fields(packet.bytes());
        let field = |of: u64| packet.iter().find(|(number, _)| *number == of).map(|(_, value)| *value);
        let Some(event) = field(11) else { continue };
        let ts_ns = i128::from(field(8).unwrap().number());
        let kind = all(event.bytes(), 9).next().map(|kind| kind.number());
        match kind {
            Some(1) => (spans, total_ns, open) = (spans + 1, total_ns - ts_ns, open + 1),
            Some(2) => (total_ns, open) = (total_ns + ts_ns, open - 1),
            _ => {}
        }
    }
    Sums { spans: Some(spans), total_ns: (open == 0).then_some(total_ns), ..Sums::default() }
}

fn pprof(out: &[u8]) -> Sums {
    let message = unpacked(out);
    let values = all(&message, 2).map(|sample| {
        let values = all(sample.bytes(), 2).next().map(|values| packed(values.bytes()));
        values.unwrap_or_default().into_iter().map(i128::from).collect::<Vec<_>>()
    });
    let values: Vec<Vec<i128>> = values.collect();
    let sum = |index: usize| values.iter().map(|values| values[index]).sum();
    Sums { spans: Some(sum(0)), own: Some(sum(1)), ..Sums::default() }
}

fn speedscope(out: &[u8]) -> Sums {
    let json: Json = serde_json::from_slice(out).unwrap();
    let (mut spans, mut total_ns) = (0, 0);
    for event in json["profiles"].as_array().unwrap().iter().flat_map(|profile| profile["events"].as_array()).flatten()
    {
        let at = i128::from(event["at"].as_u64().unwrap());
        match event["type"].as_str() {
            Some("O") => (spans, total_ns) = (spans + 1, total_ns - at),
            _ => total_ns += at,
        }
    }
    Sums { spans: Some(spans), total_ns: Some(total_ns), ..Sums::default() }
}
