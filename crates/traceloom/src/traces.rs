//! Several traces.

use std::{io::Write, ops::Deref, path::Path};

use traceloom_core::{Edited, Error, Result};

use crate::{OpenOptions, Trace};

/// Several traces, on one time axis or to be merged.
///
/// ```no_run
/// use traceloom::Traces;
///
/// let mut out = std::fs::File::create("both.prof")?;
/// Traces::open(["first.prof", "second.prof"])?.merge(&mut out)?;
/// # Ok::<(), traceloom::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Traces {
    traces: Vec<Trace>,
    #[cfg(feature = "tables")]
    pub(crate) offsets: Vec<traceloom_mapping::Offset>,
}

impl Traces {
    /// Opens files and detects the format of each.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Result<Self> {
        let options = OpenOptions::new();
        paths.into_iter().map(|path| options.open(path)).collect()
    }

    /// Merges all traces into one; they must have the same format.
    pub fn merge(&self, out: &mut dyn Write) -> Result<Edited> {
        let [first, rest @ ..] = self.traces.as_slice() else {
            return Err(Error::usage("no traces to merge"));
        };
        let format = first.format();
        if let Some(other) = rest.iter().find(|other| other.format().id != format.id) {
            let message = format!("is {}, but the first trace is {}", other.format().name, format.name);
            return Err(Error::usage(message).in_file(other.path()));
        }
        let sources: Vec<_> = self.traces.iter().map(|trace| trace.source().clone()).collect();
        let mut edited = first.edit(out, |out| first.erased().merge(&sources, out, first.options()))?;
        rest.iter().for_each(|other| edited.findings.absorb(other.layer_findings().clone()));
        Ok(edited)
    }
}

impl FromIterator<Trace> for Traces {
    fn from_iter<I: IntoIterator<Item = Trace>>(traces: I) -> Self {
        Self {
            traces: traces.into_iter().collect(),
            #[cfg(feature = "tables")]
            offsets: Vec::new(),
        }
    }
}

impl Deref for Traces {
    type Target = [Trace];

    fn deref(&self) -> &[Trace] {
        &self.traces
    }
}

#[cfg(feature = "tables")]
mod tables {
    use std::path::PathBuf;

    use traceloom_core::Result;
    use traceloom_mapping::{AxisOptions, Offset, TraceSet};

    use super::Traces;
    use crate::tables::Tables;

    impl Traces {
        /// Adds an offset in nanoseconds to the times of a trace, instead of aligning it by its clock.
        #[must_use]
        pub fn offset(mut self, path: impl Into<PathBuf>, offset_ns: i64) -> Self {
            self.offsets.push(Offset { path: path.into(), offset_ns });
            self
        }

        /// The traces as one set of tables, on one time axis; a trace that was opened twice is included once.
        pub fn tables(&self) -> Result<Tables<'static>> {
            Ok(Tables::new(self.set()?))
        }

        /// The traces and their time axis.
        pub fn set(&self) -> Result<TraceSet> {
            let options = AxisOptions { offsets: self.offsets.clone(), ..AxisOptions::default() };
            TraceSet::aligned(self.iter().map(|trace| trace.inner().clone()), &options)
        }
    }
}
