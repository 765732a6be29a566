//! The Web Tracing Framework under test.

mod golden;
mod golden_json;

use serde_json::Value;
use traceloom_core::{Result, Source};
use traceloom_wtf::{Container, Encoding, Header, Record, Role};

use crate::{Specimen, subject::Field};

/// `.wtf-trace`, `.wtf-json` and `.wtf-calls` files; goldens come from WTF's reader.
#[derive(Debug)]
pub struct Wtf;

impl Wtf {
    /// WTF's data after loading a file, in the form of the goldens; `None` if it refuses the file.
    pub fn tables(source: Source) -> Option<Value> {
        golden::tables(source)
    }
}

impl Specimen for Wtf {
    type Codec = traceloom_wtf::Wtf;

    fn accepts(&self, golden: &Value) -> bool {
        golden["ok"] == true
    }

    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value> {
        golden::reproduce(source, golden)
    }

    fn change_header(header: &mut Header) -> Option<Field> {
        header.wtf_version ^= 0x55;
        (header.container == Container::Binary).then_some(("version of the writer", 4..8))
    }

    fn changes(_header: &Header) -> impl FnMut(&mut Record<'_>, usize) -> Option<Field> {
        let mut is_carried = false;
        move |record, _len| {
            let (field, at) = match record {
                Record::Chunk(chunk) => {
                    is_carried = chunk.carried;
                    chunk.id ^= 0x0101_0101;
                    ("chunk id", 0)
                }
                Record::Event(event) => {
                    event.time ^= 0x0101_0101;
                    let at = if event.args.encoding == Encoding::Words { 4 } else { 2 };
                    (if event.kind.is_scope() { "scope time" } else { "event time" }, at)
                }
                _ => return None,
            };
            // Records decoded from text have no bytes in the file.
            (!is_carried).then_some((field, at..at + 4))
        }
    }

    /// A mark does not count: it lasts until the next one.
    fn moment(record: &Record<'_>) -> Option<&'static str> {
        let Record::Event(event) = record else { return None };
        match event.kind.role {
            Role::Plain if !event.kind.is_scope() => Some("instance"),
            Role::TimeStamp => Some("time stamp"),
            _ => None,
        }
    }
}
