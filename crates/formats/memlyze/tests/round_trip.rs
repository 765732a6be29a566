//! Everything that is written is read back; the suite of `traceloom-testkit` does the same with real files.

mod support;

use proptest::prelude::*;
use support::walk;
use traceloom_core::{Limits, Options, Records, Source};
use traceloom_memlyze::{
    Alloc, Free, Gc, Header, Marker, MetadataBuilder, Padding, Record, create_with_metadata,
    raw::{Dialect, Packing, VARINT_BYTES},
};

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

fn without_time(record: Record<'_>) -> Option<Record<'static>> {
    Some(match record {
        Record::Alloc(alloc) => Record::Alloc(Alloc { time_us: 0, ..alloc }),
        Record::Free(free) => Record::Free(Free { time_us: 0, ..free }),
        Record::Gc(gc) => Record::Gc(Gc { time_us: 0, ..gc }),
        Record::Marker(marker) => Record::Marker(Marker { time_us: 0, ..marker }),
        _ => return None,
    })
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
                event => read.push(without_time(event).expect("nothing but events follows")),
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
}
