//! CNanoLog: its magic, its text, a dictionary taken from another file, and the same records in blocks.

use traceloom_cnanolog::{CNanoLog, Dictionary, Extra, Reader, Record, create, open, open_with, text};
use traceloom_core::{Codec, Options, Records, Result, Source};

pub(super) fn restore_magic(bytes: &mut [u8], seed: u32) {
    // Both spellings, and both byte orders.
    const SPELLINGS: [&[u8; 4]; 2] = [b"ONAN", b"NANO"];
    const MARKERS: [[u8; 4]; 2] = [[4, 3, 2, 1], [1, 2, 3, 4]];
    let (spelling, marker) = (seed as usize % 2, seed as usize / 2 % 2);
    if let Some(magic) = bytes.get_mut(..4)
        && !SPELLINGS.iter().any(|known| magic == *known)
    {
        magic.copy_from_slice(SPELLINGS[spelling]);
    }
    if let Some(endianness) = bytes.get_mut(36..40)
        && !MARKERS.iter().any(|known| endianness == known)
    {
        endianness.copy_from_slice(&MARKERS[marker]);
    }
}

/// Shows every entry as text, and reads the file again with a separate dictionary.
pub(super) fn show(source: &Source, options: &Options) {
    let Ok(mut reader) = open(source.clone(), &options.clone().thorough()) else { return };
    let mut texts = Texts::new(&reader);
    while let Ok(Some(located)) = reader.next() {
        texts.put(&located.record, located.offset);
    }
    read_unfinished(source, options);
    if let Ok(bytes) = in_damaged_blocks(source, options) {
        let mut copy = Vec::new();
        let copied = CNanoLog::rewrite(&Source::bytes(bytes.clone()), &mut copy, options);
        assert!(copied.is_err() || copy == bytes, "a copy keeps the damage");
        let _ = CNanoLog::repair(&Source::bytes(bytes), Vec::new(), options);
    }
}

/// The same records in blocks, with a few bytes changed; the contents of the file decide how and where.
fn in_damaged_blocks(source: &Source, options: &Options) -> Result<Vec<u8>> {
    let mut reader = open(source.clone(), options)?;
    let mut header = reader.header().clone();
    let seed = header.start_timestamp ^ header.timestamp_frequency ^ u64::from(header.entry_count);
    if seed & 1 == 0 {
        header.set_compressed();
    }
    if seed & 3 != 0 {
        header.set_checksums();
    }
    let mut writer = create(Vec::new(), &header)?;
    let mut left = 0;
    while let Some(located) = reader.next()? {
        if let Record::Block(_) = located.record {
            continue;
        }
        if left == 0 {
            left = 1 + (seed >> 2 & 0xf);
            writer.flush()?;
        }
        left -= 1;
        writer.write(&located.record)?;
    }
    let mut bytes = writer.finish()?;
    for step in 0..3 {
        let at = (seed >> 6).wrapping_mul(step + 1) as usize % bytes.len().max(1);
        if let Some(byte) = bytes.get_mut(at.max(64)) {
            *byte ^= 1 << (seed >> 3 & 7);
        }
    }
    Ok(bytes)
}

/// Uses the file as its own dictionary, and reads it as if it had none.
fn read_unfinished(source: &Source, options: &Options) {
    let Ok(dictionary) = Dictionary::of(source.clone(), options) else { return };
    let Ok(mut bytes) = source.prefix(1 << 20) else { return };
    if let Some(offset_and_count) = bytes.get_mut(40..52) {
        offset_and_count.fill(0);
    }
    let extra = Extra::default().with_dictionary(dictionary);
    if let Ok(mut reader) = open_with(Source::bytes(bytes), options, extra) {
        while let Ok(Some(_)) = reader.next() {}
    }
}

/// Every way to show an entry.
struct Texts {
    lines: text::Lines,
    json: text::Json,
    compat: text::Compat,
    out: Vec<u8>,
}

impl Texts {
    fn new(reader: &Reader) -> Self {
        Self {
            lines: text::Lines::new(text::Pattern::default(), reader.clock(), text::utc),
            json: text::Json::new(reader.clock()),
            compat: text::Compat::new(reader, None, text::utc),
            out: Vec::new(),
        }
    }

    fn put(&mut self, record: &Record<'_>, offset: u64) {
        self.out.clear();
        self.compat.put(record, &mut self.out);
        if let Record::Entry(entry) = record {
            self.lines.put(entry, &mut self.out);
            self.out.clear();
            self.json.put(entry, offset, &mut self.out);
            assert!(std::str::from_utf8(&self.out).is_ok_and(|text| text.ends_with("}\n")), "JSON is UTF-8");
        }
    }
}
