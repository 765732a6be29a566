//! Keys that occur more than once in a row.

use hashbrown::HashMap;
use traceloom_core::Result;

use crate::{NameId, NamePool};

/// Makes equal keys of one row distinct, because the reader would keep only one of them.
#[derive(Debug, Default)]
pub struct Repeats {
    counts: HashMap<NameId, u32>,
    /// Keys that each row already has.
    reserved: Vec<NameId>,
}

impl Repeats {
    /// For rows that already have these keys.
    pub fn beside(reserved: &[&str], names: &mut NamePool) -> Result<Self> {
        let reserved = reserved.iter().map(|key| names.intern(key)).collect::<Result<_>>()?;
        Ok(Self { counts: HashMap::new(), reserved })
    }

    /// Starts another row.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Passes the key to `put`, followed by a number if it is a repetition.
    pub fn put(&mut self, key: NameId, names: &mut NamePool, put: impl FnOnce(&str)) -> Result<()> {
        let count = self.counts.entry(key).or_insert_with(|| self.reserved.contains(&key).into());
        *count = count.saturating_add(1);
        let name = names.get(key)?;
        match *count {
            1 => put(name),
            count => put(&format!("{name} ({count})")),
        }
        Ok(())
    }
}
