//! Where answers go, and how findings and losses look.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Mutex,
};

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value as Json, json};
use traceloom_core::{Error, Finding, Findings, Loss, Result, Severity, Value};

use crate::{input::display_name, staged::Staged};

/// The colours of the program.
pub(crate) struct Styles;

impl Styles {
    pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
    pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
    pub(crate) const NOTE: Style = AnsiColor::Cyan.on_default();
    pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
    pub(crate) const NAME: Style = Style::new().bold();
    pub(crate) const DIM: Style = Style::new().dimmed();

    fn of(severity: Severity) -> Style {
        match severity {
            Severity::Note => Self::NOTE,
            Severity::Warning => Self::WARNING,
            Severity::Error => Self::ERROR,
        }
    }
}

/// Standard output, buffered, with colours where a person looks.
pub(crate) fn stdout() -> BufWriter<anstream::AutoStream<io::StdoutLock<'static>>> {
    BufWriter::with_capacity(64 << 10, anstream::AutoStream::auto(io::stdout().lock()))
}

/// Standard output for text that is not ours: nothing is added to it and nothing taken away.
pub(crate) fn raw_stdout() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// Text of a trace for a terminal, which no control character in it may steer.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Writes one finding as a line.
pub(crate) fn write_finding(out: &mut dyn Write, name: &str, finding: &Finding) -> io::Result<()> {
    let (style, dim) = (Styles::of(finding.rule.severity), Styles::DIM);
    let (severity, position, message, code) =
        (finding.rule.severity, finding.position, finding.message(), finding.rule.code);
    writeln!(out, "{name}: {position}: {style}{severity}:{style:#} {message} {dim}[{code}]{dim:#}")
}

/// Writes all findings, and how many more there were of each code.
pub(crate) fn write_findings(out: &mut dyn Write, name: &str, findings: &Findings) -> io::Result<()> {
    for finding in findings.kept() {
        write_finding(out, name, finding)?;
    }
    for (code, count) in findings.counts() {
        let kept = findings.kept().iter().filter(|finding| finding.rule.code == *code).count() as u64;
        if *count > kept {
            writeln!(out, "{name}: {} more of [{code}]", count - kept)?;
        }
    }
    Ok(())
}

/// Says on standard error what is wrong with an input, severe things only.
pub(crate) fn warn(name: &str, findings: &Findings) -> Result<()> {
    let mut out = anstream::stderr().lock();
    for finding in findings.kept().iter().filter(|finding| finding.rule.severity >= Severity::Warning) {
        write_finding(&mut out, name, finding)?;
    }
    Ok(())
}

/// Says on standard error what is wrong with a trace that an answer is made of: the first of each kind, however often the
/// trace is read for it.
pub(crate) fn warn_once(path: &Path, findings: &Findings) {
    static TOLD: Mutex<BTreeSet<(PathBuf, &str)>> = Mutex::new(BTreeSet::new());
    let Ok(mut told) = TOLD.lock() else { return };
    let name = display_name(path);
    let severe = findings.kept().iter().filter(|finding| finding.rule.severity >= Severity::Warning);
    for finding in severe {
        let code = finding.rule.code;
        if !told.insert((path.to_owned(), code)) {
            continue;
        }
        let mut out = anstream::stderr().lock();
        // Who closed standard error does not want to hear it.
        let _ = write_finding(&mut out, &name, finding);
        let count = findings.counts().get(code).copied().unwrap_or(1);
        if count > 1 {
            let _ = writeln!(out, "{name}: {} more of [{code}]; `traceloom check` lists them", count - 1);
        }
    }
}

/// Says on standard error what the reader of an answer should know.
pub(crate) fn note(text: &str) {
    let style = Styles::NOTE;
    anstream::eprintln!("{style}note:{style:#} {text}");
}

/// Says on standard error what an output could not hold.
pub(crate) fn report_loss(loss: &Loss) {
    let style = Styles::WARNING;
    for (what, count, example) in loss.entries() {
        let example = if example.is_empty() { String::new() } else { format!(" (such as {example})") };
        anstream::eprintln!("{style}lost:{style:#} {what}: {count}{example}");
    }
}

/// A finding as JSON.
pub(crate) fn finding_json(finding: &Finding) -> Json {
    let values: Map<String, Json> =
        finding.values.iter().map(|(name, value)| ((*name).to_owned(), value_json(value))).collect();
    json!({
        "code": finding.rule.code,
        "severity": finding.rule.severity.as_str(),
        "offset": finding.position.offset,
        "field": (!finding.position.field.is_empty()).then_some(finding.position.field),
        "message": finding.message(),
        "values": values,
    })
}

fn value_json(value: &Value) -> Json {
    match value {
        Value::Unsigned(value) => (*value).into(),
        Value::Signed(value) => (*value).into(),
        Value::Text(value) => value.as_str().into(),
    }
}

/// Writes a file: all of it or nothing, and never over one of the inputs.
///
/// `-` is standard output. Anything else is written beside its place and moved there at the end, so
/// that a full disk or an interruption leaves what was there before.
pub(crate) fn write_file<T>(
    path: &Path,
    inputs: &[&Path],
    work: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    if path == Path::new("-") {
        let mut out = BufWriter::new(io::stdout().lock());
        let outcome = work(&mut out)?;
        out.flush()?;
        return Ok(outcome);
    }
    if inputs.iter().any(|input| is_same_file(input, path)) {
        return Err(Error::usage("would overwrite its own input; choose another name").in_file(path));
    }
    let in_file = |error: io::Error| Error::from(error).in_file(path);
    // A device or a pipe cannot be replaced, only written to.
    if fs::metadata(path).is_ok_and(|kind| !kind.is_file()) {
        return fill(&fs::File::create(path).map_err(in_file)?, path, work);
    }
    let staged = Staged::create(path).map_err(in_file)?;
    let outcome = fill(staged.file(), path, work)?;
    staged.finish().map_err(in_file)?;
    Ok(outcome)
}

/// Runs the work on a file that is to become `path`; where writing fails, the error names that path.
fn fill<T>(file: &fs::File, path: &Path, work: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let mut out = BufWriter::with_capacity(256 << 10, Watched { file, failed: false });
    let outcome = work(&mut out).and_then(|outcome| Ok(out.flush().map(|()| outcome)?));
    let failed = out.get_ref().failed;
    outcome.map_err(|error| if failed { error.in_file(path) } else { error })
}

/// Remembers that writing failed: the work also reads, and fails in the same way when that does.
struct Watched<'f> {
    file: &'f fs::File,
    failed: bool,
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        self.failed |= written.is_err();
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}
