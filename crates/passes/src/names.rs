//! Texts as numbers, whatever dictionary they come from.

use arrow_array::{Array, StringArray};
use traceloom_core::{Error, Result};
use traceloom_model::trackers::{Strings, Symbol};

use traceloom_core::Store;

/// A text of a [`NamePool`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NameId(u32);

impl NameId {
    /// Its number: ids count from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// As a number to be laid out.
    pub fn raw(self) -> u32 {
        self.0
    }

    pub fn from_raw(raw: u32) -> Self {
        Self(raw)
    }
}

/// Texts that are kept in memory, each once; a file that has more goes on in a store, where equal texts may have
/// several ids.
const RESIDENT: usize = 1 << 18;
const RESIDENT_BYTES: usize = 32 << 20;

/// Texts by number.
#[derive(Debug)]
pub struct NamePool {
    strings: Strings,
    /// The symbol of each id.
    symbols: Vec<Symbol>,
    resident_bytes: usize,
    /// The texts that did not fit, and where each of them is.
    texts: Store,
    places: Store,
    stored: u32,
    buffer: Vec<u8>,
}

impl Default for NamePool {
    fn default() -> Self {
        let (texts, places) = (Store::new(RESIDENT_BYTES as u64), Store::new(RESIDENT_BYTES as u64));
        let (strings, symbols) = Default::default();
        Self { strings, symbols, resident_bytes: 0, texts, places, stored: 0, buffer: Vec::new() }
    }
}

impl NamePool {
    /// The id of a text.
    pub fn intern(&mut self, text: &str) -> Result<NameId> {
        if self.stored > 0 || self.symbols.len() >= RESIDENT || self.resident_bytes >= RESIDENT_BYTES {
            return self.store(text);
        }
        let symbol = self.strings.intern(text);
        if symbol.index() == self.symbols.len() {
            self.symbols.push(symbol);
            self.resident_bytes += text.len();
        }
        Ok(NameId(symbol.index() as u32))
    }

    fn store(&mut self, text: &str) -> Result<NameId> {
        let id = u32::try_from(self.symbols.len()).ok().and_then(|resident| resident.checked_add(self.stored));
        let id = id.ok_or_else(|| Error::limit("names", 1 << 32, u64::from(u32::MAX)))?;
        let begin = self.texts.append(text.as_bytes())?;
        self.places.append(&begin.to_le_bytes())?;
        self.places.append(&(text.len() as u64).to_le_bytes())?;
        self.stored += 1;
        Ok(NameId(id))
    }

    /// The text of an id.
    #[inline]
    pub fn get(&mut self, id: NameId) -> Result<&str> {
        match id.index().checked_sub(self.symbols.len()) {
            None => Ok(self.resident(id).unwrap_or("")),
            Some(number) => self.load(number as u64),
        }
    }

    /// The text, where it is one of those in memory: of these each has one id only, and they are few enough for
    /// targets that declare a name once.
    #[inline]
    pub fn resident(&self, id: NameId) -> Option<&str> {
        self.symbols.get(id.index()).map(|symbol| self.strings.get(*symbol))
    }

    #[cold]
    fn load(&mut self, number: u64) -> Result<&str> {
        let mut place = [0; 16];
        self.places.read(number * 16, &mut place)?;
        let [begin, len] = [&place[..8], &place[8..]].map(|half| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(half);
            u64::from_le_bytes(bytes)
        });
        self.buffer.resize(len as usize, 0);
        self.texts.read(begin, &mut self.buffer)?;
        Ok(std::str::from_utf8(&self.buffer).unwrap_or(""))
    }
}

/// The ids of one dictionary's texts: a text is looked up once for each dictionary, not for each row.
#[derive(Debug, Default)]
pub struct KeyMap {
    /// Held, so that no other dictionary can come to lie in its place.
    values: Option<StringArray>,
    ids: Vec<Option<NameId>>,
}

impl KeyMap {
    /// Turns to the dictionary of a batch.
    pub fn turn_to(&mut self, values: Option<&StringArray>) {
        let same = match (&self.values, values) {
            (Some(old), Some(new)) => {
                old.value_data().as_ptr() == new.value_data().as_ptr() && old.offsets() == new.offsets()
            }
            (None, None) => true,
            _ => false,
        };
        if !same {
            self.values = values.cloned();
            self.ids.clear();
            self.ids.resize(values.map_or(0, Array::len), None);
        }
    }

    /// The id of a key of that dictionary.
    #[inline]
    pub fn get(&mut self, key: i32, pool: &mut NamePool) -> Result<NameId> {
        match self.ids.get(key as usize) {
            Some(Some(id)) => Ok(*id),
            _ => self.add(key as usize, pool),
        }
    }

    #[cold]
    fn add(&mut self, key: usize, pool: &mut NamePool) -> Result<NameId> {
        let text = self.values.as_ref().filter(|values| key < values.len()).map_or("", |values| values.value(key));
        let id = pool.intern(text)?;
        if let Some(slot) = self.ids.get_mut(key) {
            *slot = Some(id);
        }
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_id_whatever_dictionary_it_comes_from() {
        let (mut pool, mut keys) = (NamePool::default(), KeyMap::default());
        let first = StringArray::from(vec!["a", "b"]);
        let second = StringArray::from(vec!["b", "a", ""]);
        keys.turn_to(Some(&first));
        let ids = [0, 1].map(|key| keys.get(key, &mut pool).unwrap());
        keys.turn_to(Some(&second));
        assert_eq!([1, 0].map(|key| keys.get(key, &mut pool).unwrap()), ids);
        let empty = keys.get(2, &mut pool).unwrap();
        assert_eq!(pool.get(empty).unwrap(), "");
    }

    #[test]
    fn texts_that_do_not_fit_into_memory_are_found_again() {
        let mut pool = NamePool::default();
        let long = "x".repeat(RESIDENT_BYTES / 4);
        let texts: Vec<String> = (0..12).map(|number| format!("{number}{long}")).collect();
        let ids: Vec<NameId> = texts.iter().map(|text| pool.intern(text).unwrap()).collect();
        assert!(pool.resident(ids[0]).is_some() && pool.resident(ids[11]).is_none());
        for (id, text) in ids.iter().zip(&texts) {
            assert!(pool.get(*id).unwrap() == text);
        }
    }
}
