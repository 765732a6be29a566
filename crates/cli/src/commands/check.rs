//! `check`: all problems.

use std::{io::Write, path::Path};

use traceloom::Verdict;
use traceloom_core::Result;

use crate::{
    Outcome, args, each,
    input::shown_name,
    output::{Styles, clean, note_missing_data, stdout, write_finding, write_findings},
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::files::Check) -> Result<Outcome> {
    each(&arguments.each.files, |path| {
        let verdict = Verdict::of(path, &arguments.each.reading.watched().strict(arguments.strict))?;
        if arguments.each.json {
            let mut out = stdout();
            writeln!(out, "{}", verdict.to_json(path))?;
            out.flush()?;
        } else {
            print(path, &verdict)?;
        }
        if verdict.is_complete() == Some(false) {
            note_missing_data();
        }
        Ok(if verdict.is_bad() { Outcome::Findings } else { Outcome::Fine })
    })
}

fn print(path: &Path, verdict: &Verdict) -> Result<()> {
    let mut out = stdout();
    let name = shown_name(path);
    match verdict {
        Verdict::Read { findings, .. } => {
            write_findings(&mut out, &name, findings)?;
            if findings.kept().is_empty() {
                let good = Styles::GOOD;
                writeln!(out, "{name}: {good}no problems found{good:#}")?;
            }
        }
        Verdict::Refused { finding: Some(finding), .. } => write_finding(&mut out, &name, finding)?,
        Verdict::Refused { position, message, .. } => {
            let style = Styles::ERROR;
            let position = position.map(|position| format!("{position}: ")).unwrap_or_default();
            writeln!(out, "{name}: {position}{style}refused:{style:#} {}", clean(message))?;
        }
    }
    out.flush()?;
    Ok(())
}
