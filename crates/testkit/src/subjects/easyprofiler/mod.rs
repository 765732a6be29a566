//! EasyProfiler under test.

mod golden;

use serde_json::Value;
use traceloom_core::{Result, Source};
use traceloom_easyprofiler::{Header, Record, raw::SwitchOrder};

use crate::{Specimen, subject::Field};

/// `.prof` files; goldens come from the reader of easy_profiler 2.1.0.
#[derive(Debug)]
pub struct EasyProfiler;

impl Specimen for EasyProfiler {
    type Codec = traceloom_easyprofiler::EasyProfiler;

    fn accepts(&self, golden: &Value) -> bool {
        golden["upstream_reader"]["accepted"] == true
    }

    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value> {
        golden::reproduce(&source, golden)
    }

    fn companions(&self) -> &'static [&'static str] {
        &["README.md", "net_session.bin", "net_session.json"]
    }

    fn errors_of_empty_files() -> &'static [&'static str] {
        &["easyprofiler.empty-profile", "easyprofiler.no-threads"]
    }

    fn change_header(header: &mut Header) -> Option<Field> {
        *header.pid.as_mut()? ^= 0x55;
        Some(("header pid", 8..8 + header.layout.pid.bytes()))
    }

    fn changes(header: &Header) -> impl FnMut(&mut Record<'_>, usize) -> Option<Field> {
        const BITS: u32 = 0x00ff_0001;
        let layout = &header.layout;
        move |record, _len| match record {
            Record::Descriptor(descriptor) => {
                descriptor.color ^= BITS;
                Some(("descriptor color", 10..14))
            }
            Record::Thread(thread) => {
                thread.id ^= u64::from(BITS);
                Some(("thread id", 0..layout.thread_id.bytes()))
            }
            Record::Switch(switch) if layout.switch == SwitchOrder::TimesFirst => {
                switch.end ^= u64::from(BITS);
                Some(("switch end", 10..18))
            }
            Record::Block(block) => {
                block.end ^= u64::from(BITS);
                Some(("block end", 10..18))
            }
            Record::Value(value) => {
                value.value_id ^= u64::from(BITS);
                Some(("value id", 28..36))
            }
            Record::Bookmark(bookmark) => {
                bookmark.color ^= BITS;
                Some(("bookmark color", 10..14))
            }
            _ => None,
        }
    }

    fn moment(record: &Record<'_>) -> Option<&'static str> {
        match record {
            Record::Block(block) if block.begin == block.end => Some("event"),
            Record::Value(value) if value.begin == value.end => Some("value"),
            Record::Bookmark(_) => Some("bookmark"),
            _ => None,
        }
    }
}
