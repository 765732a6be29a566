//! `query`: SQL over traces.

mod prompt;
mod rows;

use std::{
    ffi::OsStr,
    fs,
    io::{self, IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use traceloom_core::{Error, Result, Source};
use traceloom_query::{Ask, Format, Offset, Options, Reason, Session, Watch, describe_skipped};

use crate::{
    Outcome,
    args::answers::{Query as Arguments, QueryFormat},
    commands::cluster::Cluster,
    input::{display_name, shown_name},
    output::{self, clean_lines},
    progress::Progress,
    skip_after,
    table::exact,
};

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let (files, sql) = split(arguments)?;
    if files.is_empty() {
        return Err(Error::usage("no traces given; name files, folders or patterns before the query"));
    }
    if let Some(url) = &arguments.cluster {
        let sql = sql.ok_or_else(|| Error::usage("--cluster needs a query after the files"))?;
        return answer(&cluster(url, &files, arguments)?, &sql, arguments, &Progress::new()).map(|()| Outcome::Fine);
    }
    let progress = Progress::new();
    let session = Session::open(&files, &options(arguments, &progress));
    progress.clear();
    let session = session?;
    say_skipped(&session);
    say_alignments(&session);
    let outcome = match sql {
        Some(sql) if arguments.explain => explain(&session, &sql, arguments),
        Some(sql) => answer(&session, &sql, arguments, &progress),
        None => prompt::run(&session, &progress),
    };
    // An error replaces the progress bar.
    progress.clear();
    outcome.map(|()| Outcome::Fine)
}

fn options(arguments: &Arguments, progress: &Progress) -> Options {
    let progress = progress.clone();
    let watch = Watch::new(move |source: Source, path: &Path| {
        let (progress, path, bytes) = (progress.clone(), path.to_owned(), source.len()?);
        Ok(source.watched(move |offset| progress.seen(&path, offset, bytes)))
    });
    Options {
        from: arguments.reading.from.clone(),
        memory_bytes: arguments.memory,
        offsets: arguments.shifts.offsets.clone(),
        is_aligned: !arguments.no_align,
        watch: Some(watch),
        told: Some(output::warn_once),
        failed: Some(skip_after),
        ..Options::default()
    }
}

fn cluster(url: &str, files: &[PathBuf], arguments: &Arguments) -> Result<Cluster> {
    let mut cluster = Cluster::new(url, files)?;
    if let Some(from) = &arguments.reading.from {
        cluster.pass("--from", from);
    }
    for Offset { path, offset_ns } in &arguments.shifts.offsets {
        let mut offset = path.clone().into_os_string();
        offset.push(format!("={offset_ns}ns"));
        cluster.pass("--offset", offset);
    }
    if arguments.no_align {
        cluster.flag("--no-align");
    }
    Ok(cluster)
}

/// The files, and the query if there is one: the last argument, a file, or standard input.
fn split(arguments: &Arguments) -> Result<(Vec<PathBuf>, Option<String>)> {
    let mut words = arguments.words.clone();
    let sql = match &arguments.file {
        Some(path) => Some(read(path)?),
        None => words.pop_if(|word| is_query(word)).map(|word| word.to_string_lossy().into_owned()),
    };
    let files: Vec<PathBuf> = words.into_iter().map(PathBuf::from).collect();
    let takes_input = files.iter().any(|path| path == Path::new("-"));
    if sql.is_none() && !takes_input && !io::stdin().is_terminal() {
        return Ok((files, Some(read(Path::new("-"))?)));
    }
    Ok((files, sql))
}

/// A query contains spaces; so may the name of a file, but then the file exists.
fn is_query(word: &OsStr) -> bool {
    let text = word.to_string_lossy();
    text.trim().contains(char::is_whitespace) && !Path::new(word).exists()
}

/// Max size of a query; a larger file is not a query.
const MAX_QUERY_BYTES: u64 = 1 << 20;

fn read(path: &Path) -> Result<String> {
    let in_file = |error: io::Error| Error::from(error).in_file(display_name(path));
    let source: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(fs::File::open(path).map_err(in_file)?)
    };
    let mut text = String::new();
    #[expect(clippy::disallowed_methods, reason = "the length is bounded")]
    source.take(MAX_QUERY_BYTES).read_to_string(&mut text).map_err(in_file)?;
    Ok(text)
}

/// Prints the plan of one query.
fn explain(session: &Session, sql: &str, arguments: &Arguments) -> Result<()> {
    let plan = session.explain(sql)?;
    output::write_file(&arguments.output, &arguments.inputs(), |out| Ok(out.write_all(plan.as_bytes())?))
}

/// Prints the result of one query.
fn answer(engine: &dyn Ask, sql: &str, arguments: &Arguments, progress: &Progress) -> Result<()> {
    let inputs = arguments.inputs();
    let is_binary = matches!(arguments.format, QueryFormat::Arrow | QueryFormat::Parquet);
    if is_binary && arguments.output == Path::new("-") && io::stdout().is_terminal() {
        return Err(Error::usage("will not write binary data to a terminal; name a file with --output"));
    }
    let mut answer = engine.ask(sql)?;
    let answer = answer.as_mut();
    match arguments.format.for_programs() {
        None if arguments.output == Path::new("-") => {
            let mut out = output::stdout();
            rows::write(answer, progress, &mut out)?;
            Ok(out.flush()?)
        }
        None => output::write_file(&arguments.output, &inputs, |out| rows::write_plain(answer, progress, out)),
        Some(format) => {
            output::write_file(&arguments.output, &inputs, |out| rows::write_as(format, answer, progress, out))
        }
    }
}

impl Arguments {
    fn inputs(&self) -> Vec<&Path> {
        self.words.iter().map(Path::new).collect()
    }
}

impl QueryFormat {
    fn for_programs(self) -> Option<Format> {
        match self {
            Self::Table => None,
            Self::Csv => Some(Format::Csv),
            Self::Json => Some(Format::Json),
            Self::Parquet => Some(Format::Parquet),
            Self::Arrow => Some(Format::Arrow),
        }
    }
}

/// Reports which files of folders were skipped.
fn say_skipped(session: &Session) {
    if output::is_quiet() {
        return;
    }
    let style = output::Styles::WARNING;
    let (warnings, others) = describe_skipped(session.skipped());
    for warning in warnings {
        anstream::eprintln!("{style}warning:{style:#} {}", clean_lines(&warning));
    }
    if let Some(others) = others {
        anstream::eprintln!("{}", clean_lines(&others));
    }
}

/// Reports which traces were shifted, and by how much.
fn say_alignments(session: &Session) {
    if output::is_quiet() {
        return;
    }
    for known in session.alignments() {
        let sign = if known.shift_ns < 0 { "-" } else { "+" };
        let shift = exact(known.shift_ns.unsigned_abs());
        let path = shown_name(&known.path);
        let with = known.with.as_deref().map(shown_name).unwrap_or_default();
        match known.reason {
            Reason::Counter { .. } => anstream::eprintln!(
                "{path}: times shifted by {sign}{shift} to align with {with}, which uses the same processor counter"
            ),
            Reason::TimeOfDay => {
                anstream::eprintln!("{path}: times shifted by {sign}{shift} to align with {with} by the time of day");
            }
            Reason::Alone | Reason::UserOffset => anstream::eprintln!("{path}: times shifted by {sign}{shift}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_told_from_a_file() {
        let is = |word: &str| is_query(OsStr::new(word));
        assert!(is("select 1") && is("select\n1"));
        assert!(!is("a.prof") && !is("*.prof") && !is(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")));
    }
}
