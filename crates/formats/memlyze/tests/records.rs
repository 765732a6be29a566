//! What goes in comes out, whatever it is; the suite of `traceloom-testkit` does the same with real files.

mod support;

use std::io;

use proptest::prelude::*;
use support::walk;
use traceloom_core::{Limits, Options, ReadAt, Records, Source};
use traceloom_memlyze::{
    Alloc, Free, Gc, Header, Marker, MetadataBuilder, Padding, Record, create_with_metadata,
    raw::{Dialect, Packing, VARINT_BYTES},
    sample,
};

/// Gives its bytes up to a place and fails there.
struct Failing {
    bytes: Vec<u8>,
    from: u64,
}

impl ReadAt for Failing {
    fn len(&self) -> io::Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if offset >= self.from {
            return Err(io::Error::other("the disk is gone"));
        }
        let len = buffer.len().min((self.from - offset) as usize);
        self.bytes.read_at(offset, &mut buffer[..len])
    }
}

#[test]
fn an_error_of_the_source_is_final() {
    for packing in [Packing::Plain, Packing::Blocks] {
        let bytes = sample::packed(packing).unwrap();
        let from = bytes.len() as u64 * 3 / 4;
        let limits = Limits::with(|limits| limits.window_bytes = 1000);
        let source = Source::custom(Failing { bytes, from });
        let mut reader = traceloom_memlyze::open(source, &Options::default().with_limits(limits)).unwrap();
        let error = loop {
            match reader.next() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the failure was swallowed"),
                Err(error) => break error,
            }
        };
        assert!(error.to_string().contains("the disk is gone"), "{error}");
        assert!(reader.next().unwrap().is_none());
    }
}

fn padding_for(values: [u64; 3], wanted: [u8; 3], used: usize) -> Padding {
    let mut padding = [0; 3];
    for place in 0..used {
        let bits = 64 - (values[place] | 1).leading_zeros() as usize;
        padding[place] = wanted[place].min((VARINT_BYTES - bits.div_ceil(7)) as u8);
    }
    Padding(padding)
}

fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..300, any::<u32>().prop_map(u64::from), any::<u64>()]
}

fn any_event() -> impl Strategy<Value = Record<'static>> {
    let values = prop::array::uniform3(any_number());
    let padding = prop::array::uniform3(prop_oneof![6 => Just(0u8), 1 => 0u8..10]);
    (0u8..4, values, padding, any::<u64>(), any::<u16>()).prop_map(|(kind, values, wanted, address, thread)| {
        let [delta_us, second, third] = values;
        let time_us = 0;
        let padding = |used| padding_for(values, wanted, used);
        match kind {
            0 => {
                let (size_bytes, stack, padding) = (second, third, padding(3));
                Record::Alloc(Alloc { delta_us, time_us, address, size_bytes, stack, thread, padding })
            }
            1 => Record::Free(Free { delta_us, time_us, address, padding: padding(1) }),
            2 => Record::Gc(Gc { delta_us, time_us, objects: second, size_bytes: third, padding: padding(3) }),
            _ => Record::Marker(Marker { delta_us, time_us, name: second, padding: padding(2) }),
        }
    })
}

fn without_time(record: Record<'_>) -> Record<'_> {
    match record {
        Record::Alloc(alloc) => Record::Alloc(Alloc { time_us: 0, ..alloc }),
        Record::Free(free) => Record::Free(Free { time_us: 0, ..free }),
        Record::Gc(gc) => Record::Gc(Gc { time_us: 0, ..gc }),
        Record::Marker(marker) => Record::Marker(Marker { time_us: 0, ..marker }),
        other => other,
    }
}

proptest! {
    #[test]
    fn any_events_and_names_come_back(
        events in prop::collection::vec(any_event(), 0..200),
        names in prop::collection::vec(any::<String>(), 0..8),
        is_packed in any::<bool>(),
        start_us in any::<u64>(),
    ) {
        let mut metadata = MetadataBuilder::new(&Limits::default());
        for name in &names {
            metadata.function(name.as_bytes()).unwrap();
        }
        let metadata = metadata.finish().unwrap();
        let packing = if is_packed { Packing::Blocks } else { Packing::Plain };
        let header = Header::new(start_us).packed(packing);
        let mut writer = create_with_metadata(Vec::new(), &header, &metadata).unwrap();
        for event in &events {
            writer.write(event).unwrap();
        }
        let bytes = writer.finish().unwrap();
        let mut reader = traceloom_memlyze::open(Source::bytes(bytes.clone()), &Options::default()).unwrap();
        prop_assert_eq!(reader.header().start_us, start_us);
        prop_assert_eq!(reader.header().packing(), packing);
        let mut read = Vec::new();
        while let Some(located) = reader.next().unwrap() {
            match located.record {
                Record::Metadata(_) | Record::Block(_) => {}
                Record::Residue(_) => prop_assert!(false, "residue"),
                Record::Alloc(alloc) => read.push(without_time(Record::Alloc(alloc))),
                Record::Free(free) => read.push(without_time(Record::Free(free))),
                Record::Gc(gc) => read.push(without_time(Record::Gc(gc))),
                Record::Marker(marker) => read.push(without_time(Record::Marker(marker))),
            }
        }
        prop_assert_eq!(read, events);
        let unique: std::collections::BTreeSet<&String> = names.iter().collect();
        prop_assert_eq!(reader.metadata().functions().count(), unique.len());
        for (_, name) in reader.metadata().functions() {
            prop_assert!(unique.contains(&String::from_utf8(name.to_vec()).unwrap()));
        }
        if reader.header().dialect == Dialect::Document {
            prop_assert!(walk(&bytes, &Options::default()).unwrap().rewritten == bytes);
        }
    }

    #[test]
    fn any_bytes_behind_a_header_are_survived(
        tail in prop::collection::vec(prop_oneof![0u8..5, any::<u8>()], 0..600),
        metadata_len in 0u32..40,
    ) {
        let mut bytes = traceloom_memlyze::create(Vec::new(), &Header { metadata_len, ..Header::new(5) })
            .unwrap()
            .finish()
            .unwrap();
        bytes.extend_from_slice(&tail);
        let walked = walk(&bytes, &Options::default()).unwrap();
        prop_assert!(walked.rewritten == bytes);
    }

    #[test]
    fn any_metadata_text_is_survived(text in "[\\[\\]{}:,\"0-9a-z\\\\ ]{0,200}", whole in any::<bool>()) {
        let text = if whole { format!("{{\"files\": {{\"0\": \"{text}\"}}}}") } else { text };
        let metadata_len = text.len() as u32;
        let header = Header { metadata_len, ..Header::new(5) };
        let mut bytes = traceloom_memlyze::create(Vec::new(), &header).unwrap().finish().unwrap();
        bytes.extend_from_slice(text.as_bytes());
        let walked = walk(&bytes, &Options::default()).unwrap();
        prop_assert!(walked.rewritten == bytes);
        // Whoever takes the text as JSON must be of one mind with us.
        let theirs = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&text).is_ok();
        let refused = ["memlyze.metadata-invalid", "memlyze.metadata-not-object", "memlyze.metadata-length"];
        let ours = !walked.codes.iter().any(|code| refused.contains(code));
        prop_assert!(ours == theirs || metadata_len == 0, "{text:?}: {:?}", walked.findings);
    }
}
