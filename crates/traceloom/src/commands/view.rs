//! `view`: traces in the browser.

use std::{env, io::Write, path::PathBuf};

use traceloom_bytes::{Error, Result};
use traceloom_viewer::{Options, start};

use crate::{Outcome, args::answers::View, output};

pub(crate) fn run(arguments: &View) -> Result<Outcome> {
    check(&arguments.files)?;
    let options = Options {
        paths: arguments.files.clone(),
        from: arguments.reading.from.clone(),
        port: arguments.port,
        ..Options::default()
    };
    let viewer = start(options)?;
    let mut out = output::stdout();
    writeln!(out, "{}", viewer.url())?;
    out.flush()?;
    let is_remote = env::var_os("SSH_CONNECTION").is_some();
    if is_remote {
        eprintln!("{}", from_afar(viewer.url()));
    } else if !arguments.no_open && webbrowser::open(viewer.url()).is_err() {
        eprintln!("No browser could be started: open the address above in one on this machine.");
    }
    viewer.wait();
    Ok(Outcome::Fine)
}

/// A name that is wrong is told here, not in a page.
fn check(files: &[PathBuf]) -> Result<()> {
    let missing = files.iter().find_map(|path| Some((path, std::fs::metadata(path).err()?)));
    missing.map_or(Ok(()), |(path, error)| Err(Error::from(error).in_file(path)))
}

fn from_afar(url: &str) -> String {
    let port = url.split([':', '/']).nth(4).unwrap_or_default();
    format!("On your own machine, run `ssh -L {port}:127.0.0.1:{port} HOST` and open the address there.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_over_ssh_names_the_port() {
        assert!(from_afar("http://127.0.0.1:8123/?token=abc").contains("-L 8123:127.0.0.1:8123"));
    }
}
