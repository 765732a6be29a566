//! A trace that consists of hostile names.

use std::sync::LazyLock;

use traceloom_model::{
    Halt, Table, Tables, allocations::Allocation, args::Arg, events::Event, frames::Frame, logs::Log,
    processes::Process, spans::Span, stacks::Stack, threads::Thread,
};

use crate::support::{push_trace, span};

/// Longer than any buffer that a name usually passes through.
static LONG: LazyLock<String> = LazyLock::new(|| "long ".repeat(200 << 10) + "end");

/// Names, each of which has a special meaning to some program.
pub(crate) static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
    vec![
        "plain",
        "\"quoted\" 'single' `back` \\ back\\slash\\",
        "line\nfeed\r\ttab",
        "\u{0}\u{1}\u{8}\u{1b}[31m\u{7f}\u{85}",
        "in\0side",
        "</script><script>alert(1)</script>",
        "<!-- comment -->]]>",
        "<img src=x onerror=alert(1)>&amp;",
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-2+3",
        "@SUM(1,2)",
        "\t=1+1",
        "a;b,c 17",
        "x\nfn=(1) evil\ncalls=9 0\n0 99",
        "y\n\ntotals: 1",
        "\u{2028}\u{2029}\u{feff}\u{202e}",
        "\u{fffd}replaced",
        "\\ud800 \\u0000 \\x00",
        "größe😀\u{10ffff}",
        "%s%n%d ${jndi} {0} $(id)",
        "../../etc/passwd",
        "(1)",
        "null",
        "__proto__",
        "constructor",
        "wtf.scope#enter",
        " both ends ",
        &LONG,
        "",
    ]
});

/// One span, event and log entry per name, with an argument.
pub(crate) fn fill(tables: &mut Tables<'_>) -> Result<(), Halt> {
    for (id, name) in (0..).zip(NAMES.iter()) {
        push_span(id, name, tables)?;
        let (thread_id, span_id, definition_id) = (Some(0), None, None);
        let (ts_ns, category) = (id * 100_000 + 80_000, "event".into());
        tables.push(Event { id, ts_ns, thread_id, span_id, name: (*name).into(), category, definition_id })?;
        let (level_name, file, line, format) = ("INFO".into(), Some((*name).into()), Some(1), None);
        tables.push(Log {
            id,
            ts_ns: Some(id * 100_000),
            thread_id,
            level: 1,
            level_name,
            file,
            line,
            format,
            message: name,
            definition_id,
        })?;
    }
    push_rest(tables)
}

/// One allocation from a function of each name.
pub(crate) fn fill_memory(tables: &mut Tables<'_>) -> Result<(), Halt> {
    for (id, name) in (0..).zip(NAMES.iter()) {
        tables.push(Frame { id, function: (*name).into(), file: Some((*name).into()), line: Some(1) })?;
        tables.push(Stack { id, parent_id: None, frame_id: id, depth: 0 })?;
        tables.push(Allocation {
            id,
            ts_ns: id * 100,
            address: 4096 + 64 * id as u64,
            size_bytes: 50,
            stack_id: Some(id),
            fate: "live".into(),
            ..Allocation::default()
        })?;
    }
    push_rest(tables)
}

fn push_rest(tables: &mut Tables<'_>) -> Result<(), Halt> {
    let name = Some(NAMES[5].into());
    tables.push(Thread { id: 0, tid: Some(7), process_id: 0, name, kind: None, location: None })?;
    tables.push(Process { id: 0, pid: Some(7), ppid: None, name, start_ts_ns: None, end_ts_ns: None })?;
    push_trace(NAMES[1], 10_000_000, tables)
}

/// The key of the argument of spans with a name. Perfetto's engine takes minutes for long ones.
pub(crate) fn key(name: &str) -> String {
    format!("key {}", name.chars().take(1000).collect::<String>())
}

fn push_span(id: i64, name: &str, tables: &mut Tables<'_>) -> Result<(), Halt> {
    tables.push(Span { file: Some(name.into()), ..span(id, 0, None, id * 100_000, Some(50), name) })?;
    tables.push(Arg {
        id,
        owner_table: Table::Spans.name().into(),
        owner_id: id,
        key: key(name).as_str().into(),
        r#type: "string".into(),
        text_value: Some(name),
        ..Arg::default()
    })
}
