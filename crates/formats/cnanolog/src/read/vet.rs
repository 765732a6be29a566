//! Checks all entries against a dictionary from another file.

use std::{collections::BTreeSet, mem};

use traceloom_core::{Finding, Findings, Limits, Mode, Position, Records, Result};

use super::Reader;
use crate::{Record, findings::DICTIONARY_MISFIT, raw::HEADER_BYTES};

impl Reader {
    /// Removes the sites of a supplied dictionary that an entry contradicts: another call has their ids.
    pub(super) fn vet(&mut self, limits: &Limits) -> Result<()> {
        let start = self.window.offset();
        let is_resumed = self.is_resumed;
        let findings = mem::replace(&mut self.findings, Findings::new(Mode::Lenient, limits));
        let checks_arguments = mem::take(&mut self.checks_arguments);
        let (mut unknown, mut misfits, mut sites) = (0u64, 0u64, BTreeSet::new());
        while let Some(located) = self.next()? {
            let Record::Entry(entry) = located.record else { continue };
            match entry.site_index() {
                None => unknown += 1,
                Some(index) if entry.args().is_none() => {
                    misfits += 1;
                    sites.insert(index);
                }
                Some(_) => {}
            }
        }
        let entries = mem::take(&mut self.entries);
        self.seek(start);
        self.enter_blocks();
        (self.is_resumed, self.resume_at) = (is_resumed, None);
        (self.findings, self.checks_arguments) = (findings, checks_arguments);
        if let Some(dictionary) = &mut self.dictionary {
            // In the same run the ids are the same, and an entry that does not fit is damaged.
            sites.retain(|_| !dictionary.is_of_run(self.header.run()));
            dictionary.withdraw(&sites);
        }
        if unknown == 0 && misfits == 0 {
            return Ok(());
        }
        let misfit = Finding::new(&DICTIONARY_MISFIT, Position::at(HEADER_BYTES as u64)).with("entries", entries);
        self.findings.report(misfit.with("unknown", unknown).with("misfits", misfits).with("sites", sites.len()))
    }
}
