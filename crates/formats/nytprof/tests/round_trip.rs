//! Any records are read back as they were written, and any bytes are written back as they were read.

mod support;

use proptest::prelude::*;
use support::{fixtures, windowed};
use traceloom_core::{Codec, Options, Records, Source};
use traceloom_nytprof::{
    Header, NewFid, Nv, NvLayout, Nytprof, Pair, PidEnd, PidStart, Record, SrcLine, Str, SubCallers, SubEntry, SubInfo,
    SubReturn, TimeBlock, TimeLine, create, open, pynytprof, raw::FidFlags, sample,
};

/// Reads a file and writes its records again.
fn rewrite(bytes: &[u8]) -> Option<Vec<u8>> {
    let (source, options, mut out) = (Source::bytes(bytes), Options::default(), Vec::new());
    if open(source.clone(), &options).is_ok() {
        Nytprof::rewrite(&source, &mut out, &options).unwrap();
        return Some(out);
    }
    pynytprof::open(source.clone(), &options).ok()?;
    pynytprof::Pynytprof::rewrite(&source, &mut out, &options).unwrap();
    Some(out)
}

#[test]
fn every_fixture_that_is_not_compressed_comes_back() {
    let mut compared = 0;
    for (name, bytes) in fixtures() {
        // The tag of the compressed part follows a line of text.
        let is_compressed = bytes.windows(2).any(|pair| pair == b"\nz");
        if !is_compressed && let Some(again) = rewrite(&bytes) {
            assert!(again == bytes, "{name}");
            compared += 1;
        }
    }
    assert!(compared > 60, "{compared} files");
}

#[test]
fn the_quick_way_and_the_slow_one_meet_the_same_records() {
    let large = sample::write(Vec::new(), 20_000).unwrap();
    let all = fixtures().into_iter().chain([("large".to_owned(), large)]);
    for (name, bytes) in all {
        let Ok(mut slow) = open(Source::bytes(bytes.clone()), &Options::default()) else { continue };
        let mut quick = open(Source::bytes(bytes), &Options::default()).unwrap();
        let mut walked = Vec::new();
        quick
            .walk(|located| {
                walked.push(format!("{located:?}"));
                Ok::<_, traceloom_core::Error>(())
            })
            .unwrap();
        let mut walked = walked.into_iter();
        while let Some(located) = slow.next().unwrap() {
            assert_eq!(walked.next(), Some(format!("{located:?}")), "{name}");
        }
        assert_eq!(walked.next(), None, "{name}");
        assert_eq!(quick.into_findings().kept(), slow.into_findings().kept(), "{name}");
    }
}

#[test]
fn the_size_of_a_sample_is_that_of_its_records() {
    let count = |bytes: Vec<u8>| {
        let mut reader = open(Source::bytes(bytes), &Options::strict()).unwrap();
        let mut records = 0;
        reader
            .walk(|_| {
                records += 1;
                Ok::<_, traceloom_core::Error>(())
            })
            .unwrap();
        assert!(reader.findings().kept().is_empty(), "{:?}", reader.findings().kept());
        records
    };
    for size in [0, 1_000, 100_000] {
        let records = count(sample::write(Vec::new(), size).unwrap());
        assert!((size..=size + 150).contains(&records), "{records} records for {size}");
    }

    for size in [0, 1, 1_000] {
        let bytes = pynytprof::sample::write(Vec::new(), size).unwrap();
        let mut reader = pynytprof::open(Source::bytes(bytes), &Options::strict()).unwrap();
        let mut lines = 0;
        reader
            .walk(|located| {
                lines += u64::from(matches!(located.record, pynytprof::Record::Line(_)));
                Ok::<_, traceloom_core::Error>(())
            })
            .unwrap();
        assert_eq!(lines, size);
    }
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>().prop_filter("no newline", |byte| *byte != b'\n'), 0..20)
}

fn text() -> impl Strategy<Value = (Vec<u8>, bool)> {
    (proptest::collection::vec(any::<u8>(), 0..40), any::<bool>())
}

#[derive(Clone, Debug)]
struct Parts {
    layout: NvLayout,
    kind: u8,
    numbers: [u32; 6],
    times: [f64; 3],
    first: (Vec<u8>, bool),
    second: (Vec<u8>, bool),
    key: Vec<u8>,
    value: Vec<u8>,
}

prop_compose! {
    fn parts()(
        kind in 0u8..14,
        numbers in any::<[u32; 6]>(),
        times in any::<[f64; 3]>(),
        first in text(),
        second in text(),
        key in line(),
        value in line(),
    ) -> Parts {
        Parts { layout: NvLayout::COMMON, kind, numbers, times, first, second, key, value }
    }
}

impl Parts {
    fn record(&self) -> Record<'_> {
        let [a, b, c, d, e, f] = self.numbers;
        let [incl, excl, reci] = self.times.map(|time| Nv::new(time, self.layout));
        let first = Str { bytes: &self.first.0, is_utf8: self.first.1 };
        let second = Str { bytes: &self.second.0, is_utf8: self.second.1 };
        let odd_bytes = None;
        match self.kind {
            0 => Record::Comment(&self.value),
            1 if !self.key.contains(&b'=') => Record::Attribute(Pair::new(&self.key, &self.value)),
            2 if !self.key.contains(&b'=') => Record::Option(Pair::new(&self.key, &self.value)),
            3 => Record::PidEnd(PidEnd { pid: a, time: incl, odd_bytes }),
            4 => Record::NewFid(NewFid {
                fid: a,
                eval_fid: b,
                eval_line: c,
                flags: FidFlags(d),
                size: e,
                mtime: f,
                name: first,
                odd_bytes,
            }),
            5 => Record::TimeLine(TimeLine { ticks: a as i32, fid: b, line: c, odd_bytes }),
            6 => {
                Record::TimeBlock(TimeBlock { ticks: a as i32, fid: b, line: c, block_line: d, sub_line: e, odd_bytes })
            }
            7 => Record::SubEntry(SubEntry { caller_fid: a, caller_line: b, odd_bytes }),
            8 => Record::SubReturn(SubReturn { depth: a, incl_ticks: incl, excl_ticks: excl, name: first, odd_bytes }),
            9 => Record::SrcLine(SrcLine { fid: a, line: b, text: first, odd_bytes }),
            10 => Record::SubInfo(SubInfo { fid: a, name: first, first_line: b, last_line: c, odd_bytes }),
            11 => Record::SubCallers(SubCallers {
                fid: a,
                line: b,
                caller: first,
                count: c,
                incl_seconds: incl,
                excl_seconds: excl,
                reci_seconds: reci,
                depth: d,
                called: second,
                odd_bytes,
            }),
            _ => Record::Discount,
        }
    }
}

proptest! {
    #[test]
    fn any_records_come_back(
        mut parts in proptest::collection::vec(parts(), 0..40),
        deflates in any::<bool>(),
        layout in 0..NvLayout::ALL.len(),
    ) {
        let layout = NvLayout::ALL[layout];
        parts.iter_mut().for_each(|parts| parts.layout = layout);
        let size = layout.size().to_string();
        let time = Nv::new(1_700_000_000.5, layout);
        let start = Record::PidStart(PidStart { pid: 7, ppid: 1, time, odd_bytes: None });
        let mut records = vec![Record::Attribute(Pair::new(b"nv_size", size.as_bytes()))];
        if deflates {
            records.push(Record::StartDeflate(6));
        }
        records.push(start);
        records.extend(parts.iter().map(Parts::record));
        if deflates {
            records.push(Record::EndDeflate);
        }
        let mut writer = create(Vec::new(), &Header::default()).unwrap();
        records.iter().for_each(|record| writer.write(record).unwrap());
        let bytes = writer.finish().unwrap();
        for size in [1, 65536] {
            let mut reader = open(Source::bytes(bytes.clone()), &windowed(size)).unwrap();
            for record in &records {
                prop_assert_eq!(Some(*record), reader.next().unwrap().map(|located| located.record));
            }
            prop_assert!(reader.next().unwrap().is_none());
        }
    }

    #[test]
    fn any_bytes_behind_the_magic_come_back(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for head in [&b"NYTProf 5 0\n"[..], b"NYTProf 5 0\nP\x01\x01\0\0\x10\x40\xfc\x54\xd9\x41", b"NYTPROF\0\x05\0\0\0\0\0\0\0"] {
            let bytes = [head, &bytes].concat();
            if let Some(again) = rewrite(&bytes) {
                prop_assert!(again == bytes || bytes.contains(&b'z'));
            }
        }
    }
}
