//! Dialects, edits of changed files, and any records: nothing is lost, nothing panics, nothing hangs.

mod support;

use proptest::prelude::*;
use support::{folder, profiles, read, windowed};
use traceloom_core::{Limits, Options, Records, Sniff, Source};
use traceloom_nytprof::{
    Header, NewFid, Nv, NvLayout, Pair, PidEnd, PidStart, Record, SrcLine, Str, SubCallers, SubEntry, SubInfo,
    SubReturn, TimeBlock, TimeLine, aggregate, create, edit, open, pynytprof, raw::FidFlags,
};

/// All fixtures of all folders.
fn fixtures() -> Vec<(String, Vec<u8>)> {
    let folders = ["", "damaged", "pynytprof"].map(|name| folder().join(name));
    let files = folders.iter().flat_map(|folder| {
        profiles(folder).into_iter().map(move |name| (format!("{}/{name}", folder.display()), read(folder, &name)))
    });
    files.collect()
}

/// Reads a file and writes its records again.
fn rewrite(bytes: &[u8]) -> Option<Vec<u8>> {
    let options = Options::default();
    if let Ok(mut reader) = open(Source::bytes(bytes), &options) {
        let mut writer = create(Vec::new(), reader.header()).unwrap();
        while let Some(located) = reader.next().unwrap() {
            writer.write(&located.record).unwrap();
        }
        return Some(writer.finish().unwrap());
    }
    let mut reader = pynytprof::open(Source::bytes(bytes), &options).ok()?;
    let mut writer = pynytprof::create(Vec::new(), reader.header()).unwrap();
    while let Some(located) = reader.next().unwrap() {
        writer.write(&located.record).unwrap();
    }
    Some(writer.finish().unwrap())
}

#[test]
fn first_bytes_tell_the_dialect() {
    for (name, bytes) in fixtures() {
        let is_pynytprof = pynytprof::open(Source::bytes(bytes.clone()), &Options::default()).is_ok();
        for len in [400, 512, 600, 4096, 65536] {
            let prefix = &bytes[..len.min(bytes.len())];
            let wanted = match (is_pynytprof, prefix.starts_with(b"NYTProf ")) {
                (_, false) => [Sniff::No, Sniff::No],
                (true, _) => [Sniff::No, Sniff::Yes],
                (false, _) => [Sniff::Yes, Sniff::No],
            };
            let sniffed = [traceloom_nytprof::sniff(prefix), pynytprof::sniff(prefix)];
            assert_eq!(sniffed, wanted, "{name}, {len} bytes");
        }
    }
}

/// Reads a file in every way there is; only that it ends matters.
fn exercise(bytes: &[u8]) {
    let options = windowed(256);
    for options in [options, Options::strict()] {
        if let Ok(mut reader) = open(Source::bytes(bytes), &options) {
            while let Ok(Some(_)) = reader.next() {}
        }
        if let Ok(mut reader) = pynytprof::open(Source::bytes(bytes), &options) {
            while let Ok(Some(_)) = reader.next() {}
        }
    }
}

fn exercise_edits(bytes: &[u8]) {
    // A changed count may ask for as many statements as the limits allow, which only takes time.
    let limits = Limits::with(|limits| limits.entries = 1 << 16);
    let (source, options) = (Source::bytes(bytes), Options::default().with_limits(limits));
    if let Ok(mut profile) = aggregate::load(source.clone(), &options) {
        profile.merge_evals();
    }
    let _ = edit::repair(&source, std::io::sink(), &options);
    let _ = edit::canonical(&source, std::io::sink(), Some("plain"), &options);
    let _ = edit::merge(&[source.clone(), source.clone()], std::io::sink(), &options);
    let _ = edit::to_pynytprof(&source, std::io::sink(), None, &options);
    let _ = edit::from_pynytprof(&source, std::io::sink(), None, &options);
    let _ = pynytprof::edit::canonical(&source, std::io::sink(), None, &options);
}

#[test]
fn edits_of_changed_files_end() {
    let mut random = 1u32;
    let mut next = || {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        random >> 8
    };
    for (_, bytes) in fixtures() {
        for _ in 0..60 {
            let mut bytes = bytes.clone();
            let len = bytes.len().max(1);
            if let Some(byte) = bytes.get_mut(next() as usize % len) {
                *byte = next() as u8;
            }
            exercise_edits(&bytes);
        }
    }
}

#[test]
fn a_lie_about_a_length_costs_no_memory() {
    let mut bytes = b"NYTProf 5 0\n:nv_size=8\n:ticks_per_sec=10000000\n@\x01\0\0\0\0\0'\xff\xff\xff\xff\xff".to_vec();
    bytes.extend([b'x'; 100]);
    exercise(&bytes);
    exercise_edits(&bytes);
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
    fn any_bytes_behind_the_magic_end(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for head in [&b"NYTProf 5 0\n"[..], b"NYTProf 5 0\nP\x01\x01\0\0\x10\x40\xfc\x54\xd9\x41", b"NYTPROF\0\x05\0\0\0\0\0\0\0"] {
            let bytes = [head, &bytes].concat();
            exercise(&bytes);
            exercise_edits(&bytes);
            if let Some(again) = rewrite(&bytes) {
                prop_assert!(again == bytes || bytes.contains(&b'z'));
            }
        }
    }
}
