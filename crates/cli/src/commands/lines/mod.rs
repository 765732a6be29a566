//! `lines`: cost per source line; subs, packages, and the files of NYTProf's tools.

mod callgrind;
mod csv;
mod dot;
mod listing;
pub(super) mod source;
mod text;

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use traceloom_analysis::lines::{self, Level, Lists, Options, Profile};
use traceloom_core::{Error, Result};
use traceloom_model::{Filter, TableSource};

use crate::{
    Outcome,
    args::answers::{LineLevel, Lines as Arguments},
    output,
};

/// Runs the verb.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut profile = read(arguments)?;
    if let Some(folder) = &arguments.source_dir {
        source::add(&mut profile, folder)?;
    }
    match arguments {
        Arguments { csv: true, .. } => write_csv(&profile, arguments)?,
        Arguments { callgrind: true, .. } => write_to(arguments, |out| callgrind::write(&profile, out))?,
        Arguments { dot: true, .. } => write_to(arguments, |out| dot::write(&profile, out))?,
        _ => show(&profile, arguments)?,
    }
    Ok(Outcome::Fine)
}

fn read(arguments: &Arguments) -> Result<Profile> {
    let trace = arguments.answer.reading.open(&arguments.trace)?;
    let mut lines = lines::Lines::new(Options { merge_evals: !arguments.separate_evals });
    trace.pour(&Filter::default(), &mut lines)?;
    let profile = lines.finish().profiles.pop();
    let format = trace.format().name;
    let problem = || Error::unsupported(format!("the trace ({format}) has no line timings; try `traceloom stats`"));
    profile.ok_or_else(|| problem().in_file(&arguments.trace))
}

fn show(profile: &Profile, arguments: &Arguments) -> Result<()> {
    let files = chosen(profile, arguments)?;
    if arguments.answer.json {
        let lists = match arguments {
            Arguments { subs: true, .. } => Lists::Subs,
            Arguments { packages: true, .. } => Lists::Packages,
            _ => Lists::All,
        };
        return write_to(arguments, |out| Ok(writeln!(out, "{}", profile.to_json(lists, &files))?));
    }
    if arguments.output != Path::new("-") {
        let mut shown = Vec::new();
        text::write(&mut shown, profile, &files, arguments)?;
        let plain = anstream::adapter::strip_bytes(&shown).into_vec();
        return write_to(arguments, |out| Ok(out.write_all(&plain)?));
    }
    let mut out = output::stdout();
    text::write(&mut out, profile, &files, arguments)?;
    Ok(out.flush()?)
}

/// The files to list: the requested ones, or the one that took the most time.
fn chosen(profile: &Profile, arguments: &Arguments) -> Result<Vec<i64>> {
    let by_time = profile.files_by_time();
    if let Some(name) = &arguments.file {
        let is_exact = |id: &i64| profile.files[id].name == *name;
        let exact: Vec<i64> = by_time.iter().copied().filter(is_exact).collect();
        let has_it = |id: &i64| profile.files[id].name.contains(name.as_str());
        let found = if exact.is_empty() { by_time.into_iter().filter(has_it).collect() } else { exact };
        if found.is_empty() {
            return Err(Error::usage(format!("no file in the profile matches {name}")));
        }
        return Ok(found);
    }
    Ok(if arguments.all || arguments.answer.json { by_time } else { by_time.into_iter().take(1).collect() })
}

fn level(arguments: &Arguments) -> Level {
    match arguments.level {
        LineLevel::Block => Level::Block,
        LineLevel::Line => Level::Line,
        LineLevel::Sub => Level::Sub,
    }
}

fn write_to(arguments: &Arguments, work: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    output::write_file(&arguments.output, &[&arguments.trace], work)
}

/// Writes one CSV file per source file and level into a folder, or all of them to standard output.
fn write_csv(profile: &Profile, arguments: &Arguments) -> Result<()> {
    let (index, folder) = (profile.index(), &arguments.output);
    if folder == Path::new("-") {
        return write_to(arguments, |out| {
            csv::sheets(profile, &index).into_iter().try_for_each(|sheet| {
                writeln!(out, "== {}", sheet.name())?;
                Ok(sheet.write(out)?)
            })
        });
    }
    std::fs::create_dir_all(folder).map_err(|error| Error::from(error).in_file(folder))?;
    let sheets = csv::sheets(profile, &index);
    let count = sheets.len();
    sheets.into_iter().try_for_each(|sheet| {
        let path: PathBuf = folder.join(sheet.name());
        output::write_silently(&path, &[&arguments.trace], |out| Ok(sheet.write(out)?))
    })?;
    output::say_written(&format!("{count} files to {}", folder.display()));
    Ok(())
}
