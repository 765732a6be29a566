//! `demo`: samples to try things on.

use std::{
    fs,
    io::{self, IsTerminal, Write},
};

use traceloom_core::{Error, Result};
use traceloom_open::FORMATS;
use traceloom_viewer::Options;

use super::view;
use crate::{
    Outcome, args, browser,
    output::{Styles, stdout, write_file},
};

/// Runs the verb.
pub(crate) fn run(arguments: &args::Demo) -> Result<Outcome> {
    let dir = &arguments.dir;
    fs::create_dir_all(dir).map_err(|error| Error::from(error).in_file(dir))?;
    let mut out = stdout();
    let (name, dim) = (Styles::NAME, Styles::DIM);
    let mut paths = Vec::new();
    for format in FORMATS {
        let sample = format.sample()?;
        let path = dir.join(sample.file_name);
        write_file(&path, &[], |out| Ok(out.write_all(&sample.bytes)?))?;
        let shown = path.display();
        writeln!(out, "{name}{shown}{name:#}  {}: {}", format.descriptor().name, sample.about)?;
        for verb in ["info {file}", "dump {file} | less"].iter().chain(sample.tries) {
            writeln!(out, "{dim}  traceloom {}{dim:#}", verb.replace("{file}", &shown.to_string()))?;
        }
        paths.push(path);
    }
    out.flush()?;
    // Only for somebody who looks: a script that writes samples goes on.
    if arguments.no_open || !io::stdout().is_terminal() || !browser::is_there() {
        return Ok(Outcome::Fine);
    }
    view::show(Options { paths, ..Options::default() }, true)
}
