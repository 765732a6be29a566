//! One walk for several sinks.

use arrow_array::RecordBatch;
use traceloom_core::Result;
use traceloom_model::{Columns, Flow, Table, TableSink, Wanted};

/// Passes every batch to each sink that wants its table, so that a file is read once for all of them.
///
/// A batch holds the columns that any of the sinks wants. The walk ends when all sinks have stopped.
pub struct Together<'s> {
    sinks: Vec<&'s mut dyn TableSink>,
    has_enough: Vec<bool>,
}

impl<'s> Together<'s> {
    /// A walk for these sinks.
    pub fn new(sinks: Vec<&'s mut dyn TableSink>) -> Self {
        Self { has_enough: vec![false; sinks.len()], sinks }
    }
}

impl TableSink for Together<'_> {
    fn wants(&self, table: Table) -> Columns {
        let all = self.sinks.iter().fold(Wanted::nothing(), |all, sink| all.and(table, sink.wants(table)));
        all.columns(table)
    }

    fn batch(&mut self, table: Table, batch: RecordBatch) -> Result<Flow> {
        for (sink, has_enough) in self.sinks.iter_mut().zip(&mut self.has_enough) {
            if !*has_enough && !sink.wants(table).is_empty() {
                *has_enough = sink.batch(table, batch.clone())? == Flow::Stop;
            }
        }
        Ok(if self.has_enough.contains(&false) { Flow::Continue } else { Flow::Stop })
    }
}

#[cfg(test)]
mod tests {
    use traceloom_model::{Batches, Filter, TableSource};

    use super::*;
    use crate::fixture::Synthetic;

    /// Accepts one batch of spans, then stops.
    struct First(usize);

    impl TableSink for First {
        fn wants(&self, table: Table) -> Columns {
            if table == Table::Spans { Columns::named(table, &["ts_ns"]) } else { Columns::NONE }
        }

        fn batch(&mut self, table: Table, _: RecordBatch) -> Result<Flow> {
            assert_eq!(table, Table::Spans, "no other table was wanted");
            self.0 += 1;
            Ok(Flow::Stop)
        }
    }

    #[test]
    fn every_sink_gets_its_tables_until_it_says_stop() {
        let one = || Synthetic::spans(&[("Frame", 0, 0, None, 0, Some(5))]).traces;
        let source = Synthetic { traces: one().into_iter().chain(one()).collect() };
        let (mut first, mut all) = (First(0), Batches::of(Wanted::everything()));
        source.pour(&Filter::default(), &mut Together::new(vec![&mut first, &mut all])).unwrap();
        assert_eq!((first.0, all.rows(Table::Spans)), (1, 2));
        let mut alone = First(0);
        source.pour(&Filter::default(), &mut Together::new(vec![&mut alone])).unwrap();
        assert_eq!(alone.0, 1);
    }
}
