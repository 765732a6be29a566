//! `query`: runs a query on a cluster.

use std::{
    fmt,
    fs::File,
    io::{self, BufWriter, Seek, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use traceloom_core::{Error, Result};
use traceloom_query::{Format, Options, Session, Writer, describe_skipped};

use crate::{
    Outcome, args,
    engine::{self, Sent},
    problems,
};

pub(crate) fn run(arguments: &args::Query) -> Result<Outcome> {
    let (sql, inputs) = arguments.words.split_last().ok_or_else(|| Error::usage("name inputs before the query"))?;
    let inputs: Vec<PathBuf> = inputs.iter().map(PathBuf::from).collect();
    reach(&arguments.cluster)?;
    let sent = Sent::default();
    let session = Session::open(&inputs, &options(arguments, &sent))?;
    say_skipped(&session);
    if arguments.output == Path::new("-") {
        answer(&session, sql, arguments, &mut io::stdout().lock())?;
    } else {
        let in_file = |error: io::Error| Error::from(error).in_file(&arguments.output);
        answer(&session, sql, arguments, &mut File::create(&arguments.output).map_err(in_file)?)?;
    }
    let damage = problems::report(&arguments.cluster, &sent)?;
    let damage = if arguments.allow_damaged { Outcome::Fine } else { damage };
    Ok(damage.max(*left_out()))
}

/// The worst outcome of the inputs that were left out.
fn left_out() -> MutexGuard<'static, Outcome> {
    static WORST: Mutex<Outcome> = Mutex::new(Outcome::Fine);
    WORST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reports an input that cannot be opened, and continues with the others; returns any other error.
fn leave_out(error: Error) -> Result<()> {
    let outcome = match (error.is_about_access(), error.is_about_file()) {
        (true, _) => Outcome::InputMissing,
        (false, true) => Outcome::DataMissing,
        (false, false) => return Err(error),
    };
    eprintln!("{LEFT_OUT}{error}");
    let mut worst = left_out();
    *worst = outcome.max(*worst);
    Ok(())
}

/// Prefix of the messages about inputs that were left out; `error: ` starts the only message of a query that failed.
const LEFT_OUT: &str = "left out: ";

/// Fails with one sentence if nobody listens; the engine's own message is long.
fn reach(cluster: &str) -> Result<()> {
    let address = cluster.split_once("://").map_or(cluster, |(_, address)| address).trim_end_matches('/');
    let failed = |error: io::Error| {
        let text = format!("{cluster}: cannot reach the scheduler: {error}");
        Error::from(io::Error::new(error.kind(), text))
    };
    TcpStream::connect(address).map(drop).map_err(failed)
}

fn options(arguments: &args::Query, sent: &Sent) -> Options {
    Options {
        from: arguments.from.clone(),
        offsets: arguments.offsets.clone(),
        is_aligned: !arguments.no_align,
        failed: Some(leave_out),
        engine: Some(engine::client(&arguments.cluster, arguments.partitions, sent)),
        ..Options::default()
    }
}

/// Max attempts per query: the rows of the last stage are lost with an executor, and all jobs with the scheduler.
const MAX_ATTEMPTS: usize = 4;

fn answer(session: &Session, sql: &str, arguments: &args::Query, out: &mut dyn Write) -> Result<()> {
    let cluster = &arguments.cluster;
    let mut last = None;
    for _ in 0..MAX_ATTEMPTS {
        // Printed rows cannot be taken back, so all of them are first collected in a file.
        let mut rows = BufWriter::new(tempfile::tempfile()?);
        match write_rows(session, sql, arguments.format, &mut rows) {
            Err(error) => {
                let Some(loss) = Loss::of(&error, cluster) else { return Err(error) };
                if loss == Loss::Scheduler {
                    await_scheduler(cluster)?;
                }
                last = Some(loss);
            }
            Ok(()) => {
                let mut rows = rows.into_inner().map_err(io::IntoInnerError::into_error)?;
                rows.rewind()?;
                return Ok(io::copy(&mut rows, out).map(drop)?);
            }
        }
    }
    let reason = last.unwrap_or(Loss::Executor);
    Err(io::Error::other(format!("{cluster}: the query failed {MAX_ATTEMPTS} times; the last reason: {reason}")).into())
}

/// A process whose end makes a query fail.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Loss {
    Executor,
    Scheduler,
}

/// Parts of messages about the connection to an executor that holds the rows; some errors arrive in two forms.
const OF_EXECUTOR: &[&str] = &[
    "FetchFailed",
    "Shuffle fetch partition error",
    "GrpcConnectionError",
    "Grpc connection error",
    "GrpcActionError",
    "GrpcError",
    "TonicError",
    "IpcError",
    "Ipc error",
];
/// Parts of messages about the connection to the scheduler, whose errors have no separate kind.
const OF_SCHEDULER: &[&str] =
    &["transport error", "tonic::transport::Error", "h2 protocol error", "Stream closed without job completing"];

impl Loss {
    /// `None` if the error is about the query.
    fn of(error: &Error, cluster: &str) -> Option<Self> {
        let text = error.to_string();
        let is_about = |parts: &[&str]| parts.iter().any(|part| text.contains(part));
        let loss = match (is_about(OF_EXECUTOR), is_about(OF_SCHEDULER)) {
            (true, _) => Self::Executor,
            (false, true) => Self::Scheduler,
            (false, false) => return None,
        };
        Some(if reach(cluster).is_err() { Self::Scheduler } else { loss })
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Executor => "an executor ended before its rows were fetched",
            Self::Scheduler => "the scheduler ended",
        })
    }
}

/// How long to wait for the scheduler to come back.
const RESTART: Duration = Duration::from_secs(30);

/// Waits until the scheduler is restarted.
fn await_scheduler(cluster: &str) -> Result<()> {
    let end = Instant::now() + RESTART;
    while let Err(error) = reach(cluster) {
        if Instant::now() > end {
            let seconds = RESTART.as_secs();
            let text = format!("{error}; it ended during the query and did not come back within {seconds} s");
            return Err(io::Error::other(text).into());
        }
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
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

/// Reports the files of folders that are missing in the result.
fn say_skipped(session: &Session) {
    let (warnings, others) = describe_skipped(session.skipped());
    warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
    if let Some(others) = others {
        eprintln!("{others}");
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn lost_connections_are_recognized_in_every_form() {
        let scheduler = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let url = format!("http://{}", scheduler.local_addr().expect("an address"));
        let refused = "source: Some(tonic::transport::Error(Transport, ConnectError(\"tcp connect error\")))";
        for (text, loss) in [
            (format!("Shuffle fetch partition error from Executor 9d71, map_stage 2, {refused}"), Some(Loss::Executor)),
            (format!("FetchFailed(\"9d71\", 2, 3, {refused})"), Some(Loss::Executor)),
            (
                "tonic::transport::Error(Transport, ConnectError(\"tcp connect error\"))".to_owned(),
                Some(Loss::Scheduler),
            ),
            ("transport error".to_owned(), Some(Loss::Scheduler)),
            ("no column 'nothing'".to_owned(), None),
        ] {
            assert_eq!(Loss::of(&Error::usage(text.clone()), &url), loss, "{text}");
        }
        // If nobody listens there, any of them is about the scheduler.
        drop(scheduler);
        assert_eq!(Loss::of(&Error::usage("FetchFailed"), &url), Some(Loss::Scheduler));
    }
}
