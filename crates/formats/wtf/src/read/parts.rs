//! Returns the parts of a chunk that are one record each, and processes those with information.

use traceloom_core::{Error, Located, Result, json};

use super::{Reader, State, plan::Content};
use crate::{
    FileInfo, Record, Resource,
    findings::{JSON_EVENTS, JSON_EVENTS_SYNTAX, NO_HEADER, SECOND_HEADER},
};

/// Maximum distance of two timebases: every sum with the time of an event has to fit.
const MAX_SHIFT_US: i64 = i64::MAX / 4;

impl Reader {
    pub(super) fn warn_no_header(&mut self) -> Result<()> {
        if !std::mem::replace(&mut self.warned_no_header, true) {
            let offset = self.body.offset();
            self.report(&NO_HEADER, offset, |odd| odd)?;
        }
        Ok(())
    }

    /// Returns a part that is one record.
    pub(super) fn lend_part(&mut self, index: usize) -> Result<Option<Located<Record<'_>>>> {
        let Some(step) = self.plan.steps.get(index).copied() else { return Ok(None) };
        self.state = State::Part(index + 1);
        let len = usize::try_from(step.end - step.start).unwrap_or(usize::MAX);
        let offset = self.place.unwrap_or(step.start);
        let located = |record| Some(Located { offset, len: len as u64, record });
        match step.content {
            Content::Strings => {
                self.body.seek(step.end);
                return Ok(located(Record::Strings(&self.strings)));
            }
            Content::FileHeader => self.take_header(len, offset)?,
            Content::JsonEvents => self.check_json_events(len, offset)?,
            _ => {}
        }
        if self.body.fill(len)?.len() < len {
            return Err(Error::truncated(self.at(step.start), len as u64, 0));
        }
        let bytes = self.body.take(len);
        Ok(located(match step.content {
            Content::FileHeader => Record::FileHeader(bytes),
            Content::JsonEvents => Record::JsonEvents(bytes),
            Content::Resource(ordinal, kind) => Record::Resource(Resource { ordinal, kind, bytes }),
            _ => Record::Unread(bytes),
        }))
    }

    fn check_json_events(&mut self, len: usize, offset: u64) -> Result<()> {
        let is_json = json::is_value(self.body.fill(len)?.get(..len).unwrap_or_default());
        self.report(&JSON_EVENTS, offset, |odd| odd)?;
        if !is_json && len > 0 {
            self.report(&JSON_EVENTS_SYNTAX, offset, |odd| odd)?;
        }
        Ok(())
    }

    fn take_header(&mut self, len: usize, offset: u64) -> Result<()> {
        let text = self.body.fill(len)?.get(..len).unwrap_or_default();
        let (info, problems) = FileInfo::parse(text);
        for (rule, what) in problems {
            let what = traceloom_core::Text(what.as_bytes()).to_string();
            self.report(rule, offset, |odd| odd.with("what", what))?;
        }
        self.headers += 1;
        if self.headers > 1 {
            let shift = (info.timebase_ms - self.header.info.timebase_ms) * 1000.0;
            let shift = (shift as i64).clamp(-MAX_SHIFT_US, MAX_SHIFT_US);
            self.zones.shift_us = shift;
            self.report(&SECOND_HEADER, offset, |odd| odd.with("shift", shift))?;
        }
        Ok(())
    }
}
