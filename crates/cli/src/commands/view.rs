//! `view`: traces in the browser.

use std::{io::Write, path::PathBuf};

use traceloom_core::{Error, Result};
use traceloom_viewer::{Options, start};

use crate::{Outcome, args::answers::View, browser, output};

pub(crate) fn run(arguments: &View) -> Result<Outcome> {
    check(&arguments.files)?;
    let options = Options {
        paths: arguments.files.clone(),
        from: arguments.reading.from.clone(),
        port: arguments.port,
        ..Options::default()
    };
    show(options, !arguments.no_open)
}

/// Serves until the program is ended.
pub(super) fn show(options: Options, opens: bool) -> Result<Outcome> {
    let viewer = start(options)?;
    let mut out = output::stdout();
    writeln!(out, "{}", viewer.url())?;
    out.flush()?;
    browser::open(viewer.url(), opens);
    viewer.wait();
    Ok(Outcome::Fine)
}

/// A name that is wrong is told here, not in a page.
fn check(files: &[PathBuf]) -> Result<()> {
    let missing = files.iter().find_map(|path| Some((path, std::fs::metadata(path).err()?)));
    missing.map_or(Ok(()), |(path, error)| Err(Error::from(error).in_file(path)))
}
