//! Work that takes long: away from the threads that answer, given up when nobody waits, and kept for the next time.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use traceloom_mapping::Trace;

use super::{Answer, Refusal};
use crate::server::App;

/// Runs something that takes long.
pub(crate) async fn run<T: Send + 'static>(work: impl FnOnce() -> Answer<T> + Send + 'static) -> Answer<T> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Refusal::failed())?
}

/// Runs something that takes long, and that can be given up when nobody waits for its answer.
pub(crate) async fn run_awaited<T: Send + 'static>(
    work: impl FnOnce(&Over) -> Answer<T> + Send + 'static,
) -> Answer<T> {
    let waiting = Waiting::default();
    let over = waiting.over();
    run(move || work(&over)).await
}

/// A trace whose tables can be read again.
pub(crate) fn ready(app: &App, number: u32) -> Answer<Arc<Trace>> {
    let found = app.loader.traces().into_iter().find(|(of, _)| *of == number);
    found.map(|(_, trace)| trace).ok_or_else(|| Refusal::absent("there is no such trace, or it is not read yet"))
}

/// Held while an answer is awaited; the work sees when it is dropped.
#[derive(Debug, Default)]
struct Waiting(Over);

/// Whether nobody waits anymore.
#[derive(Clone, Debug, Default)]
pub(crate) struct Over(Arc<AtomicBool>);

impl Waiting {
    fn over(&self) -> Over {
        self.0.clone()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

impl Over {
    /// Ends work that nobody waits for.
    pub(crate) fn check(&self) -> Answer<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Refusal::bad("nobody waits for this answer anymore"));
        }
        Ok(())
    }
}

/// The last few answers, by query.
#[derive(Debug)]
pub(crate) struct Kept<K, V>(Mutex<VecDeque<(K, Arc<V>)>>);

/// A page has a few panels open, and goes back and forth between few queries.
const MAX_KEPT: usize = 8;

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: PartialEq, V> Kept<K, V> {
    /// The answer, if it is known.
    pub(crate) fn get(&self, query: &K) -> Option<Arc<V>> {
        let kept = self.0.lock().ok()?;
        kept.iter().find(|(known, _)| known == query).map(|(_, answer)| Arc::clone(answer))
    }

    /// Keeps an answer; the oldest one goes.
    pub(crate) fn put(&self, query: K, answer: V) -> Arc<V> {
        let answer = Arc::new(answer);
        if let Ok(mut kept) = self.0.lock() {
            kept.retain(|(known, _)| *known != query);
            kept.truncate(MAX_KEPT - 1);
            kept.push_front((query, Arc::clone(&answer)));
        }
        answer
    }

    /// The answer, found now if it is not known.
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
        drop(waiting);
        assert!(over.check().is_err());
    }

    #[tokio::test]
    async fn a_query_that_panics_is_survived() {
        let kept: Arc<Kept<u32, u32>> = Arc::default();
        let asked = Arc::clone(&kept);
        let failed = run(move || asked.or(1, || panic!("a fault, for the test"))).await;
        assert!(failed.is_err_and(|refusal| refusal.1.contains("bug")));
        assert!(run(move || kept.or(1, || Ok(7))).await.is_ok_and(|answer| *answer == 7));
    }
}
