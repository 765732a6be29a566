//! Memlyze under test.

mod golden;

use serde_json::{Value, json};
use traceloom_core::{Result, Source};
use traceloom_memlyze::{Header, Record, raw::Packing};

use crate::{Specimen, subject::Field};

/// `.mlyze` files; goldens come from an independent reader that was written from the documentation.
#[derive(Debug)]
pub struct Memlyze;

impl Specimen for Memlyze {
    type Codec = traceloom_memlyze::Memlyze;

    /// According to the documentation's seven rules. Traces of the upstream tracer are exempt from the fourth, that all
    /// ids exist: their metadata is empty.
    fn accepts(&self, golden: &Value) -> bool {
        let is_growth = golden["metadata"] == json!({"stack_traces": {}, "files": {}, "functions": {}})
            && golden["summary"]["all_addresses_zero"] == true
            && golden["summary"]["events"] != 0;
        let is_harmless = |warning: &str| {
            let is_of_the_tracer =
                warning.ends_with("stack ids not in metadata") || warning.ends_with("marker name ids not in metadata");
            let breaks_no_rule =
                warning == "reserved header bytes are not all zero" || warning.starts_with("overlong varint");
            breaks_no_rule || is_growth && is_of_the_tracer
        };
        let warnings = golden["warnings"].as_array();
        warnings.is_some_and(|warnings| warnings.iter().all(|warning| warning.as_str().is_some_and(is_harmless)))
    }

    fn reproduce(&self, source: Source, golden: &Value) -> Result<Value> {
        golden::reproduce(source, golden)
    }

    fn companions(&self) -> &'static [&'static str] {
        &["README.md", "manifest.json", ".analyze.txt"]
    }

    fn change_header(header: &mut Header) -> Option<Field> {
        header.start_us ^= 0x55;
        Some(("header start", 8..16))
    }

    /// Changing the lowest bit of a number does not change the length of its varint.
    fn changes(header: &Header) -> impl FnMut(&mut Record<'_>, usize) -> Option<Field> {
        // The events of a block have no bytes in the file.
        let is_plain = header.packing() != Packing::Blocks;
        move |record, len| match record {
            Record::Alloc(alloc) if is_plain => {
                alloc.thread ^= 0x0101;
                Some(("alloc thread", len - 2..len))
            }
            Record::Free(free) if is_plain => {
                free.address ^= 0x0100_0000_0001;
                Some(("free address", len - 8..len))
            }
            Record::Gc(gc) if is_plain => {
                gc.size_bytes ^= 1;
                Some(("gc bytes", 3..len))
            }
            Record::Marker(marker) if is_plain => {
                marker.name ^= 1;
                Some(("marker name", 2..len))
            }
            _ => None,
        }
    }

    fn moment(record: &Record<'_>) -> Option<&'static str> {
        match record {
            Record::Alloc(_) => Some("alloc"),
            Record::Free(_) => Some("free"),
            Record::Gc(_) => Some("gc"),
            Record::Marker(_) => Some("marker"),
            _ => None,
        }
    }
}
