//! Code shared by the mappers of all formats.

use std::borrow::Cow;

use traceloom_core::{Descriptor, Finding as Found, Findings, Options, Position, Result, rules};
use traceloom_model::{
    ClockKind, Halt, Named, Table, Tables,
    args::Arg,
    findings::Finding,
    traces::Trace,
    trackers::{Clock, Extent, Symbol},
};

use crate::trace::Input;

rules! { "tables":
    MESSAGES_CUT "messages-cut" Warning Missing "{count} messages were cut off: wide fields in their formats would expand the log many times";
    TIME_RANGE "time-range" Warning "{count} timestamps overflowed and were clamped";
}

/// The finding about messages that were cut off.
pub fn messages_cut(count: u64) -> Found {
    Found::new(&MESSAGES_CUT, Position::default()).with("count", count)
}

/// Reports times that did not fit.
pub(crate) fn report_clock(clock: &Clock, findings: &mut Findings) -> Result<()> {
    match clock.saturated() {
        0 => Ok(()),
        count => findings.report(Found::new(&TIME_RANGE, Position::default()).with("count", count)),
    }
}

/// How to read a file for its tables: with every check if findings are wanted.
pub(crate) fn reading(input: &Input<'_>) -> Options {
    let options = input.options.read.clone();
    if input.is_checked { options.thorough() } else { options }
}

/// The facts about a file for its row of `traces`.
pub(crate) struct Facts<'a> {
    pub(crate) format: &'static Descriptor,
    pub(crate) version: &'a str,
    pub(crate) producer: Option<&'a str>,
    pub(crate) clock: ClockKind,
    pub(crate) clock_hz: Option<u64>,
    pub(crate) start_ticks: Option<u64>,
    pub(crate) start_native_ns: i64,
    pub(crate) unix_origin_ns: Option<i64>,
    pub(crate) extent: Extent,
}

/// Pushes the row of `traces`, once the extent is known.
pub(crate) fn push_trace(input: &Input<'_>, facts: &Facts<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
    tables.push(Trace {
        id: 0,
        path: &input.path.to_string_lossy(),
        format: facts.format.id.into(),
        version: facts.version,
        producer: facts.producer,
        clock: facts.clock.into(),
        clock_hz: facts.clock_hz,
        start_ticks: facts.start_ticks,
        start_native_ns: facts.start_native_ns,
        unix_origin_ns: facts.unix_origin_ns,
        first_ts_ns: facts.extent.first(),
        last_ts_ns: facts.extent.last(),
        bytes: input.source.len()?,
    })
}

/// Pushes the table of findings, with ids in the given order.
pub(crate) fn push_findings(findings: &[&Findings], tables: &mut Tables<'_>) -> Result<(), Halt> {
    if !tables.wants(Table::Findings) {
        return Ok(());
    }
    for (id, finding) in findings.iter().flat_map(|findings| findings.kept()).enumerate() {
        tables.push(Finding {
            id: id as i64,
            code: finding.rule.code.into(),
            severity: finding.severity.as_str().into(),
            position: Some(finding.position.offset),
            message: &finding.message(),
        })?;
    }
    Ok(())
}

/// Text from a file, with invalid UTF-8 replaced.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The exact value of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Datum<'a> {
    Bytes(&'a [u8]),
    Float(f64),
    Int(i64),
    /// The argument exists but has no value.
    Null,
    /// A text in which invalid UTF-8 was replaced, and the original bytes.
    Replaced(&'a str, &'a [u8]),
    Text(&'a str),
    Unsigned(u64),
}

/// One argument of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument<'a> {
    pub(crate) owner_table: Table,
    pub(crate) owner_id: i64,
    pub(crate) key: Named<'a>,
    /// The index of the element, if the argument is an array.
    pub(crate) idx: Option<u32>,
    /// The argument's type, as the format calls it.
    pub(crate) kind: Named<'a>,
    pub(crate) value: Datum<'a>,
}

/// Pushes arguments and numbers them.
#[derive(Debug)]
pub(crate) struct Args {
    /// Whether this walk makes the rows; otherwise they are only numbered.
    pub(crate) is_mine: bool,
    next_id: i64,
    /// The names of tables that own arguments, cached to avoid a lookup per row.
    owners: [Option<Symbol>; Table::ALL.len()],
}

impl Default for Args {
    fn default() -> Self {
        Self::new(true)
    }
}

impl Args {
    pub(crate) fn new(is_mine: bool) -> Self {
        Self { is_mine, next_id: 0, owners: [None; Table::ALL.len()] }
    }

    pub(crate) fn push(&mut self, argument: &Argument<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if !self.is_mine {
            self.skip(1);
            return Ok(());
        }
        let mut row = Arg {
            id: self.next_id,
            owner_table: self.owner(argument.owner_table, tables).into(),
            owner_id: argument.owner_id,
            key: argument.key,
            idx: argument.idx,
            r#type: argument.kind,
            int_value: None,
            uint_value: None,
            float_value: None,
            text_value: None,
            bytes_value: None,
        };
        match argument.value {
            Datum::Bytes(value) => row.bytes_value = Some(value),
            Datum::Float(value) => row.float_value = Some(value),
            Datum::Int(value) => row.int_value = Some(value),
            Datum::Null => {}
            Datum::Replaced(text, bytes) => (row.text_value, row.bytes_value) = (Some(text), Some(bytes)),
            Datum::Text(value) => row.text_value = Some(value),
            Datum::Unsigned(value) => row.uint_value = Some(value),
        }
        self.next_id += 1;
        tables.push(row)
    }

    #[inline]
    fn owner(&mut self, table: Table, tables: &mut Tables<'_>) -> Symbol {
        *self.owners[table as usize].get_or_insert_with(|| tables.strings.intern(table.name()))
    }

    /// Numbers arguments that are left out, so that ids do not depend on the filter.
    pub(crate) fn skip(&mut self, count: usize) {
        self.next_id += count as i64;
    }
}
