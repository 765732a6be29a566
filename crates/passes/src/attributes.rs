//! What traces say about themselves: keys with values.

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
    /// Its trace, by its number in the roster.
    pub trace: usize,
    /// Its key, which may come several times.
    pub key: &'b str,
    /// Its value.
    pub value: Option<&'b str>,
}

impl Pass<'_> {
    /// Gives all attributes, in the order of the file.
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
