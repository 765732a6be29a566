//! `check`: all problems.

use std::{io::Write, path::Path};

use serde_json::json;
use traceloom_core::{Error, ErrorKind, Finding, Findings, Position, Result, Severity};

use crate::{
    Outcome, args, each,
    input::display_name,
    output::{Styles, finding_json, stdout, write_finding, write_findings},
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::Check) -> Result<Outcome> {
    each(&arguments.files, |path| {
        let verdict = verdict(path, arguments)?;
        if arguments.json {
            verdict.print_json(path)?;
        } else {
            verdict.print(path)?;
        }
        Ok(if verdict.is_bad() { Outcome::Findings } else { Outcome::Fine })
    })
}

/// What became of one file.
enum Verdict {
    Read { format: &'static str, findings: Findings },
    Refused { finding: Option<Box<Finding>>, position: Option<Position>, message: String },
}

fn verdict(path: &Path, arguments: &args::Check) -> Result<Verdict> {
    let read = || {
        let trace = arguments.reading.watched().strict(arguments.strict).open(path)?;
        Ok(Verdict::Read { format: trace.format().id, findings: trace.check()? })
    };
    read().or_else(|error: Error| match error.kind() {
        _ if !error.is_about_file() => Err(error.in_file(path)),
        ErrorKind::Refused(finding) => {
            Ok(Verdict::Refused { finding: Some(finding.clone()), position: None, message: finding.message() })
        }
        kind => Ok(Verdict::Refused { finding: None, position: error.position(), message: kind.to_string() }),
    })
}

impl Verdict {
    fn is_bad(&self) -> bool {
        match self {
            Self::Read { findings, .. } => findings.worst() == Some(Severity::Error),
            Self::Refused { .. } => true,
        }
    }

    fn print(&self, path: &Path) -> Result<()> {
        let mut out = stdout();
        let name = display_name(path);
        match self {
            Self::Read { findings, .. } => {
                write_findings(&mut out, &name, findings)?;
                if findings.kept().is_empty() {
                    let good = Styles::GOOD;
                    writeln!(out, "{name}: {good}no problems found{good:#}")?;
                }
            }
            Self::Refused { finding: Some(finding), .. } => write_finding(&mut out, &name, finding)?,
            Self::Refused { position, message, .. } => {
                let style = Styles::ERROR;
                let position = position.map(|position| format!("{position}: ")).unwrap_or_default();
                writeln!(out, "{name}: {position}{style}refused:{style:#} {message}")?;
            }
        }
        out.flush()?;
        Ok(())
    }

    fn print_json(&self, path: &Path) -> Result<()> {
        let (format, findings, counts, message) = match self {
            Self::Read { format, findings } => {
                (Some(*format), findings.kept().iter().map(finding_json).collect(), json!(findings.counts()), None)
            }
            Self::Refused { finding, message, .. } => (
                None,
                finding.iter().map(|finding| finding_json(finding)).collect::<Vec<_>>(),
                json!({}),
                Some(message),
            ),
        };
        let object = json!({
            "file": path.to_string_lossy(),
            "format": format,
            "accepted": !self.is_bad(),
            "refused": message,
            "findings": findings,
            "finding_counts": counts,
        });
        let mut out = stdout();
        writeln!(out, "{object}")?;
        out.flush()?;
        Ok(())
    }
}
