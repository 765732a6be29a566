//! Sets the time of events, looks up what they refer to, and reports their problems.

use traceloom_core::{Finding, Position, Result, Rule, Sniff};

use super::{Reader, State};
use crate::{
    Padding, Record,
    encoding::thorough::{Body, Event, Fault},
    findings::{
        ANOTHER_RECORDING, EVENT_CUT, GROWTH_ADDRESS, GROWTH_MARKER, GROWTH_STACK, MARKER_MISSING, STACK_MISSING,
        TIME_OVERFLOW, UNKNOWN_EVENT, VARINT_PADDED, VARINT_TOO_LONG,
    },
    metadata::IdSet,
    probe,
    raw::{Dialect, HEADER_BYTES, Packing},
};

/// Ids that events use but the metadata does not have.
#[derive(Debug, Default)]
pub(crate) struct Missing {
    pub(crate) stacks: IdSet,
    pub(crate) markers: IdSet,
}

impl Reader {
    /// Sets the time of an event and checks what it refers to.
    pub(super) fn record(&mut self, event: &Event, offset: u64) -> Result<Record<'static>> {
        let time_us = match self.clock.pass(event) {
            Some(time_us) => time_us,
            None => self.overflow(offset)?,
        };
        if !event.padding.is_none() {
            self.report_padding(event.padding, offset)?;
        }
        if let Body::Alloc { stack, .. } = event.body
            && stack >= self.quick.dense_stacks
            && self.quick.seen_stacks.insert(stack)?
        {
            self.check_stack(stack, offset)?;
        }
        match event.body {
            Body::Alloc { address, .. } | Body::Free { address } if address & self.quick.odd_address_bits != 0 => {
                self.report_address(address, offset)?;
            }
            Body::Marker { name } => self.check_marker(name, offset)?,
            Body::Alloc { .. } | Body::Free { .. } | Body::Gc { .. } => {}
        }
        Ok(event.record(time_us))
    }

    #[cold]
    fn report_address(&mut self, address: u64, offset: u64) -> Result<()> {
        self.report(&GROWTH_ADDRESS, offset, |odd| odd.with("address", format!("{address:#x}")))
    }

    #[cold]
    fn report_padding(&mut self, padding: Padding, offset: u64) -> Result<()> {
        let bytes: u8 = padding.0.iter().sum();
        self.report(&VARINT_PADDED, offset, |odd| odd.with("bytes", bytes))
    }

    /// Looks up a stack when it first occurs.
    #[cold]
    fn check_stack(&mut self, id: u64, offset: u64) -> Result<()> {
        if self.metadata.stacks.ids.row(id).is_some() {
            return Ok(());
        }
        self.missing.stacks.insert(id)?;
        self.report_missing(&STACK_MISSING, &GROWTH_STACK, id, offset)
    }

    /// Looks up a marker's name; a missing one is reported when it first occurs.
    fn check_marker(&mut self, id: u64, offset: u64) -> Result<()> {
        if self.metadata.functions.ids.row(id).is_some() || !self.missing.markers.insert(id)? {
            return Ok(());
        }
        self.report_missing(&MARKER_MISSING, &GROWTH_MARKER, id, offset)
    }

    /// In the growth dialect nothing has a name, so the first id represents all.
    #[cold]
    fn report_missing(&mut self, rule: &'static Rule, growth_rule: &'static Rule, id: u64, offset: u64) -> Result<()> {
        match self.header.dialect {
            Dialect::Document => self.report(rule, offset, |odd| odd.with("id", id)),
            Dialect::Growth if self.findings.counts().contains_key(growth_rule.code) => Ok(()),
            Dialect::Growth => self.report(growth_rule, offset, |odd| odd.with("id", id)),
        }
    }

    #[cold]
    fn overflow(&mut self, offset: u64) -> Result<u64> {
        if !std::mem::replace(&mut self.overflowed, true) {
            self.report(&TIME_OVERFLOW, offset, |odd| odd)?;
        }
        Ok(u64::MAX)
    }

    #[cold]
    pub(super) fn report_fault(&mut self, fault: Fault, offset: u64, left: u64) -> Result<()> {
        match fault {
            Fault::Cut => self.report(&EVENT_CUT, offset, |odd| odd.with("left", left)),
            Fault::Unknown(_) if self.is_at_header()? => {
                self.report(&ANOTHER_RECORDING, offset, |odd| odd.with("left", left))
            }
            Fault::Unknown(kind) => {
                self.report(&UNKNOWN_EVENT, offset, |odd| odd.with("type", kind.0).with("left", left))
            }
            Fault::TooLong(place) => {
                let at = offset.saturating_add(place as u64);
                self.report(&VARINT_TOO_LONG, at, |odd| odd.with("left", left))
            }
        }
    }

    /// Whether a header follows instead of an event; in a file with blocks, events are not in the window.
    fn is_at_header(&mut self) -> Result<bool> {
        Ok(self.header.packing() == Packing::Plain && probe::sniff(self.window.fill(HEADER_BYTES)?) == Sniff::Yes)
    }

    #[cold]
    pub(super) fn report(
        &mut self,
        rule: &'static Rule,
        offset: u64,
        with: impl FnOnce(Finding) -> Finding,
    ) -> Result<()> {
        let reported = self.findings.report(with(Finding::new(rule, Position::at(offset))));
        if reported.is_err() {
            self.state = State::Done;
        }
        reported
    }
}
