//! Interned strings.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};

/// An interned string.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Symbol(u32);

impl Symbol {
    /// The number of the symbol, counted from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Distinct strings, each identified by a number.
///
/// For strings that a file declares (functions, threads, descriptors), whose number the reader bounds. Strings that are
/// new in each record go into a row as text.
#[derive(Debug, Default)]
pub struct Strings {
    texts: String,
    ends: Vec<usize>,
    /// Symbols with half of the hashes of their texts, so that texts are not hashed again when the table grows.
    symbols: HashTable<(u32, u32)>,
    hasher: DefaultHashBuilder,
}

impl Strings {
    /// The symbol of a text.
    pub fn intern(&mut self, text: &str) -> Symbol {
        let Self { texts, ends, symbols, hasher } = self;
        let hash = (hasher.hash_one(text) >> 32) as u32;
        let is_it = |(known, symbol): &(u32, u32)| *known == hash && text_of(texts, ends, *symbol) == Some(text);
        match symbols.entry(doubled(hash), is_it, |(hash, _)| doubled(*hash)) {
            Entry::Occupied(found) => Symbol(found.get().1),
            Entry::Vacant(free) => {
                let symbol = ends.len() as u32;
                free.insert((hash, symbol));
                texts.push_str(text);
                ends.push(texts.len());
                Symbol(symbol)
            }
        }
    }

    /// The symbol of a text that was interned before.
    pub fn find(&self, text: &str) -> Option<Symbol> {
        let Self { texts, ends, symbols, hasher } = self;
        let hash = (hasher.hash_one(text) >> 32) as u32;
        let is_it = |(known, symbol): &(u32, u32)| *known == hash && text_of(texts, ends, *symbol) == Some(text);
        symbols.find(doubled(hash), is_it).map(|(_, symbol)| Symbol(*symbol))
    }

    /// The text of a symbol.
    #[inline]
    pub fn get(&self, symbol: Symbol) -> &str {
        self.at(symbol.0).unwrap_or("")
    }

    /// The text with a number, if there is one.
    #[inline]
    pub fn at(&self, number: u32) -> Option<&str> {
        text_of(&self.texts, &self.ends, number)
    }

    /// Number of symbols.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Bytes of all texts.
    pub fn text_bytes(&self) -> usize {
        self.texts.len()
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.texts.capacity() + self.ends.capacity() * size_of::<usize>() + self.symbols.allocation_size()
    }

    /// Removes all symbols and keeps the memory.
    pub fn clear(&mut self) {
        self.texts.clear();
        self.ends.clear();
        self.symbols.clear();
    }
}

/// A hash for the table, which uses both the upper and the lower bits.
#[inline]
fn doubled(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

#[inline]
fn text_of<'t>(texts: &'t str, ends: &[usize], symbol: u32) -> Option<&'t str> {
    let index = symbol as usize;
    let start = index.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
    texts.get(start..*ends.get(index)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_have_equal_symbols() {
        let mut strings = Strings::default();
        let texts = ["", "a", "ä", "aa", ""];
        let symbols = texts.map(|text| strings.intern(text));
        assert_eq!(symbols.map(|symbol| strings.get(symbol).to_owned()), texts.map(str::to_owned));
        assert_eq!((symbols[0], strings.len()), (symbols[4], 4));
    }

    #[test]
    fn many_texts_are_found_again() {
        let mut strings = Strings::default();
        let symbols: Vec<_> = (0..10_000).map(|number| strings.intern(&number.to_string())).collect();
        for (number, symbol) in symbols.iter().enumerate() {
            assert_eq!(strings.intern(&number.to_string()), *symbol);
        }
        assert!(strings.bytes() > strings.text_bytes() && strings.at(9_999) == Some("9999"));
        assert_eq!(strings.at(10_000), None);
        strings.clear();
        assert_eq!((strings.intern("new").index(), strings.len()), (0, 1));
    }
}
