//! A bounded survey of the entries before they are read: their form and types.

use std::collections::HashMap;

use traceloom_core::{ByteOrder, Finding, Findings, Limits, Position, Result, Source, Window};

use super::{locate::is_section, recover};
use crate::{
    Dictionary, Form, Header,
    findings::{DICTIONARY_FOREIGN, DICTIONARY_SUPPLIED, DICTIONARY_UNUSED, TYPES_RECOVERED, TYPES_UNUSABLE},
    raw::{HEADER_BYTES, SLOTS_DOCUMENT},
};

/// Maximum number of entries that are examined.
const MAX_ENTRIES: u64 = 1 << 16;
/// A lead that later entries are not expected to reverse.
const CLEAR_LEAD: u64 = 1 << 10;
/// Maximum number of argument bytes that are kept for recovering types.
const MAX_SAMPLE_BYTES: usize = 4 << 20;
/// Maximum number of entries per site that are kept.
const MAX_SAMPLES: usize = 64;

/// The result of examining entries.
#[derive(Debug, Default)]
struct Survey {
    /// Entries that can only be packed.
    packed: u64,
    /// Entries that can only be raw.
    raw: u64,
    entries: u64,
    samples: HashMap<usize, Vec<Vec<u8>>>,
    sample_bytes: usize,
}

/// Where the entries to be surveyed are.
pub(super) struct Region<'a> {
    pub(super) source: &'a Source,
    pub(super) header: &'a Header,
    pub(super) end: u64,
    pub(super) limits: &'a Limits,
}

/// Settles form and types, using the supplied dictionary if the file has none.
pub(super) fn settle(
    own: &mut Option<Dictionary>,
    supplied: Option<Dictionary>,
    sites_at: u64,
    region: &Region<'_>,
    findings: &mut Findings,
) -> Result<()> {
    let start = Position::at(HEADER_BYTES as u64);
    match (own, supplied) {
        (Some(own), supplied) => {
            let settled = look(region, own)?;
            report_types(own, &settled, sites_at, findings)?;
            if supplied.is_some() {
                findings.report(Finding::new(&DICTIONARY_UNUSED, start))?;
            }
        }
        (none, Some(mut supplied)) => {
            supplied.lend_to(region.header.order);
            let is_same_run = supplied.is_of_run(region.header.run());
            let rule = if is_same_run { &DICTIONARY_SUPPLIED } else { &DICTIONARY_FOREIGN };
            findings.report(Finding::new(rule, start).with("sites", supplied.len()))?;
            look(region, &mut supplied)?;
            *none = Some(supplied);
        }
        (_, None) => {}
    }
    Ok(())
}

fn report_types(dictionary: &Dictionary, settled: &[(usize, bool)], at: u64, findings: &mut Findings) -> Result<()> {
    for (index, is_recovered) in settled {
        let Some(site) = dictionary.site(*index) else { continue };
        let list = |types: &mut dyn Iterator<Item = String>| types.collect::<Vec<_>>().join(" ");
        let stored = list(&mut site.stored_types().map(|code| code.to_string()));
        let recovered = list(&mut dictionary.arg_types(*index).iter().map(ToString::to_string));
        let rule = if *is_recovered { &TYPES_RECOVERED } else { &TYPES_UNUSABLE };
        let odd = Finding::new(rule, Position::at(at + dictionary.site_offset(*index)).field("arg_types"))
            .with("id", site.id);
        findings.report(odd.with("stored", stored).with("recovered", recovered))?;
    }
    Ok(())
}

/// Examines the first entries and settles form and types in the dictionary.
///
/// Returns the sites whose stored types are invalid, and whether other types were found for them.
fn look(region: &Region<'_>, dictionary: &mut Dictionary) -> Result<Vec<(usize, bool)>> {
    let suspects: Vec<bool> = (0..dictionary.len()).map(|index| is_suspect(dictionary, index)).collect();
    let may_be_scrambled = dictionary.slots() == SLOTS_DOCUMENT && region.header.flags == 0;
    let mut survey = Survey::default();
    survey.walk(region, dictionary, &suspects, may_be_scrambled)?;
    dictionary.prefer(survey.winner(region.header, dictionary));
    let mut settled = Vec::new();
    let mut steps = recover::MAX_STEPS;
    for (index, is_suspect) in suspects.into_iter().enumerate() {
        let samples = survey.samples.remove(&index).unwrap_or_default();
        // A damaged entry among good ones says nothing about the table.
        let misfits = samples.iter().filter(|data| !decodes(dictionary, index, data)).count();
        if !is_suspect && 2 * misfits <= samples.len() {
            continue;
        }
        let types = recover::types(dictionary, index, &samples, may_be_scrambled, &mut steps);
        if let Some(types) = &types {
            dictionary.replace_types(index, types);
            samples.iter().for_each(|data| survey.vote(dictionary, index, data, region.header.order));
        }
        if is_suspect || types.is_some() {
            settled.push((index, types.is_some()));
        }
    }
    // Sites that had no vote before their types were known have one now.
    dictionary.prefer(survey.winner(region.header, dictionary));
    Ok(settled)
}

impl Survey {
    fn walk(
        &mut self,
        region: &Region<'_>,
        dictionary: &Dictionary,
        suspects: &[bool],
        may_be_scrambled: bool,
    ) -> Result<()> {
        let header_bytes = region.header.entry_header_bytes();
        let order = region.header.order;
        let mut window = Window::new(region.source.clone(), region.limits);
        window.seek(HEADER_BYTES as u64);
        while self.entries < MAX_ENTRIES && self.packed.abs_diff(self.raw) < CLEAR_LEAD {
            let left = region.end.saturating_sub(window.offset());
            let Some((id, data_len)) = frame(window.fill(header_bytes)?, header_bytes, order) else { return Ok(()) };
            let len = header_bytes + data_len;
            if is_section(id) || len as u64 > left || window.fill(len)?.len() < len {
                return Ok(());
            }
            self.entries += 1;
            let data = window.take(len).get(header_bytes..).unwrap_or_default();
            let Some(index) = dictionary.find(id) else { continue };
            let index = index as usize;
            let is_suspect = suspects.get(index) == Some(&true);
            if !is_suspect {
                self.vote(dictionary, index, data, order);
            }
            // With one argument, a scrambled table is right.
            if is_suspect || (may_be_scrambled && dictionary.arg_types(index).len() > 1) {
                self.keep(index, data);
            }
        }
        Ok(())
    }

    /// Counts an entry that is valid in one form only.
    fn vote(&mut self, dictionary: &Dictionary, index: usize, data: &[u8], order: ByteOrder) {
        let Some(types) = dictionary.types(index).filter(|types| types.numbers > 0) else { return };
        match (types.fits_packed(data, order).is_some(), types.fits_raw(data, order)) {
            (true, false) => self.packed += 1,
            (false, true) => self.raw += 1,
            _ => {}
        }
    }

    fn keep(&mut self, index: usize, data: &[u8]) {
        let samples = self.samples.entry(index).or_default();
        if samples.len() < MAX_SAMPLES && self.sample_bytes + data.len() <= MAX_SAMPLE_BYTES {
            self.sample_bytes += data.len();
            samples.push(data.to_vec());
        }
    }

    fn winner(&self, header: &Header, dictionary: &Dictionary) -> Form {
        let is_raw = match self.packed.cmp(&self.raw) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => dictionary.slots() == SLOTS_DOCUMENT && header.flags == 0,
        };
        if is_raw { Form::Raw } else { Form::Packed }
    }
}

/// Id and data length of an entry header.
#[inline]
pub(super) fn frame(bytes: &[u8], header_bytes: usize, order: ByteOrder) -> Option<(u32, usize)> {
    let id = order.u32(*bytes.first_chunk()?);
    let len = bytes.get(header_bytes - 2..header_bytes)?.first_chunk()?;
    Some((id, order.u16(*len).into()))
}

/// Whether a type table is invalid: too many arguments for it, or a slot in use without a type.
fn is_suspect(dictionary: &Dictionary, index: usize) -> bool {
    let Some(site) = dictionary.site(index) else { return false };
    usize::from(site.num_args) > site.arg_types.len() || !site.stored_types().all(|code| code.is_argument())
}

fn decodes(dictionary: &Dictionary, index: usize, data: &[u8]) -> bool {
    let types = dictionary.types(index);
    types.is_some_and(|types| types.decode(data, dictionary.order(), dictionary.prefers()).is_some())
}
