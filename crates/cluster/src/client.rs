//! `query`: asks a cluster.

use std::{
    fs::File,
    io::{self, BufWriter, Seek, Write},
    net::TcpStream,
    path::{Path, PathBuf},
};

use traceloom_core::{Error, ErrorKind, Result};
use traceloom_query::{Format, Offset, Options, Session, Writer};

use crate::{args, engine};

pub(crate) fn run(arguments: &args::Query) -> Result<()> {
    let (sql, inputs) = arguments.words.split_last().ok_or_else(|| Error::usage("name inputs before the query"))?;
    let inputs: Vec<PathBuf> = inputs.iter().map(PathBuf::from).collect();
    reach(&arguments.cluster)?;
    let session = Session::open(&inputs, &options(arguments))?;
    say_skipped(&session);
    if arguments.output == Path::new("-") {
        let mut out = io::stdout().lock();
        return answer(&session, sql, arguments.format, &mut out);
    }
    let mut file = File::create(&arguments.output).map_err(|error| Error::from(error).in_file(&arguments.output))?;
    answer(&session, sql, arguments.format, &mut file)
}

/// Fails with one sentence if nobody listens; the engine would say it in many.
fn reach(cluster: &str) -> Result<()> {
    let address = cluster.split_once("://").map_or(cluster, |(_, address)| address).trim_end_matches('/');
    let failed = |error: io::Error| {
        let text = format!("{cluster}: no scheduler answers: {error}");
        Error::from(io::Error::new(error.kind(), text))
    };
    TcpStream::connect(address).map(drop).map_err(failed)
}

fn options(arguments: &args::Query) -> Options {
    let offset = |(path, offset_ns): &(PathBuf, i64)| Offset { path: path.clone(), offset_ns: *offset_ns };
    Options {
        from: arguments.from.clone(),
        offsets: arguments.offsets.iter().map(offset).collect(),
        is_aligned: !arguments.no_align,
        engine: Some(engine::client(&arguments.cluster, arguments.partitions)),
        ..Options::default()
    }
}

/// How often a query is sent: an executor that is lost after the last stage takes its rows with it.
const MAX_ATTEMPTS: usize = 4;

fn answer(session: &Session, sql: &str, format: args::Format, out: &mut dyn Write) -> Result<()> {
    for _ in 0..MAX_ATTEMPTS {
        // Rows that were printed cannot be taken back: all of them wait in a file first.
        let mut rows = BufWriter::new(tempfile::tempfile()?);
        match write_rows(session, sql, format, &mut rows) {
            Err(error) if is_loss(&error) => {}
            Err(error) => return Err(error),
            Ok(()) => {
                let mut rows = rows.into_inner().map_err(io::IntoInnerError::into_error)?;
                rows.rewind()?;
                return Ok(io::copy(&mut rows, out).map(drop)?);
            }
        }
    }
    Err(io::Error::other(format!("executors were lost {MAX_ATTEMPTS} times before their rows were fetched")).into())
}

/// Whether the error is about the connection to an executor that has the rows, and not about the query.
fn is_loss(error: &Error) -> bool {
    let text = error.to_string();
    let kinds = ["GrpcConnectionError", "GrpcActionError", "GrpcError", "FetchFailed", "TonicError", "transport error"];
    kinds.iter().chain(&["IpcError", "Ipc error"]).any(|kind| text.contains(kind))
}

fn write_rows(session: &Session, sql: &str, format: args::Format, out: &mut dyn Write) -> Result<()> {
    let mut answer = session.ask(sql)?;
    let mut writer = Writer::new(format.into(), &answer.schema(), out)?;
    while let Some(batch) = answer.next()? {
        writer.write(&batch)?;
    }
    writer.finish()
}

impl From<args::Format> for Format {
    fn from(format: args::Format) -> Self {
        match format {
            args::Format::Arrow => Self::Arrow,
            args::Format::Csv => Self::Csv,
            args::Format::Json => Self::Json,
            args::Format::Parquet => Self::Parquet,
            args::Format::Stream => Self::Stream,
        }
    }
}

/// Reports which files of folders are missing in the answer.
fn say_skipped(session: &Session) {
    let (others, unreadable): (Vec<_>, Vec<_>) =
        session.skipped().iter().partition(|error| matches!(error.kind(), ErrorKind::Unrecognized(_)));
    unreadable.iter().for_each(|error| eprintln!("warning: left out: {error}"));
    match others.len() {
        0 => {}
        1 => eprintln!("1 file is not a trace"),
        count => eprintln!("{count} files are not traces"),
    }
}
