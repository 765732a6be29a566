//! What a format has to read from the whole file before its first row, and how several passes share it.

use std::{
    any::Any,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use traceloom_core::{Options, Result, Source};
use traceloom_model::{Kept, Wanted};

/// Data that all walks of a pass need; only the format knows what it is.
pub(crate) type Prepared = Arc<dyn Any + Send + Sync>;

/// Prepares the data of a format.
pub(crate) struct Preparation {
    /// Whether the wanted columns need it.
    pub(crate) is_needed: fn(&Wanted) -> bool,
    pub(crate) prepare: fn(&Source, &Options) -> Result<Prepared>,
}

/// The data of one trace, as long as somebody keeps it: it may be large, and there may be many traces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(Arc<Mutex<Weak<Slot>>>);

type Slot = Mutex<Option<Prepared>>;

impl Shared {
    /// Keeps the data of the next pass until the result is dropped.
    pub(crate) fn keep(&self) -> Kept {
        let mut current = lock(&self.0);
        let slot = current.upgrade().unwrap_or_default();
        *current = Arc::downgrade(&slot);
        Kept::new(slot)
    }

    /// The data that an earlier pass left, or else that `prepare` makes.
    pub(crate) fn get_or(&self, prepare: impl FnOnce() -> Result<Prepared>) -> Result<Prepared> {
        let kept = lock(&self.0).upgrade();
        let Some(slot) = kept else { return prepare() };
        let mut slot = lock(&slot);
        if let Some(known) = &*slot {
            return Ok(Arc::clone(known));
        }
        Ok(Arc::clone(slot.insert(prepare()?)))
    }
}

/// A panic leaves no unfinished data behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use traceloom_core::Error;

    use super::*;

    #[test]
    fn data_is_prepared_once_while_somebody_keeps_it() {
        let (shared, prepared) = (Shared::default(), Cell::new(0));
        let pass = || {
            let data = shared.clone().get_or(|| {
                prepared.set(prepared.get() + 1);
                Ok(Arc::new(prepared.get()))
            });
            data.unwrap().downcast_ref::<i32>().copied()
        };
        assert_eq!((pass(), pass()), (Some(1), Some(2)));
        let (kept, too) = (shared.keep(), shared.keep());
        assert!(shared.get_or(|| Err(Error::usage("unreadable"))).is_err());
        assert_eq!((pass(), pass()), (Some(3), Some(3)));
        drop(kept);
        assert_eq!(pass(), Some(3));
        drop(too);
        assert_eq!((pass(), pass()), (Some(4), Some(5)));
    }
}
