//! Traces whose rows a test lists.

use traceloom_core::Result;
use traceloom_model::{Filter, Halt, TableSink, TableSource, Tables};

/// A trace whose rows come from a function.
#[derive(Debug)]
pub struct Made<F>(pub F);

impl<F: Fn(&mut Tables<'_>) -> Result<(), Halt>> TableSource for Made<F> {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        let mut tables = Tables::new(1, filter.clone(), sink);
        (self.0)(&mut tables).and_then(|()| tables.finish()).or_else(Halt::into_result)
    }
}
