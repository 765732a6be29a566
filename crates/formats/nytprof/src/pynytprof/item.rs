//! One record inside a chunk: its length, fields and bytes.

use traceloom_core::{ByteOrder, Cursor};

use super::{
    raw::{Form, Integers, Layout},
    record::{Edge, File, Line, Range, Record, SiteCalls, Sub, Visit},
};
use crate::Pair;

/// The length of the item at the front, or how many bytes are needed to determine it.
pub(super) fn measure(layout: Layout, bytes: &[u8]) -> Result<usize, usize> {
    let fixed = |len: usize| if bytes.len() >= len { Ok(len) } else { Err(len) };
    let integers = |start| integers_end(layout, bytes, start);
    match layout.form {
        Form::Raw => fixed(1),
        Form::Lines | Form::Edges | Form::SiteCalls => fixed(integers(0)? + 16),
        Form::IndexedFiles => integers(0),
        Form::Subs | Form::Ranges | Form::Files | Form::Properties => name_end(bytes, integers(0)?),
        Form::Visits => match bytes.first() {
            None => Err(1),
            Some(1) => fixed(integers(1)? + 8),
            Some(_) => Ok(1),
        },
    }
}

fn name_end(bytes: &[u8], start: usize) -> Result<usize, usize> {
    let name = bytes.get(start..).ok_or(start + 1)?;
    name.iter().position(|byte| *byte == 0).map(|at| start + at + 1).ok_or(bytes.len() + 1)
}

fn integers_end(layout: Layout, bytes: &[u8], start: usize) -> Result<usize, usize> {
    if layout.integers == Integers::Fixed {
        let end = start + 4 * layout.form.integers();
        return if bytes.len() >= end { Ok(end) } else { Err(end) };
    }
    (0..layout.form.integers()).try_fold(start, |at, _| {
        let rest = bytes.get(at..).unwrap_or_default();
        layout.integers.get(rest).map(|(_, len)| at + len).ok_or(bytes.len() + 1)
    })
}

/// The fields of an item that has been measured.
pub(super) fn decode(layout: Layout, bytes: &[u8]) -> Record<'_> {
    let mut item = Item { cursor: Cursor::new(bytes, 0, ByteOrder::Little), integers: layout.integers };
    item.record(layout.form).unwrap_or(Record::Payload(bytes))
}

struct Item<'a> {
    cursor: Cursor<'a>,
    integers: Integers,
}

impl<'a> Item<'a> {
    fn record(&mut self, form: Form) -> Option<Record<'a>> {
        Some(match form {
            Form::Raw => return None,
            Form::Lines => {
                let (fid, line, calls) = (self.integer()?, self.integer()?, self.integer()?);
                Record::Line(Line { fid, line, calls, inc_ticks: self.time()?, exc_ticks: self.time()? })
            }
            Form::Edges => {
                let (caller_sid, callee_sid, calls) = (self.integer()?, self.integer()?, self.integer()?);
                let (ticks, sub_ticks) = (self.time()?, self.time()?);
                Record::Edge(Edge { caller_sid, callee_sid, calls, ticks, sub_ticks })
            }
            Form::SiteCalls => {
                let (fid, line, sid) = (self.integer()?, self.integer()?, self.integer()?);
                Record::SiteCalls(SiteCalls { fid, line, sid, inc_ticks: self.time()?, exc_ticks: self.time()? })
            }
            Form::Subs => {
                let (sid, flags) = (self.integer()?, self.integer()?);
                Record::Sub(Sub { sid, flags, name: self.name()? })
            }
            Form::Ranges => {
                let (sid, fid) = (self.integer()?, self.integer()?);
                let (first_line, last_line) = (self.integer()?, self.integer()?);
                Record::Range(Range { sid, fid, first_line, last_line, name: self.name()? })
            }
            Form::Visits => match self.cursor.u8("mark").ok()? {
                1 => Record::Visit(Visit { fid: self.integer()?, line: self.integer()?, ns: self.time()? }),
                0 => Record::VisitsEnd,
                _ => return None,
            },
            Form::Files => {
                let (fid, flags, size, mtime) = (self.integer()?, self.integer()?, self.integer()?, self.integer()?);
                Record::File(File { fid, flags, size, mtime, path: self.name()? })
            }
            Form::IndexedFiles => Record::IndexedFile(self.integer()?, self.integer()?),
            Form::Properties => Record::Property(Pair::split(self.name()?)),
        })
    }

    fn integer(&mut self) -> Option<u32> {
        let mut ahead = self.cursor;
        let (value, len) = self.integers.get(ahead.rest())?;
        self.cursor.take(len, "number").ok()?;
        Some(value)
    }

    fn time(&mut self) -> Option<u64> {
        self.cursor.u64("time").ok()
    }

    fn name(&mut self) -> Option<&'a [u8]> {
        self.cursor.rest().strip_suffix(b"\0")
    }
}

/// Encodes an item; returns false if a chunk of this layout cannot hold it.
pub(super) fn encode(layout: Layout, record: &Record<'_>, out: &mut Vec<u8>) -> bool {
    let integers = |numbers: &[u32], out: &mut Vec<u8>| {
        numbers.iter().for_each(|number| layout.integers.put(*number, out));
    };
    let times = |times: [u64; 2], out: &mut Vec<u8>| out.extend_from_slice(times.map(u64::to_le_bytes).as_flattened());
    let name = |name: &[u8], out: &mut Vec<u8>| {
        out.extend_from_slice(name);
        out.push(0);
        !name.contains(&0)
    };
    match (layout.form, record) {
        (_, Record::Payload(bytes)) => out.extend_from_slice(bytes),
        (Form::Lines, Record::Line(line)) => {
            integers(&[line.fid, line.line, line.calls], out);
            times([line.inc_ticks, line.exc_ticks], out);
        }
        (Form::Edges, Record::Edge(edge)) => {
            integers(&[edge.caller_sid, edge.callee_sid, edge.calls], out);
            times([edge.ticks, edge.sub_ticks], out);
        }
        (Form::SiteCalls, Record::SiteCalls(calls)) => {
            integers(&[calls.fid, calls.line, calls.sid], out);
            times([calls.inc_ticks, calls.exc_ticks], out);
        }
        (Form::Subs, Record::Sub(sub)) => {
            integers(&[sub.sid, sub.flags], out);
            return name(sub.name, out);
        }
        (Form::Ranges, Record::Range(sub)) => {
            integers(&[sub.sid, sub.fid, sub.first_line, sub.last_line], out);
            return name(sub.name, out);
        }
        (Form::Visits, Record::Visit(visit)) => {
            out.push(1);
            integers(&[visit.fid, visit.line], out);
            out.extend_from_slice(&visit.ns.to_le_bytes());
        }
        (Form::Visits, Record::VisitsEnd) => out.push(0),
        (Form::Files, Record::File(file)) => {
            integers(&[file.fid, file.flags, file.size, file.mtime], out);
            return name(file.path, out);
        }
        (Form::IndexedFiles, Record::IndexedFile(fid, string)) => integers(&[*fid, *string], out),
        (Form::Properties, Record::Property(pair)) => {
            out.extend_from_slice(pair.key);
            if let Some(value) = pair.value {
                out.push(b'=');
                out.extend_from_slice(value);
            }
            out.push(0);
        }
        _ => return false,
    }
    true
}
