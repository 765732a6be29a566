//! `view`: traces in the browser.

use std::{
    fs::File,
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
};

use traceloom_core::{Error, ErrorKind, Result, live::Address};
use traceloom_viewer_server::{Keep, Live, LiveSource, Options, StoreOptions, Viewer, start};

use super::{capture::sampled::Sampled, store::is_any_store};
use crate::{Outcome, args::answers::View, browser, output, skip_after};

pub(crate) fn run(arguments: &View) -> Result<Outcome> {
    if let Some(path) = store(arguments)? {
        let store = Some(StoreOptions { path, sources: arguments.sources.clone() });
        return show(Options { store, port: arguments.port, ..Options::default() }, !arguments.no_open);
    }
    let (live, sampled) = match arguments.live.as_deref() {
        Some(from) => live(from, arguments)?,
        None => (None, None),
    };
    let paths = if arguments.live.is_some() && arguments.files.is_empty() { Vec::new() } else { readable(arguments)? };
    let options =
        Options { paths, live, from: arguments.reading.from.clone(), port: arguments.port, ..Options::default() };
    serve(options, !arguments.no_open, sampled)
}

/// The store that is to be shown, if it is one.
fn store(arguments: &View) -> Result<Option<PathBuf>> {
    if let Some(path) = arguments.files.iter().find(|path| is_any_store(path)) {
        if arguments.files.len() == 1 && arguments.live.is_none() {
            return Ok(Some(path.clone()));
        }
        return Err(Error::usage("a store cannot be shown together with other files").in_file(path));
    }
    if arguments.sources.is_empty() { Ok(None) } else { Err(Error::usage("--sources works only with a store")) }
}

/// A growing file, or a program that serves its trace or that has to be captured repeatedly.
fn live(from: &str, arguments: &View) -> Result<(Option<Live>, Option<Sampled>)> {
    let keep = Keep { age_ns: arguments.keep_ns, bytes: arguments.keep_bytes };
    if Path::new(from).is_file() {
        return Ok((Some(Live { from: LiveSource::File(from.into()), keep }), None));
    }
    if let Some(sampled) = Sampled::find(from, &output(arguments, "live.prof")?, keep)? {
        return Ok((None, Some(sampled)));
    }
    let (address, output) = (Address::parse(from)?, output(arguments, "live.wtf-trace")?);
    // Other users can see the command line, so the token is not on it.
    let token = match &arguments.token_file {
        Some(path) if path == Path::new("-") => Some(io::read_to_string(io::stdin())?),
        Some(path) => Some(std::fs::read_to_string(path).map_err(|error| Error::from(error).in_file(path))?),
        None => std::env::var("TRACELOOM_TOKEN").ok(),
    };
    let token = token.map(|token| token.trim().to_owned());
    Ok((Some(Live { from: LiveSource::Program { address, token, output }, keep }), None))
}

fn output(arguments: &View, default: &str) -> Result<PathBuf> {
    let output = arguments.output.clone().unwrap_or_else(|| default.into());
    if output.exists() {
        return Err(Error::usage("already exists; choose another name with -o").in_file(&output));
    }
    Ok(output)
}

/// Serves until the program is interrupted.
pub(super) fn show(options: Options, opens: bool) -> Result<Outcome> {
    serve(options, opens, None)
}

fn serve(options: Options, opens: bool, sampled: Option<Sampled>) -> Result<Outcome> {
    let port = options.port;
    let viewer = Arc::new(start(options).map_err(|error| explain(error, port))?);
    let mut out = output::stdout();
    writeln!(out, "{}", viewer.url())?;
    out.flush()?;
    if let Some(sampled) = sampled {
        let viewer = Arc::clone(&viewer);
        thread::Builder::new().name("captures".to_owned()).spawn(move || sampled.run(&viewer))?;
    }
    // Other users can see the command line of the browser, so the token is not on it.
    let handed = if opens { Some(viewer.one_time_url()?) } else { None };
    browser::open(viewer.url(), handed.as_deref());
    wait(&viewer);
    Ok(Outcome::Fine)
}

/// Waits for Ctrl-C, so that the exit code reports files that were left out.
fn wait(viewer: &Viewer) {
    let (interrupt, interrupted) = mpsc::channel();
    // Without a handler, Ctrl-C ends the process.
    if ctrlc::set_handler(move || interrupt.send(()).unwrap_or_default()).is_err() {
        viewer.wait();
    }
    interrupted.recv().unwrap_or_default();
}

fn explain(error: Error, port: u16) -> Error {
    match error.kind() {
        ErrorKind::Io(io) if io.kind() == io::ErrorKind::AddrInUse => {
            let message = format!("port {port} is in use; omit --port to use a free one");
            io::Error::new(io::ErrorKind::AddrInUse, message).into()
        }
        _ => error,
    }
}

/// The files that are traces. Problems with other files are reported here, not on the page; if there are no traces,
/// nothing is served.
fn readable(arguments: &View) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for path in &arguments.files {
        match check(path, arguments) {
            Ok(()) => paths.push(path.clone()),
            Err(error) if arguments.files.len() > 1 => skip_after(error)?,
            Err(error) => return Err(error),
        }
    }
    if paths.is_empty() {
        return Err(Error::unrecognized("none of the files is a trace"));
    }
    Ok(paths)
}

fn check(path: &Path, arguments: &View) -> Result<()> {
    if path == Path::new("-") {
        let problem = "`view` cannot show standard input, because the page rereads the trace; save it to a file first";
        return Err(Error::usage(problem));
    }
    let in_file = |error: io::Error| Error::from(error).in_file(path);
    let mut file = File::open(path).map_err(in_file)?;
    if file.metadata().map_err(in_file)?.is_dir() {
        return Err(in_file(io::Error::new(io::ErrorKind::IsADirectory, "this is a folder; name the traces in it")));
    }
    let mut first = [0; 4];
    let read = file.read(&mut first).map_err(in_file)?;
    // A compressed trace would be decompressed twice; the page shows its problems.
    let is_compressed = COMPRESSED.iter().any(|magic| first.get(..read).is_some_and(|first| first.starts_with(magic)));
    if is_compressed { Ok(()) } else { arguments.reading.options().open(path).map(drop) }
}

/// First bytes of files that are compressed with gzip, zstd or lz4.
static COMPRESSED: &[&[u8]] = &[&[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd], &[0x04, 0x22, 0x4d, 0x18]];
