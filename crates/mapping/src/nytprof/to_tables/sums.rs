//! The loader's sums: subs, line times, and calls with merged evals.

use traceloom_model::{
    Halt, LineLevel, Named, Table, Tables,
    calls::Call,
    calls_merged::MergedCall,
    definitions::Definition,
    line_times::LineTime,
    trackers::{Strings, Symbol},
};
use traceloom_nytprof::{
    SubCallers,
    aggregate::{Line, Profile, Sub},
    text_of,
};

use super::{
    clock::seconds_to_ns,
    names::{Files, SubNames},
};
use crate::shared::{Args, Argument, Datum};

/// The properties that rows take from their sub.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Defined {
    pub(super) id: Option<i64>,
    pub(super) file: Option<Symbol>,
    pub(super) line: Option<u32>,
}

impl Defined {
    fn new(id: i64, sub: &Sub, files: &Files) -> Self {
        let file = sub.fid.filter(|fid| *fid != 0).and_then(|fid| files.name(fid));
        Self { id: Some(id), file, line: sub.first_line.filter(|line| *line > 0) }
    }
}

/// The definition of each name that calls have, by its number.
pub(super) fn defined(profile: &Profile, names: &SubNames, files: &Files) -> Vec<Defined> {
    let mut defined = vec![Defined::default(); names.len()];
    for ((name, sub), id) in profile.subs.iter().zip(0..) {
        if let Some(entry) = names.find(name).and_then(|number| defined.get_mut(number as usize)) {
            *entry = Defined::new(id, sub, files);
        }
    }
    defined
}

/// Pushes the subs; the id of a sub is its index among the sorted names.
pub(super) fn push_subs(
    profile: &Profile,
    files: &Files,
    args: &mut Args,
    tables: &mut Tables<'_>,
) -> Result<(), Halt> {
    if ![Table::Args, Table::Definitions].into_iter().any(|table| tables.wants(table)) {
        return Ok(());
    }
    for ((name, sub), id) in profile.subs.iter().zip(0..) {
        let Defined { file, line, .. } = Defined::new(id, sub, files);
        tables.push(Definition {
            id,
            kind: "sub".into(),
            name: (&*text_of(name)).into(),
            file: file.map(Into::into),
            line,
            last_line: sub.last_line.filter(|line| *line > 0),
            color: None,
            level: None,
            flags: None,
            status: None,
            args: None,
        })?;
        let value = Datum::Text(sub.kind(name).as_str());
        let (owner_table, key, kind) = (Table::Definitions, "kind".into(), "text".into());
        args.push(&Argument { owner_table, owner_id: id, key, idx: None, kind, value }, tables)?;
    }
    Ok(())
}

/// Pushes the line times of lines, blocks and subs.
pub(super) fn push_line_times(profile: &Profile, files: &Files, tables: &mut Tables<'_>) -> Result<(), Halt> {
    let levels = [LineLevel::Line, LineLevel::Block, LineLevel::Sub].map(|level| tables.strings.intern(level.as_str()));
    let mut id = 0;
    for (fid, file) in &profile.files {
        let name = files.name_or_empty(*fid);
        let file_id = files.id(*fid);
        for (level, lines) in levels.into_iter().zip([&file.lines, &file.blocks, &file.sub_lines]) {
            for (line, Line { seconds, count }) in lines {
                let time_ns = seconds_to_ns(*seconds);
                tables.push(LineTime {
                    id,
                    file_id,
                    file: name.into(),
                    line: *line,
                    level: level.into(),
                    calls: u64::try_from(*count).unwrap_or(0),
                    incl_ns: time_ns,
                    // The profiler does not count the time of a statement while others run.
                    excl_ns: Some(time_ns),
                })?;
                id += 1;
            }
        }
    }
    Ok(())
}

/// Passes calls on as the profiler stored them: by call site, then by caller.
pub(crate) fn take_call<T>(id: i64, calls: &SubCallers<'_>, files: &Files, take: impl FnOnce(Call<'_>) -> T) -> T {
    let has_place = calls.fid != 0;
    take(Call {
        id,
        caller: Some(calls.caller.bytes).filter(|name| !name.is_empty()).map(text_of).as_deref().map(Into::into),
        callee: (&*calls.called.text()).into(),
        file: files.name(calls.fid).filter(|_| has_place).map(Into::into),
        line: has_place.then_some(calls.line),
        count: calls.count.into(),
        incl_ns: seconds_to_ns(calls.incl_seconds.value()),
        excl_ns: seconds_to_ns(calls.excl_seconds.value()),
        recursive_ns: Some(seconds_to_ns(calls.reci_seconds.value())),
        max_depth: Some(calls.depth.into()),
    })
}

/// Pushes calls as the loader sums them, by call site; several callers at one site share a row.
pub(super) fn push_merged_calls(profile: &Profile, files: &Files, tables: &mut Tables<'_>) -> Result<(), Halt> {
    let mut id = 0;
    for (callee, sub) in &profile.subs {
        let callee = intern(callee, &mut tables.strings);
        for calls in &sub.callers {
            let callers: Vec<Named<'_>> =
                calls.by.iter().map(|name| intern(name, &mut tables.strings).into()).collect();
            tables.push(MergedCall {
                id,
                caller: &callers,
                callee: callee.into(),
                file: files.name(calls.fid).map(Into::into),
                line: Some(calls.line),
                count: calls.count,
                incl_ns: seconds_to_ns(calls.incl_seconds),
                excl_ns: seconds_to_ns(calls.excl_seconds),
                recursive_ns: Some(seconds_to_ns(calls.reci_seconds)),
                max_depth: Some(calls.depth.into()),
            })?;
            id += 1;
        }
    }
    Ok(())
}

fn intern(name: &[u8], strings: &mut Strings) -> Symbol {
    strings.intern(&text_of(name))
}
