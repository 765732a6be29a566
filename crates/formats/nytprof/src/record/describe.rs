//! Header and records as named fields.

use traceloom_core::{Describe, Fields};

use super::{Header, Record, Str};
use crate::Nv;

impl Describe for Header {
    fn kind(&self) -> &'static str {
        "header"
    }

    fn describe(&self, fields: &mut dyn Fields) {
        fields.unsigned("major", self.major.into());
        fields.unsigned("minor", self.minor.into());
        if !self.rest.is_empty() {
            fields.text("rest", &self.rest);
        }
        if !self.odd_line.is_empty() {
            fields.bytes("line", &self.odd_line);
        }
    }
}

impl Describe for Record<'_> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Comment(_) => "comment",
            Self::Attribute(_) => "attribute",
            Self::Option(_) => "option",
            Self::StartDeflate(_) => "start_deflate",
            Self::EndDeflate => "end_deflate",
            Self::PidStart(_) => "pid_start",
            Self::PidEnd(_) => "pid_end",
            Self::NewFid(_) => "new_fid",
            Self::TimeLine(_) => "time_line",
            Self::TimeBlock(_) => "time_block",
            Self::Discount => "discount",
            Self::SubEntry(_) => "sub_entry",
            Self::SubReturn(_) => "sub_return",
            Self::SrcLine(_) => "src_line",
            Self::SubInfo(_) => "sub_info",
            Self::SubCallers(_) => "sub_callers",
            Self::Residue(_) => "residue",
        }
    }

    fn describe(&self, fields: &mut dyn Fields) {
        match self {
            Self::Comment(text) => fields.text("text", text),
            Self::Attribute(pair) | Self::Option(pair) => {
                fields.text("key", pair.key);
                if let Some(value) = pair.value {
                    fields.text("value", value);
                }
            }
            Self::StartDeflate(level) => fields.unsigned("level", (*level).into()),
            Self::EndDeflate | Self::Discount => {}
            Self::Residue(bytes) => fields.bytes("bytes", bytes),
            numbered => numbered.describe_numbered(fields),
        }
        if let Some(bytes) = self.odd_bytes() {
            fields.bytes("odd_bytes", bytes);
        }
    }
}

impl Record<'_> {
    fn describe_numbered(&self, fields: &mut dyn Fields) {
        match self {
            Self::PidStart(start) => {
                unsigned(fields, &[("pid", start.pid), ("ppid", start.ppid)]);
                fields.float("time", start.time.value());
                wide(fields, "time_bytes", &start.time);
            }
            Self::PidEnd(end) => {
                unsigned(fields, &[("pid", end.pid)]);
                fields.float("time", end.time.value());
                wide(fields, "time_bytes", &end.time);
            }
            Self::NewFid(file) => {
                unsigned(fields, &[("fid", file.fid), ("eval_fid", file.eval_fid), ("eval_line", file.eval_line)]);
                fields.word("flags", &file.flags.to_string());
                unsigned(fields, &[("size", file.size), ("mtime", file.mtime)]);
                string(fields, "name", "name_utf8", &file.name);
            }
            Self::TimeLine(time) => {
                fields.signed("ticks", time.ticks.into());
                unsigned(fields, &[("fid", time.fid), ("line", time.line)]);
            }
            Self::TimeBlock(time) => {
                fields.signed("ticks", time.ticks.into());
                unsigned(fields, &[("fid", time.fid), ("line", time.line)]);
                unsigned(fields, &[("block_line", time.block_line), ("sub_line", time.sub_line)]);
            }
            Self::SubEntry(entry) => {
                unsigned(fields, &[("caller_fid", entry.caller_fid), ("caller_line", entry.caller_line)]);
            }
            Self::SrcLine(source) => {
                unsigned(fields, &[("fid", source.fid), ("line", source.line)]);
                string(fields, "text", "text_utf8", &source.text);
            }
            _ => self.describe_sub(fields),
        }
    }

    fn describe_sub(&self, fields: &mut dyn Fields) {
        match self {
            Self::SubReturn(left) => {
                unsigned(fields, &[("depth", left.depth)]);
                fields.float("incl_ticks", left.incl_ticks.value());
                fields.float("excl_ticks", left.excl_ticks.value());
                wide(fields, "incl_bytes", &left.incl_ticks);
                wide(fields, "excl_bytes", &left.excl_ticks);
                string(fields, "name", "name_utf8", &left.name);
            }
            Self::SubInfo(sub) => {
                unsigned(fields, &[("fid", sub.fid)]);
                string(fields, "name", "name_utf8", &sub.name);
                unsigned(fields, &[("first_line", sub.first_line), ("last_line", sub.last_line)]);
            }
            Self::SubCallers(calls) => {
                unsigned(fields, &[("fid", calls.fid), ("line", calls.line)]);
                string(fields, "caller", "caller_utf8", &calls.caller);
                unsigned(fields, &[("count", calls.count)]);
                fields.float("incl_seconds", calls.incl_seconds.value());
                fields.float("excl_seconds", calls.excl_seconds.value());
                fields.float("reci_seconds", calls.reci_seconds.value());
                wide(fields, "incl_bytes", &calls.incl_seconds);
                wide(fields, "excl_bytes", &calls.excl_seconds);
                wide(fields, "reci_bytes", &calls.reci_seconds);
                unsigned(fields, &[("depth", calls.depth)]);
                string(fields, "called", "called_utf8", &calls.called);
            }
            _ => {}
        }
    }
}

fn unsigned(fields: &mut dyn Fields, numbers: &[(&'static str, u32)]) {
    for (name, value) in numbers {
        fields.unsigned(name, (*value).into());
    }
}

fn string(fields: &mut dyn Fields, name: &'static str, flag: &'static str, text: &Str<'_>) {
    fields.text(name, text.bytes);
    if text.is_utf8 {
        fields.flag(flag, true);
    }
}

/// A number that a double cannot hold is listed with its bytes, so that nothing is lost.
fn wide(fields: &mut dyn Fields, name: &'static str, number: &Nv) {
    if !number.is_double() || number.value().is_nan() {
        fields.bytes(name, number.bytes());
    }
}
