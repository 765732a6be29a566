//! Whole-file edits on records: lay out anew, repair, cut, put together.

use std::io::Write;

use traceloom_core::{Edited, Error, Loss, Options, Records, Result, Slice, Source};

use crate::{
    Composer, Container, FileInfo, Form, Reader, Record,
    transfer::{Cut, Ids, Transfer},
};

/// Milliseconds after which stored times start again.
const TURN_MS: f64 = (1_u64 << 32) as f64 / 1000.0;

/// Writes the file anew, as our own writer lays it out: everything that can be read, nothing else.
pub fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let form = variant.map(|variant| {
        Form::from_variant(variant).ok_or_else(|| Error::usage(format!("wtf has no variant {variant}")))
    });
    let reader = crate::open(source.clone(), options)?;
    let form = match (form.transpose()?, reader.header().container) {
        (Some(form), _) => form,
        (None, Container::Json) => Form::Json,
        (None, Container::JsonPartial) => Form::JsonPartial,
        (None, _) => Form::Binary,
    };
    compose(reader, out, form, None)
}

/// Writes a file that the original loads, with everything that can be saved.
pub fn repair<W: Write>(source: &Source, out: W, options: &Options) -> Result<Edited> {
    let reader = crate::open(source.clone(), options)?;
    let form = match reader.header().container {
        // Of the two JSON containers the original can open one.
        Container::Json | Container::JsonPartial => Form::Json,
        _ => Form::Binary,
    };
    compose(reader, out, form, None)
}

/// Writes a part of the file, with the definitions, zones and zone settings that it needs.
///
/// Scopes that reach over an edge are cut there.
pub fn slice<W: Write>(source: &Source, out: W, slice: &Slice, options: &Options) -> Result<Edited> {
    let reader = crate::open(source.clone(), options)?;
    let form = match reader.header().container {
        Container::Json | Container::JsonPartial => Form::Json,
        _ => Form::Binary,
    };
    let cut = Cut::new(slice, reader.header().info.times_as_count());
    compose(reader, out, form, Some(cut))
}

/// Puts files together on one time axis; zones, ranges and flows of different files stay apart.
pub fn merge<W: Write>(sources: &[Source], out: W, options: &Options) -> Result<Edited> {
    let readers = sources.iter().map(|source| crate::open(source.clone(), options)).collect::<Result<Vec<_>>>()?;
    let bases = readers.iter().map(|reader| reader.header().info.timebase_ms);
    let [first_ms, last_ms] =
        [bases.clone().fold(f64::INFINITY, f64::min), bases.clone().fold(f64::NEG_INFINITY, f64::max)];
    // Stored times start again after a turn, and in a gap of that length nobody would see it.
    let is_far = last_ms - first_ms >= TURN_MS;
    // Files without a wall-clock timebase cannot be told apart in time: all begin together.
    let has_clock = first_ms > 0.0 && !is_far;
    let origin_ms = if has_clock { first_ms } else { bases.clone().next().unwrap_or(0.0) };
    let Some(first) = readers.first() else { return Err(Error::usage("there is nothing to merge")) };
    let info = usable_info(&first.header().info).with_timebase(origin_ms);
    let mut composer = Composer::new(out, Form::Binary, &info)?;
    let mut ids = Ids::default();
    let mut edited: Option<Edited> = None;
    for (place, reader) in readers.into_iter().enumerate() {
        let base_ms = reader.header().info.timebase_ms;
        let shift_ms = if has_clock { base_ms - origin_ms } else { 0.0 };
        let mut transfer = Transfer::new(&mut composer, None);
        transfer.shift_us = (shift_ms * 1000.0).round() as i64;
        transfer.file = place as u32 + 1;
        transfer.ids = Some(&mut ids);
        let (mut loss, findings) = run(reader, transfer)?;
        if is_far && first_ms > 0.0 && base_ms != origin_ms {
            loss.lose("the time between files that are 71 minutes or more apart: they begin together", || {
                format!("file {} began {} ms from the first", place + 1, base_ms - origin_ms)
            });
        }
        if place > 0 {
            loss.lose("context and metadata of all files but the first", || format!("file {}", place + 1));
        }
        match &mut edited {
            None => edited = Some(Edited { findings, loss }),
            Some(all) => {
                all.findings.absorb(findings);
                for (what, count, example) in loss.entries() {
                    (0..count).for_each(|_| all.loss.lose(what, || example.to_owned()));
                }
            }
        }
    }
    composer.finish()?;
    edited.ok_or_else(|| Error::usage("there is nothing to merge"))
}

fn compose<W: Write>(reader: Reader, out: W, form: Form, cut: Option<Cut>) -> Result<Edited> {
    let mut info = usable_info(&reader.header().info);
    let turns = cut.as_ref().map_or(0, Cut::turns);
    if turns > 0 {
        // Times are stored in 32 bits: a part from far behind counts from a later timebase.
        info = info.with_timebase(info.timebase_ms + (turns << 32) as f64 / 1000.0);
    }
    let mut composer = Composer::new(out, form, &info)?;
    let mut transfer = Transfer::new(&mut composer, cut);
    transfer.shift_us = -(turns << 32);
    let (mut loss, findings) = run(reader, transfer)?;
    for _ in 0..composer.nuls_replaced() {
        loss.lose("NUL characters in strings, now U+FFFD", || "U+0000".to_owned());
    }
    composer.finish()?;
    Ok(Edited { findings, loss })
}

/// A header that the original accepts.
fn usable_info(info: &FileInfo) -> FileInfo {
    let (_, problems) = FileInfo::parse(&info.json);
    if info.json.is_empty() || crate::file_info::is_fatal(&problems) {
        return FileInfo { json: Vec::new(), ..info.clone() };
    }
    info.clone()
}

fn run<W: Write>(mut reader: Reader, mut transfer: Transfer<'_, W>) -> Result<(Loss, traceloom_core::Findings)> {
    loop {
        // Zones come from the reader, which cannot be asked while it lends a record.
        transfer.take_zones(reader.zones());
        let Some(located) = reader.next()? else { break };
        let offset = located.offset;
        match &located.record {
            Record::Event(event) => transfer.event(event)?,
            Record::Resource(resource) => transfer.resource(resource)?,
            Record::JsonEvents(_) => transfer.lose("events as JSON in a binary chunk", offset),
            Record::Torn(_) => transfer.lose("the beginning of an event that is cut off", offset),
            Record::Unread(_) => transfer.lose("parts and chunks of an unknown type, or replaced ones", offset),
            Record::Residue(_) => transfer.lose("bytes that nobody can read", offset),
            Record::Raw(_) | Record::Chunk(_) | Record::FileHeader(_) | Record::Strings(_) | Record::Padding(_) => {}
        }
    }
    transfer.take_unused(reader.types())?;
    let loss = transfer.finish()?;
    Ok((loss, reader.into_findings()))
}
