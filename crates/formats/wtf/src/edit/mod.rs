//! Edits of files: canonical, repair, slice, merge.

mod canonical;
mod crossings;
mod edges;
mod mend;
mod merge;
mod repair;
mod slice;
mod transfer;

pub use self::{canonical::canonical, merge::merge, repair::repair, slice::slice};

use std::io::Write;

use traceloom_core::{Edited, Records, Result};

use self::{
    slice::Cut,
    transfer::{Transfer, run},
};
use crate::{Composer, Container, FileInfo, Form, Reader};

fn compose<W: Write>(reader: Reader, out: W, form: Form, cut: Option<Cut>) -> Result<Edited> {
    let mut info = usable_info(&reader.header().info);
    let turns = cut.as_ref().map_or(0, Cut::turns);
    if turns > 0 {
        // Times are stored in 32 bits, so a range that starts late counts from a later timebase.
        info = info.with_timebase(info.timebase_ms + (turns << 32) as f64 / 1000.0);
    }
    let mut composer = Composer::new(out, form, &info)?;
    let mut transfer = Transfer::new(&mut composer, cut);
    transfer.shift_us = -(turns << 32);
    let mut edited = run(reader, transfer)?;
    let nuls = composer.nuls_replaced();
    edited.loss.lose_many("NUL characters in strings, now U+FFFD", nuls, || "U+0000".to_owned());
    composer.finish()?;
    Ok(edited)
}

/// A header that WTF accepts.
fn usable_info(info: &FileInfo) -> FileInfo {
    let (_, problems) = FileInfo::parse(&info.json);
    if info.json.is_empty() || crate::file_info::is_fatal(&problems) {
        return FileInfo { json: Vec::new(), ..info.clone() };
    }
    info.clone()
}

/// WTF opens one of the two JSON containers, and the older containers are better converted to chunks.
fn loadable_form(container: Container) -> Form {
    match container {
        Container::Json | Container::JsonPartial => Form::Json,
        _ => Form::Binary,
    }
}
