//! Long work: runs on separate threads, is canceled when nobody waits for it, and its results are cached.

use std::{
    collections::VecDeque,
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use traceloom_mapping::Trace;

use crate::{
    api::{Answer, Refusal},
    app::App,
};

/// An answer, or the work that leads to it.
pub(crate) enum Reply<T> {
    Now(T),
    Later(Work<T>),
}

/// Takes long, and can be canceled when nobody waits for the answer.
type Work<T> = Box<dyn FnOnce(&Over) -> Answer<T> + Send>;

/// Defers long work.
pub(crate) fn later<T>(work: impl FnOnce(&Over) -> Answer<T> + Send + 'static) -> Answer<Reply<T>> {
    Ok(Reply::Later(Box::new(work)))
}

impl<T: 'static> Reply<T> {
    pub(crate) fn map<U>(self, make: impl FnOnce(T) -> U + Send + 'static) -> Reply<U> {
        match self {
            Self::Now(answer) => Reply::Now(make(answer)),
            Self::Later(work) => Reply::Later(Box::new(move |over| work(over).map(make))),
        }
    }
}

/// A loaded trace.
pub(crate) fn ready(app: &App, number: u32) -> Answer<Arc<Trace>> {
    let found = app.loader.traces().into_iter().find(|(of, _)| *of == number);
    found.map(|(_, trace)| trace).ok_or_else(|| Refusal::absent("unknown trace, or it is still loading"))
}

/// Tells whether anybody still waits for an answer.
#[derive(Clone, Default)]
pub struct Over(Arc<End>);

#[derive(Default)]
struct End {
    is_over: AtomicBool,
    /// Called when nobody waits anymore.
    then: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
}

/// Held while waiting for an answer; dropping it cancels the work.
#[derive(Debug, Default)]
pub struct Waiting(Over);

impl Waiting {
    /// The handle for the work.
    pub fn over(&self) -> Over {
        self.0.clone()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut then = self.0.hooks();
        self.0.0.is_over.store(true, Ordering::Relaxed);
        let then = std::mem::take(&mut *then);
        then.into_iter().for_each(|end| end());
    }
}

impl Over {
    /// Returns an error if nobody waits anymore.
    pub(crate) fn check(&self) -> Answer<()> {
        if self.is_over() {
            return Err(Refusal::bad("the request was canceled"));
        }
        Ok(())
    }

    /// Runs something when nobody waits anymore, or now if that is already so.
    #[cfg_attr(not(feature = "sql"), allow(dead_code, reason = "only the engine for SQL has to be woken"))]
    pub(crate) fn then(&self, end: impl FnOnce() + Send + 'static) {
        let mut then = self.hooks();
        if self.is_over() {
            drop(then);
            return end();
        }
        then.push(Box::new(end));
    }

    fn is_over(&self) -> bool {
        self.0.is_over.load(Ordering::Relaxed)
    }

    fn hooks(&self) -> MutexGuard<'_, Vec<Box<dyn FnOnce() + Send>>> {
        self.0.then.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Over {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Over").field(&self.is_over()).finish()
    }
}

/// The last `N` answers, by query.
#[derive(Debug)]
pub(crate) struct Kept<K, V, const N: usize = MAX_KEPT>(Mutex<VecDeque<(K, Arc<V>)>>);

/// Usual number of cached answers; a page has a few panels open and switches between a few queries.
const MAX_KEPT: usize = 8;

impl<K, V, const N: usize> Default for Kept<K, V, N> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, V, const N: usize> Kept<K, V, N> {
    /// The answer, if cached.
    pub(crate) fn get(&self, query: &K) -> Option<Arc<V>> {
        let kept = self.0.lock().ok()?;
        kept.iter().find(|(known, _)| known == query).map(|(_, answer)| Arc::clone(answer))
    }

    /// Caches an answer and drops the oldest one.
    pub(crate) fn put(&self, query: K, answer: V) -> Arc<V> {
        let answer = Arc::new(answer);
        if let Ok(mut kept) = self.0.lock() {
            kept.retain(|(known, _)| *known != query);
            kept.truncate(N - 1);
            kept.push_front((query, Arc::clone(&answer)));
        }
        answer
    }

    /// The cached answer, or a new one.
    pub(crate) fn or(&self, query: K, find: impl FnOnce() -> Answer<V>) -> Answer<Arc<V>> {
        match self.get(&query) {
            Some(answer) => Ok(answer),
            None => Ok(self.put(query, find()?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_answer_goes() {
        let kept: Kept<usize, usize> = Kept::default();
        for query in 0..=MAX_KEPT {
            kept.put(query, query * 2);
        }
        assert_eq!(kept.get(&0), None);
        assert_eq!(kept.get(&MAX_KEPT).as_deref(), Some(&(MAX_KEPT * 2)));
        kept.put(1, 7);
        assert_eq!((kept.get(&1).as_deref(), kept.get(&2).as_deref()), (Some(&7), Some(&4)));
    }

    #[test]
    fn work_ends_when_nobody_waits() {
        let waiting = Waiting::default();
        let over = waiting.over();
        assert!(over.check().is_ok());
        let told = Arc::new(AtomicBool::new(false));
        let [early, late] = [Arc::clone(&told), Arc::clone(&told)];
        over.then(move || early.store(true, Ordering::Relaxed));
        assert!(!told.load(Ordering::Relaxed));
        drop(waiting);
        assert!(over.check().is_err() && told.load(Ordering::Relaxed));
        over.then(move || late.store(false, Ordering::Relaxed));
        assert!(!told.load(Ordering::Relaxed), "it is over already");
    }
}
