//! Attributes of traces: keys with values.

use traceloom_core::Result;
use traceloom_model::{Table, select};

use crate::{Pass, loss::phrase};

select! {
    /// Attributes of traces.
    pub struct AttributeRows of attributes { trace_id, key, value }
}

/// One attribute.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'b> {
    /// The number of its trace in the roster.
    pub trace: usize,
    /// The key, which may occur several times.
    pub key: &'b str,
    /// The value.
    pub value: Option<&'b str>,
}

impl Pass<'_> {
    /// Passes all attributes to `take`, in file order.
    pub fn each_attribute(&mut self, mut take: impl FnMut(&mut Self, Attribute<'_>) -> Result<()>) -> Result<()> {
        self.rest().pour(&[Table::Attributes], |_, batch| {
            let rows = AttributeRows::of(batch)?;
            for row in 0..rows.rows {
                let trace = self.roster.trace_number(rows.trace_id.get(row))?;
                take(self, Attribute { trace, key: rows.key.get(row), value: rows.value.get(row) })?;
            }
            Ok(())
        })
    }

    /// Counts an attribute as lost.
    pub fn lose_attribute(&mut self, key: &str) {
        self.loss.lose(phrase(Table::Attributes), || key.to_owned());
    }
}
