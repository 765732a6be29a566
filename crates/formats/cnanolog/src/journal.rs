//! The journal `NAME.clog.sites`: the dictionary of a log that is still being written, in case its process dies.
//!
//! A journal is a log without entries: a header with the start of its log, the levels, the dictionary. A recorder
//! extends it before it writes an entry of a new site to the log, and removes it when the log has been closed.

use std::path::{Path, PathBuf};

use traceloom_core::{Limits, Options, Records, Result, Source};

use crate::{
    Dictionary, Header, Level, Record, Section, Site, Tally, create,
    raw::{CNANOLOG_DICT_MAGIC, CNANOLOG_LEVEL_DICT_MAGIC, LEVEL_FIXED, SECTION_HEADER_BYTES},
    write::site_bytes,
};

/// Appended to the name of a log to get the name of its journal.
pub(crate) const SUFFIX: &str = ".sites";

/// The path of the journal of a log.
pub fn path_of(log: &Path) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(SUFFIX);
    name.into()
}

/// The dictionary of a journal, if the journal can be read and belongs to the log with this header.
pub(crate) fn dictionary_in(journal: Source, header: &Header, limits: &Limits) -> Option<Dictionary> {
    let reader = crate::open(journal, &Options::default().with_limits(limits.clone())).ok()?;
    let start = |header: &Header| (header.start_timestamp, header.start_time_sec, header.start_time_nsec);
    let belongs = start(reader.header()) == start(header);
    reader.into_dictionary().filter(|_| belongs)
}

/// The bytes of levels and a dictionary, as at the end of a log.
pub fn sections(header: &Header, levels: &[Level<'_>], sites: &[Site<'_>]) -> Result<Vec<u8>> {
    let mut writer = create(Vec::new(), header)?;
    let start = header.stored_bytes;
    let section = |magic, count: usize, bytes: usize| Section {
        magic,
        count: count as u32,
        total_size: (SECTION_HEADER_BYTES + bytes) as u32,
        reserved: 0,
    };
    if !levels.is_empty() {
        let bytes = levels.iter().map(|level| LEVEL_FIXED + level.name.len()).sum();
        writer.write(&Record::Levels(section(CNANOLOG_LEVEL_DICT_MAGIC, levels.len(), bytes)))?;
        levels.iter().try_for_each(|level| writer.write(&Record::Level(*level)))?;
    }
    let bytes = sites.iter().map(|site| site_bytes(site) as usize).sum();
    writer.write(&Record::Dictionary(section(CNANOLOG_DICT_MAGIC, sites.len(), bytes)))?;
    sites.iter().try_for_each(|site| writer.write(&Record::Site(*site)))?;
    Ok(writer.finish()?.split_off(start))
}

/// A whole journal: the header of its log, then the sections.
pub fn journal(header: &Header, levels: &[Level<'_>], sites: &[Site<'_>]) -> Result<Vec<u8>> {
    let mut header = header.clone();
    header.dictionary_offset = Tally::new(&header).bytes;
    header.entry_count = 0;
    let mut bytes = create(Vec::new(), &header)?.finish()?;
    bytes.extend(sections(&header, levels, sites)?);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::{ArgType, SLOTS_LIBRARY};
    use traceloom_core::ByteOrder;

    #[test]
    fn a_journal_explains_its_log_and_no_other() {
        let header = Header { start_timestamp: 7, ..Header::new(ByteOrder::Little) };
        let mut types = [0; SLOTS_LIBRARY];
        types[0] = ArgType::INT32.0;
        let site = Site { id: 0, level: 9, num_args: 1, line: 3, arg_types: &types, file: b"a.rs", format: b"n %d" };
        let level = Level { level: 9, name: b"AUDIT", padding: [0; 2] };
        let dictionary = |log: &Header| {
            let bytes = create(Vec::new(), log).unwrap().finish().unwrap();
            let journal = Source::bytes(journal(&header, &[level], &[site]).unwrap());
            let log = crate::open(Source::bytes(bytes).with_companion(journal), &Options::default()).unwrap();
            log.into_dictionary()
        };
        let found = dictionary(&header).unwrap();
        assert_eq!((found.site(0), found.level_name(9)), (Some(site), Some(&b"AUDIT"[..])));
        assert!(dictionary(&Header { start_timestamp: 8, ..header.clone() }).is_none());
        let cut = Source::bytes([0; 7]);
        assert!(dictionary_in(cut, &header, &Limits::default()).is_none(), "a log can be read without its journal");
    }
}
