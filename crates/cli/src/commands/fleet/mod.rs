//! The verbs for many traces: `ingest`, `trend`, `regressions`.

pub(crate) mod ingest;
pub(crate) mod trend;

use std::path::Path;

use traceloom_core::{Error, Result};
use traceloom_query::{Options, Session, fleet::Fleet};

use crate::{Outcome, args::fleet::Regressions, commands::diff};

/// Runs `regressions`.
pub(crate) fn regressions(arguments: &Regressions) -> Result<Outcome> {
    let builds = [arguments.baseline.as_str(), arguments.candidate.as_str()];
    let session = session(&arguments.store)?;
    let report = traceloom_fleet::regressions(&session, builds, &arguments.comparison.options());
    diff::show(&report.map_err(|error| error.in_file(&arguments.store))?, &arguments.comparison)
}

/// The store, ready for questions.
fn session(store: &Path) -> Result<Session> {
    let none = || Error::usage("is not the store of a fleet; `traceloom ingest` makes one").in_file(store);
    Session::of_fleet(&Fleet::open(store)?.ok_or_else(none)?, &Options::default())
}
