//! CNanoLog under test.

mod golden;

use serde_json::Value;
use traceloom_cnanolog::{
    Header, Record,
    raw::{LEVEL_FIXED, header_offset},
};
use traceloom_core::{Result, Source};

use crate::{Specimen, subject::Field};

/// `.clog` files; goldens come from an independent reader, texts from CNanoLog's decompressor.
#[derive(Debug)]
pub struct CNanoLog;

impl Specimen for CNanoLog {
    type Codec = traceloom_cnanolog::CNanoLog;

    /// According to the documentation, which rules out unfinished files, unknown ids and lengths that are too large.
    fn accepts(&self, golden: &Value) -> bool {
        let is_refused = |warning: &Value| {
            let text = warning.as_str().unwrap_or_default();
            text.starts_with("no dictionary") || text.starts_with("stopped at offset")
        };
        golden["warnings"].as_array().is_some_and(|warnings| !warnings.iter().any(is_refused))
    }

    fn reproduce(&self, source: Source, _golden: &Value) -> Result<Value> {
        golden::reproduce(&source)
    }

    fn companions(&self) -> &'static [&'static str] {
        &["README.md", "manifest.json", ".txt", ".log"]
    }

    fn change_header(header: &mut Header) -> Option<Field> {
        let place = header_offset::START_TIME_SEC..header_offset::START_TIME_NSEC;
        header.start_time_sec ^= 0x55;
        (header.stored_bytes >= place.end).then_some(("header start", place))
    }

    fn changes(_header: &Header) -> impl FnMut(&mut Record<'_>, usize) -> Option<Field> {
        |record, _len| match record {
            Record::Entry(entry) => {
                let timestamp = entry.timestamp.as_mut()?;
                *timestamp ^= 0x0100_0000_0001;
                Some(("entry timestamp", 4..12))
            }
            Record::Levels(section) => {
                section.reserved ^= 1;
                Some(("levels reserved", 12..16))
            }
            Record::Level(level) => {
                level.padding[0] ^= 1;
                Some(("level padding", 2..LEVEL_FIXED))
            }
            Record::Dictionary(section) => {
                section.total_size ^= 1;
                Some(("dictionary size", 8..12))
            }
            Record::Site(site) => {
                site.line ^= 0x0100_0001;
                Some(("site line", 10..14))
            }
            _ => None,
        }
    }

    fn has_times(header: &Header) -> bool {
        header.has_timestamps
    }

    fn moment(record: &Record<'_>) -> Option<&'static str> {
        matches!(record, Record::Entry(_)).then_some("entry")
    }
}
