//! The verbs for many traces: `ingest`, `trend`, `regressions`.

pub(crate) mod ingest;
pub(crate) mod trend;

use std::path::Path;

use traceloom_core::{Error, Result};
use traceloom_query::{Ask, Options, Session, fleet::Fleet};

use crate::{
    Outcome,
    args::fleet::Regressions,
    commands::{cluster::Cluster, diff},
};

/// Runs `regressions`.
pub(crate) fn regressions(arguments: &Regressions) -> Result<Outcome> {
    let builds = [arguments.baseline.as_str(), arguments.candidate.as_str()];
    let fleet = fleet(&arguments.store, arguments.cluster.as_deref())?;
    let report = traceloom_fleet::regressions(fleet.as_ref(), builds, &arguments.comparison.options());
    diff::show(&report.map_err(|error| error.in_file(&arguments.store))?, &arguments.comparison)
}

/// The store, ready for queries; a cluster opens the store itself.
fn fleet(store: &Path, cluster: Option<&str>) -> Result<Box<dyn Ask>> {
    if let Some(url) = cluster {
        return Ok(Box::new(Cluster::new(url, &[store.to_owned()])?));
    }
    let none = || Error::usage("not a fleet store; create one with `traceloom ingest`").in_file(store);
    Ok(Box::new(Session::of_fleet(&Fleet::open(store)?.ok_or_else(none)?, &Options::default())?))
}
