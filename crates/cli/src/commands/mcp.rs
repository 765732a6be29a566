//! `mcp`: a server for assistants.

use std::io::Write;

use traceloom_core::Result;
use traceloom_mcp::{Address, Options, serve_http, serve_stdio};

use crate::{Outcome, args::answers::Mcp as Arguments, output::stdout};

/// Serves until the client disconnects.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome> {
    let options = Options { files: arguments.files.clone(), allowed: arguments.allowed.clone() };
    if arguments.http {
        serve_http(&options, arguments.port, print)?;
    } else {
        serve_stdio(&options)?;
    }
    Ok(Outcome::Fine)
}

fn print(address: &Address) -> Result<()> {
    let mut out = stdout();
    writeln!(out, "{}\nAuthorization: Bearer {}", address.url, address.token)?;
    Ok(out.flush()?)
}
