//! What is left of a file after damage in the middle of it.

use traceloom_core::{Options, Records, Result, Source};
use traceloom_easyprofiler::{Record, edit, findings, open, sample};

/// Offsets of all blocks and values, and the codes of what was found.
fn blocks(bytes: &[u8]) -> Result<(Vec<u64>, Vec<&'static str>)> {
    let mut reader = open(Source::bytes(bytes), &Options::default())?;
    let mut offsets = Vec::new();
    while let Some(located) = reader.next()? {
        if let Record::Block(_) | Record::Value(_) = located.record {
            offsets.push(located.offset);
        }
    }
    Ok((offsets, reader.findings().counts().keys().copied().collect()))
}

#[test]
fn a_damaged_stretch_costs_only_the_records_that_it_touches() -> Result<()> {
    let good = sample::sample()?.bytes;
    let (all, _) = blocks(&good)?;
    for damaged in [10..11, 10..12, 500..501, 1_000..1_400, 2_000..2_003, all.len() - 70..all.len() - 65] {
        let (from, to) = (all[damaged.start] as usize, all[damaged.end] as usize);
        for junk in [0x00, 0xff, 0x5a] {
            let mut bytes = good.clone();
            bytes[from..to].fill(junk);
            let (left, codes) = blocks(&bytes)?;
            assert!(codes.contains(&findings::RESYNCED.code), "{damaged:?} {junk:#x}: {codes:?}");
            let survivors = all.iter().filter(|offset| !(from..to).contains(&(**offset as usize)));
            assert!(survivors.eq(&left), "{damaged:?} {junk:#x}");

            let mut repaired = Vec::new();
            edit::repair(&Source::bytes(bytes), &mut repaired, &Options::default())?;
            let mut strict = open(Source::bytes(repaired), &Options::strict())?;
            while strict.next()?.is_some() {}
        }
    }
    Ok(())
}

#[test]
fn a_wrong_size_costs_at_most_its_neighbours() -> Result<()> {
    let good = sample::sample()?.bytes;
    let (all, _) = blocks(&good)?;
    for index in (5..all.len() - 5).step_by(97) {
        for size in [0u16, 1, 19, 29, 300, 65_535] {
            let mut bytes = good.clone();
            let at = all[index] as usize;
            if bytes[at..at + 2] == size.to_le_bytes() {
                continue;
            }
            bytes[at..at + 2].copy_from_slice(&size.to_le_bytes());
            let (left, codes) = blocks(&bytes)?;
            let lost = all.iter().filter(|offset| !left.contains(offset)).count();
            let swallowed = usize::from(size) / 23 + 3;
            assert!(lost <= if size == 65_535 { 3 } else { swallowed }, "{index} {size}: {lost} lost, {codes:?}");
        }
    }
    Ok(())
}
