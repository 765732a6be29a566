//! Detects the format of a file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use traceloom_core::{Compression, Error, Findings, Options, Position, Result, Sniff, Source, peel};

use crate::{FORMATS, Format, by_id, foreign};

/// Size of the prefix by which formats are detected.
const PREFIX_BYTES: usize = 64 << 10;

/// A file with its format; cloning it is cheap.
#[derive(Clone)]
pub struct Opened {
    /// The format.
    pub format: &'static dyn Format,
    /// The decompressed bytes.
    pub source: Source,
    /// The layers of compression that were removed, the outermost first.
    pub layers: Vec<Compression>,
    /// Damage in the compressed data.
    pub findings: Findings,
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = self.format.descriptor().id;
        f.debug_struct("Opened").field("format", &id).field("layers", &self.layers).finish_non_exhaustive()
    }
}

/// Removes compression and detects the format, unless `from` names it.
///
/// `path` only breaks a tie between formats that all claim the bytes.
pub fn open(source: Source, path: &Path, from: Option<&str>, options: &Options) -> Result<Opened> {
    let look = |prefix: &[u8]| if from.is_none() { detect(prefix, path).map(drop) } else { Ok(()) };
    let peeled = peel(source, options.mode, &options.limits, look).map_err(|error| error.in_file(path))?;
    let format = match from {
        Some(id) => by_id(id)?,
        None => {
            let format = detect(&peeled.source.prefix(PREFIX_BYTES)?, path).map_err(|error| error.in_file(path))?;
            format.settle(&peeled.source, options)?.map_or(Ok(format), by_id)?
        }
    };
    let source = accompany(peeled.source, path, format);
    Ok(Opened { format, source, layers: peeled.layers, findings: peeled.findings })
}

/// Attaches the companion file, if there is one.
fn accompany(source: Source, path: &Path, format: &dyn Format) -> Source {
    let companion = format.companion().and_then(|suffix| companion(path, suffix));
    match companion.map(fs::File::open) {
        Some(Ok(file)) => source.with_companion(Source::file(file)),
        _ => source,
    }
}

/// The resolved path of the companion file. A link may not lead out of the folder of the trace, because a caller that
/// may read only that folder checks only the path of the trace.
fn companion(path: &Path, suffix: &str) -> Option<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    let companion = fs::canonicalize(name).ok()?;
    let trace = fs::canonicalize(path).ok()?;
    // Opening a pipe of that name would block until someone writes to it.
    (companion.parent() == trace.parent() && companion.is_file()).then_some(companion)
}

/// Recognizes a format by the first bytes of a file.
pub fn detect(prefix: &[u8], path: &Path) -> Result<&'static dyn Format> {
    let answers = FORMATS.iter().map(|format| (format.sniff(prefix), *format));
    let answers: Vec<_> = answers.filter(|(sniff, _)| *sniff != Sniff::No).collect();
    let best = answers.iter().map(|(sniff, _)| *sniff).max().unwrap_or(Sniff::No);
    let claims: Vec<_> = answers.into_iter().filter(|(sniff, _)| *sniff == best).map(|(_, format)| format).collect();
    match claims.as_slice() {
        [] => Err(unknown(prefix)),
        [format] => Ok(*format),
        several => by_extension(several, path),
    }
}

fn by_extension(claims: &[&'static dyn Format], path: &Path) -> Result<&'static dyn Format> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    // A compressed file has its extension before that of the compression.
    let ends = |format: &&&dyn Format| {
        format.descriptor().extensions.iter().any(|ending| name.split('.').skip(1).any(|part| part == *ending))
    };
    let mut named = claims.iter().filter(ends);
    if let (Some(format), None) = (named.next(), named.next()) {
        return Ok(*format);
    }
    let ids: Vec<_> = claims.iter().map(|format| format.descriptor().id).collect();
    Err(Error::unrecognized(format!("could be {}; choose with --from", ids.join(" or "))))
}

fn unknown(prefix: &[u8]) -> Error {
    let known: Vec<_> = FORMATS.iter().map(|format| format.descriptor().name).collect();
    let known = known.join(", ");
    let start: Vec<_> = prefix.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    let start = start.join(" ");
    let error = match foreign::name(prefix) {
        _ if start.is_empty() => Error::unrecognized("the file is empty"),
        Some((name, advice)) => Error::unrecognized(format!("is {name}; {advice}")),
        None => Error::unrecognized(format!("is not a trace of a known format ({known}); it starts with {start}")),
    };
    error.at(Position::at(0))
}
