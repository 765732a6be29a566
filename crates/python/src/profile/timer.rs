//! Sources of times.

use pyo3::prelude::*;

/// A source of raw times.
pub(super) enum Timer {
    /// The processor counter.
    Counter(quanta::Clock),
    /// A function that returns nanoseconds.
    Python(Py<PyAny>),
}

impl Timer {
    pub(super) fn counter() -> Self {
        Self::Counter(quanta::Clock::new())
    }

    pub(super) fn scale(&self) -> Scale {
        Scale(if let Self::Counter(clock) = self { Some(clock.clone()) } else { None })
    }
}

/// Converts raw times.
pub(super) struct Scale(Option<quanta::Clock>);

impl Scale {
    #[inline]
    pub(super) fn nanoseconds(&self, raw: u64) -> u64 {
        self.0.as_ref().map_or(raw, |clock| clock.delta_as_nanos(0, raw))
    }
}

/// Calls a Python function, which may run other threads; if it raises an exception, it is reported and the time is
/// unknown.
#[cold]
pub(super) fn ask(py: Python<'_>, timer: &Py<PyAny>) -> Option<u64> {
    let asked = timer.call0(py).and_then(|time| time.extract::<u64>(py));
    asked.inspect_err(|error| error.clone_ref(py).write_unraisable(py, Some(timer.bind(py)))).ok()
}
