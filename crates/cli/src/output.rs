//! Output of results, findings and losses.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use anstyle::{AnsiColor, Style};
pub(crate) use traceloom_core::visible;
use traceloom_core::{Error, Finding, Findings, Limits, Loss, Result, Severity, write_behind};

use crate::{Outcome, input::display_name, progress::Progress, staged::Staged, units::Bytes};

/// The colors of the program.
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

/// Standard output with colors on a terminal.
pub(crate) fn stdout() -> BufWriter<Box<dyn Write>> {
    buffered(anstream::AutoStream::auto(io::stdout().lock()))
}

/// Standard output for text of others: unchanged, except on a terminal.
pub(crate) fn raw_stdout() -> BufWriter<Box<dyn Write>> {
    buffered(io::stdout().lock())
}

fn buffered(out: impl Write + 'static) -> BufWriter<Box<dyn Write>> {
    let out: Box<dyn Write> = if io::stdout().is_terminal() {
        Box::new(Visible { out, rest: Vec::new(), progress: Progress::new() })
    } else {
        Box::new(out)
    };
    BufWriter::with_capacity(64 << 10, out)
}

/// Text of a trace, escaped so that no control character in it can affect the terminal.
pub(crate) fn clean(text: &str) -> String {
    without_controls(text, &[])
}

/// The same for text of several lines, with tabs.
pub(crate) fn clean_lines(text: &str) -> String {
    without_controls(text, &['\n', '\t'])
}

fn without_controls(text: &str, kept: &[char]) -> String {
    let shown = |c: char| if c.is_control() && !kept.contains(&c) { '\u{fffd}' } else { c };
    visible(&text.chars().map(shown).collect::<String>())
}

/// Escapes bidirectional control characters in everything that is written to a terminal.
struct Visible<W> {
    out: W,
    /// The first bytes of a character that is not complete yet.
    rest: Vec<u8>,
    /// Ends before the first output, which it would be drawn into.
    progress: Progress,
}

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.progress.end();
        self.rest.extend_from_slice(bytes);
        let end = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let complete: Vec<u8> = self.rest.drain(..end).collect();
        for chunk in complete.utf8_chunks() {
            self.out.write_all(visible(chunk.valid()).as_bytes())?;
            self.out.write_all(chunk.invalid())?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes one finding as a line.
pub(crate) fn write_finding(out: &mut dyn Write, name: &str, finding: &Finding) -> io::Result<()> {
    let (style, dim) = (Styles::of(finding.severity), Styles::DIM);
    let (severity, position, message, code) =
        (finding.severity, finding.position, visible(&finding.message()), finding.rule.code);
    let name = clean(name);
    writeln!(out, "{name}: {position}: {style}{severity}:{style:#} {message} {dim}[{code}]{dim:#}")
}

/// Writes all findings that were kept, and the number of others per code.
pub(crate) fn write_findings(out: &mut dyn Write, name: &str, findings: &Findings) -> io::Result<()> {
    for finding in findings.kept() {
        write_finding(out, name, finding)?;
    }
    for (code, count) in findings.counts() {
        let kept = findings.kept().iter().filter(|finding| finding.rule.code == *code).count() as u64;
        if *count > kept {
            writeln!(out, "{}: {} more of [{code}]", clean(name), count - kept)?;
        }
    }
    Ok(())
}

/// Whether warnings and notes are suppressed.
static IS_QUIET: AtomicBool = AtomicBool::new(false);
/// Whether data of any input is missing.
static IS_DAMAGED: AtomicBool = AtomicBool::new(false);

/// Suppresses warnings, notes and progress from here on.
pub(crate) fn be_quiet(is_quiet: bool) {
    IS_QUIET.store(is_quiet, Ordering::Relaxed);
}

pub(crate) fn is_quiet() -> bool {
    IS_QUIET.load(Ordering::Relaxed)
}

/// The most severe reason why an input was left out.
static FAILURES: Mutex<Outcome> = Mutex::new(Outcome::Fine);

/// Remembers that an input was left out.
pub(crate) fn note_failure(outcome: Outcome) {
    let mut failures = FAILURES.lock().unwrap_or_else(PoisonError::into_inner);
    *failures = failures.and(outcome);
}

/// Whether inputs were left out.
pub(crate) fn failures() -> Outcome {
    *FAILURES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a result is incomplete because an input is damaged.
pub(crate) fn damage() -> Outcome {
    if IS_DAMAGED.load(Ordering::Relaxed) { Outcome::Findings } else { Outcome::Fine }
}

/// Remembers whether data of an input is missing; if so, every verb exits with 1.
pub(crate) fn note_damage(findings: &Findings) {
    if findings.is_data_missing() {
        note_missing_data();
    }
}

/// The same for an input whose findings were counted elsewhere.
pub(crate) fn note_missing_data() {
    IS_DAMAGED.store(true, Ordering::Relaxed);
}

/// Prints the problems of an input on standard error, except notes.
pub(crate) fn warn(name: &str, findings: &Findings) -> Result<()> {
    note_damage(findings);
    show_findings(name, findings)
}

/// The same for an input whose damage is not a failure.
pub(crate) fn show_findings(name: &str, findings: &Findings) -> Result<()> {
    if is_quiet() {
        return Ok(());
    }
    let mut out = anstream::stderr().lock();
    for finding in findings.kept().iter().filter(|finding| finding.rule.severity >= Severity::Warning) {
        write_finding(&mut out, name, finding)?;
    }
    Ok(())
}

/// Reports the problems of a trace on standard error: the first of each kind, even if the trace is read several times.
pub(crate) fn warn_once(path: &Path, findings: &Findings) {
    static TOLD: Mutex<BTreeSet<(PathBuf, &str)>> = Mutex::new(BTreeSet::new());
    note_damage(findings);
    let Ok(mut told) = TOLD.lock() else { return };
    if is_quiet() {
        return;
    }
    let name = display_name(path);
    let severe = findings.kept().iter().filter(|finding| finding.rule.severity >= Severity::Warning);
    for finding in severe {
        let code = finding.rule.code;
        if !told.insert((path.to_owned(), code)) {
            continue;
        }
        let mut out = anstream::stderr().lock();
        // If standard error is closed, the message is not wanted.
        let _ = write_finding(&mut out, &name, finding);
        let count = findings.counts().get(code).copied().unwrap_or(1);
        if count > 1 {
            let _ = writeln!(out, "{}: {} more of [{code}]; `traceloom check` lists them", clean(&name), count - 1);
        }
    }
}

/// Whether standard error is a terminal.
pub(crate) fn is_shown() -> bool {
    io::stderr().is_terminal() && !is_quiet()
}

/// Prints a note about the result on standard error.
pub(crate) fn note(text: &str) {
    if is_quiet() {
        return;
    }
    let style = Styles::NOTE;
    anstream::eprintln!("{style}note:{style:#} {}", clean(text));
}

/// Reports the losses of an output on standard error.
pub(crate) fn report_loss(loss: &Loss) {
    let style = Styles::WARNING;
    for (what, count, example) in loss.entries().filter(|_| !is_quiet()) {
        if what == Loss::REMAINING {
            anstream::eprintln!("{style}warning:{style:#} {what}: {}", visible(example));
            continue;
        }
        let example = if says_something(example) { format!(" (such as {})", visible(example)) } else { String::new() };
        anstream::eprintln!("{style}lost:{style:#} {what}: {count}{example}");
    }
}

/// Whether an example is useful: row numbers and bytes that are not text are not.
fn says_something(example: &str) -> bool {
    let number = example.rsplit(' ').next().unwrap_or_default();
    let is_row = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    !example.is_empty() && !is_row && !example.contains(char::is_control) && !example.contains("\\u{")
}

/// Writes a file like [`write_silently`] and reports it on standard error.
pub(crate) fn write_file<T>(
    path: &Path,
    inputs: &[&Path],
    work: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    let outcome = write_silently(path, inputs, work)?;
    if let Some(bytes) = file_bytes(path) {
        say_written(&format!("{}, {bytes}", display_name(path)));
    }
    Ok(outcome)
}

/// The length of a written file; `None` for standard output or a device.
pub(crate) fn file_bytes(path: &Path) -> Option<Bytes> {
    let file = fs::metadata(path).ok().filter(|file| path != Path::new("-") && file.is_file())?;
    Some(Bytes(file.len()))
}

/// Reports on standard error what was written.
pub(crate) fn say_written(what: &str) {
    if !is_quiet() {
        Progress::new().clear();
        let style = Styles::GOOD;
        anstream::eprintln!("{style}wrote{style:#} {}", clean(what));
    }
}

/// Writes a file completely or not at all, and never overwrites one of the inputs.
///
/// `-` is standard output. Any other file is written to a temporary file in the same folder, which is renamed at the
/// end, so a full disk or an interruption does not destroy an old file.
pub(crate) fn write_silently<T>(
    path: &Path,
    inputs: &[&Path],
    work: impl FnOnce(&mut dyn Write) -> Result<T>,
) -> Result<T> {
    if path == Path::new("-") {
        let mut out = raw_stdout();
        let outcome = work(&mut out)?;
        out.flush()?;
        return Ok(outcome);
    }
    if inputs.iter().any(|input| is_same_file(input, path)) {
        return Err(Error::usage("is also an input; choose another name for the output").in_file(path));
    }
    let in_file = |error: io::Error| Error::from(error).in_file(path);
    let folder = crate::staged::folder(path);
    if !folder.is_dir() {
        return Err(Error::from(io::Error::new(io::ErrorKind::NotFound, "no such folder")).in_file(folder));
    }
    // A device or a pipe cannot be replaced, only written to.
    if fs::metadata(path).is_ok_and(|kind| !kind.is_file()) {
        return fill(&fs::File::create(path).map_err(in_file)?, path, work);
    }
    let staged = Staged::create(path).map_err(in_file)?;
    let outcome = fill(staged.file(), path, work)?;
    staged.finish().map_err(in_file)?;
    Ok(outcome)
}

/// Runs the work on a file that will become `path`; if writing fails, the error names that path.
fn fill<T>(file: &fs::File, path: &Path, work: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
    let mut watched = Watched { file, path, progress: Progress::new(), bytes: 0, failed: false };
    let outcome = if Limits::default().threads > 1 {
        write_behind(&mut watched, work)
    } else {
        let mut out = BufWriter::with_capacity(256 << 10, &mut watched);
        work(&mut out).and_then(|outcome| Ok(out.flush().map(|()| outcome)?))
    };
    outcome.map_err(|error| if watched.failed { error.in_file(path) } else { error })
}

/// Shows progress and remembers whether writing failed, because reading can fail with the same kind of error.
struct Watched<'f> {
    file: &'f fs::File,
    path: &'f Path,
    progress: Progress,
    bytes: u64,
    failed: bool,
}

impl Write for Watched<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes);
        self.failed |= written.is_err();
        self.bytes += *written.as_ref().unwrap_or(&0) as u64;
        self.progress.written(self.path, self.bytes);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_of_a_line_are_escaped_on_terminals() {
        let mut shown = Vec::new();
        let mut out = Visible { out: &mut shown, rest: Vec::new(), progress: Progress::new() };
        let text = "user\u{202e}gpj.exe ä\n".as_bytes();
        // Cut inside a character.
        out.write_all(&text[..5]).expect("memory takes it");
        out.write_all(&text[5..]).expect("memory takes it");
        assert_eq!(String::from_utf8(shown).expect("UTF-8"), "user\\u{202e}gpj.exe ä\n");
        assert_eq!(clean("a\u{2066}b\u{1b}"), "a\\u{2066}b\u{fffd}");
    }

    #[test]
    fn examples_of_losses_say_something() {
        assert!(says_something("spans of Render"));
        for empty in ["", "definitions 0", "<\u{1}\u{0}P", "a \\u{1}"] {
            assert!(!says_something(empty), "{empty}");
        }
    }
}
