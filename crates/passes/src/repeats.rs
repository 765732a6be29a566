//! Keys that a row has more than once.

use hashbrown::HashMap;
use traceloom_core::Result;

use crate::{NameId, NamePool};

/// Tells apart equal keys of one row, where the reader would keep one of them only.
#[derive(Debug, Default)]
pub struct Repeats {
    counts: HashMap<NameId, u32>,
    /// Keys that each row has already.
    reserved: Vec<NameId>,
}

impl Repeats {
    /// For rows that have these keys already.
    pub fn beside(reserved: &[&str], names: &mut NamePool) -> Result<Self> {
        let reserved = reserved.iter().map(|key| names.intern(key)).collect::<Result<_>>()?;
        Ok(Self { counts: HashMap::new(), reserved })
    }

    /// Turns to another row.
    pub fn clear(&mut self) {
        self.counts.clear();
    }

    /// Gives the key to `put`, with a number behind it where it is not the first of its kind.
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
