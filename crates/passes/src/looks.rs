//! The properties that many spans share, stored once.

use hashbrown::HashMap;
use traceloom_core::{ByteOrder, Cursor, Error, Loss, Result, SpillRow as _, Store, spill_row};

use crate::{NameId, Ordered};

spill_row! {
    /// Everything about a span except its time and its position in the tree.
    #[derive(Debug, Eq, Hash, PartialEq)]
    pub struct Look {
        /// Name of the span.
        pub name: NameId,
        /// `block`, `call`, `scope`, `frame` or `range`.
        pub category: NameId,
        /// The definition of the span.
        pub definition_id: Option<i64>,
        /// Source file.
        pub file: Option<NameId>,
        /// Source line.
        pub line: Option<u32>,
        /// Color as 0xAARRGGBB.
        pub color: Option<u32>,
    }
}

/// The id of a look in [`Looks`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct LookId(pub u32);

impl LookId {
    /// The number of the id, counted from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Maximum number of distinct looks in memory; others go to a store.
const RESIDENT: usize = 1 << 18;

/// Looks by number.
#[derive(Debug)]
pub struct Looks {
    looks: Vec<Look>,
    ids: HashMap<Look, u32>,
    /// The look last seen for each value of the low bits of a name; most looks are found here.
    recent: Vec<Option<u32>>,
    further: Store,
}

const RECENT: usize = 1 << 10;

impl Default for Looks {
    fn default() -> Self {
        Self { looks: Vec::new(), ids: HashMap::new(), recent: vec![None; RECENT], further: Store::new(8 << 20) }
    }
}

impl Looks {
    /// The id of a look.
    #[inline]
    pub fn intern(&mut self, look: Look) -> Result<LookId> {
        let slot = look.name.index() % RECENT;
        match self.recent[slot].and_then(|id| Some((id, self.looks.get(id as usize)?))) {
            Some((id, recent)) if *recent == look => Ok(LookId(id)),
            _ => self.intern_slowly(look, slot),
        }
    }

    fn intern_slowly(&mut self, look: Look, slot: usize) -> Result<LookId> {
        if self.looks.len() >= RESIDENT {
            let known = self.ids.get(&look).copied();
            return known.map_or_else(|| self.store(&look), |id| Ok(LookId(id)));
        }
        let looks = &mut self.looks;
        let id = *self.ids.entry(look).or_insert_with(|| {
            looks.push(look);
            looks.len() as u32 - 1
        });
        self.recent[slot] = Some(id);
        Ok(LookId(id))
    }

    #[cold]
    fn store(&mut self, look: &Look) -> Result<LookId> {
        let stored = self.further.len() / Look::BYTES as u64;
        let id = u32::try_from(RESIDENT as u64 + stored);
        let id = id.map_err(|_| Error::limit("names of spans", 1 << 32, u64::from(u32::MAX)))?;
        let mut bytes = Vec::with_capacity(Look::BYTES);
        look.put(&mut bytes);
        self.further.append(&bytes)?;
        Ok(LookId(id))
    }

    /// The look of an id.
    #[inline]
    pub fn get(&mut self, id: LookId) -> Result<Look> {
        match self.looks.get(id.index()) {
            Some(look) => Ok(*look),
            None => self.load(id),
        }
    }

    #[cold]
    fn load(&mut self, id: LookId) -> Result<Look> {
        let mut bytes = [0; Look::BYTES];
        self.further.read((id.index() as u64).saturating_sub(RESIDENT as u64) * Look::BYTES as u64, &mut bytes)?;
        Look::take(&mut Cursor::new(&bytes, 0, ByteOrder::Little))
    }
}

/// Counts colors as lost, once per look.
#[derive(Debug, Default)]
pub struct ColorLoss(Vec<bool>);

impl ColorLoss {
    /// Counts a span whose color the output does not show.
    pub fn count(&mut self, span: &Ordered, look: &Look, loss: &mut Loss) {
        if look.color.is_none() {
            return;
        }
        let index = span.look.index();
        if self.0.len() <= index {
            self.0.resize(index + 1, false);
        }
        if !std::mem::replace(&mut self.0[index], true) {
            span.lose(COLORS, loss);
        }
    }
}

/// A loss: the output has no colors.
pub const COLORS: &str = "colors";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_that_do_not_fit_into_memory_are_found_again() {
        let mut looks = Looks::default();
        let look = |number: u32| Look {
            name: NameId::from_raw(number),
            category: NameId::from_raw(number % 3),
            definition_id: (!number.is_multiple_of(5)).then_some(-i64::from(number)),
            file: (!number.is_multiple_of(7)).then(|| NameId::from_raw(number / 2)),
            line: (!number.is_multiple_of(2)).then_some(number),
            color: (!number.is_multiple_of(3)).then_some(u32::MAX - number),
        };
        let count = RESIDENT as u32 + 1000;
        let ids: Vec<LookId> = (0..count).map(|number| looks.intern(look(number)).unwrap()).collect();
        for (number, id) in ids.iter().enumerate() {
            assert_eq!(looks.get(*id).unwrap(), look(number as u32));
        }
        assert_eq!(looks.intern(look(17)).unwrap(), ids[17]);
    }
}
