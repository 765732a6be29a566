//! The problems of a file, of which errors are only those that make easy_profiler refuse it.

use traceloom_core::{ErrorKind, Findings, Mode, Options, Records, Result, Severity, Source};

/// Lists all problems, in the mode of the options.
///
/// The lenient reader looks for records after damage, and for the layouts of the documentation. easy_profiler does
/// neither: what makes no sense to us may be a record to it, and the other way round. So the strict reader decides
/// whether there is an error.
pub(crate) fn check(source: &Source, options: &Options) -> Result<Findings> {
    settled(walk(source, options)?, source, options)
}

/// The findings of a lenient reader with the severities that `check` gives them.
pub fn settled(mut findings: Findings, source: &Source, options: &Options) -> Result<Findings> {
    // If nothing is odd, both readers took the same way.
    if options.mode == Mode::Strict || findings.worst() < Some(Severity::Warning) {
        return Ok(findings);
    }
    match walk(source, &options.clone().with_mode(Mode::Strict)) {
        Ok(_) => Ok(findings.tolerated()),
        Err(error) => match error.kind() {
            ErrorKind::Refused(refusal) if findings.worst() < Some(Severity::Error) => {
                findings.report((**refusal).clone())?;
                Ok(findings)
            }
            ErrorKind::Refused(_) => Ok(findings),
            _ => Err(error),
        },
    }
}

fn walk(source: &Source, options: &Options) -> Result<Findings> {
    let mut reader = crate::open(source.clone(), &options.clone().thorough())?;
    reader.walk(|_| Ok::<_, traceloom_core::Error>(()))?;
    Ok(reader.into_findings())
}
