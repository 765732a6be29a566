//! Turns work that pushes items into an iterator.

use std::{
    ops::ControlFlow,
    sync::mpsc::{Receiver, SyncSender, sync_channel},
    thread,
};

use traceloom_core::Result;

/// An iterator over the items that a visit pushes.
///
/// The visit runs in a separate thread and waits until its items are taken, so memory stays bounded; it ends when the
/// iterator is dropped.
///
/// ```
/// use traceloom::{Pull, Trace};
///
/// let trace = Trace::sample("easyprofiler")?;
/// let mut kinds = Pull::new(move |give| trace.records(|record| give(record.kind())).map(drop));
/// assert_eq!(kinds.next().transpose()?, Some("header"));
/// # Ok::<(), traceloom::Error>(())
/// ```
#[derive(Debug)]
pub struct Pull<T> {
    items: Receiver<Result<T>>,
}

/// Number of buffered items.
const AHEAD: usize = 1;

impl<T: Send + 'static> Pull<T> {
    /// Starts a visit, which passes its items to the given function; [`ControlFlow::Break`] means that no more items
    /// are needed.
    pub fn new(visit: impl FnOnce(&mut dyn FnMut(T) -> ControlFlow<()>) -> Result<()> + Send + 'static) -> Self {
        let (sender, items) = sync_channel(AHEAD);
        let failed = sender.clone();
        if let Err(error) = thread::Builder::new().name("traceloom-pull".into()).spawn(move || run(visit, &sender)) {
            // The channel is empty, so there is room.
            _ = failed.send(Err(error.into()));
        }
        Self { items }
    }
}

fn run<T>(visit: impl FnOnce(&mut dyn FnMut(T) -> ControlFlow<()>) -> Result<()>, sender: &SyncSender<Result<T>>) {
    let outcome = visit(&mut |item| match sender.send(Ok(item)) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    });
    if let Err(error) = outcome {
        _ = sender.send(Err(error));
    }
}

impl<T> Iterator for Pull<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        self.items.recv().ok()
    }
}
