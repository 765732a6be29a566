//! Interned strings.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// A string that was interned.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Symbol(u32);

impl Symbol {
    /// Its number: symbols count from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Strings, each kept once and known by a number.
///
/// For what a file declares (functions, threads, descriptors), which its reader bounds. What comes anew with each record
/// goes into a row as text.
#[derive(Debug, Default)]
pub struct Strings {
    texts: String,
    ends: Vec<usize>,
    symbols: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Strings {
    /// The symbol of a text.
    pub fn intern(&mut self, text: &str) -> Symbol {
        let hash = self.hasher.hash_one(text);
        if let Some(symbol) = self.symbols.find(hash, |symbol| self.get(Symbol(*symbol)) == text) {
            return Symbol(*symbol);
        }
        let symbol = self.ends.len() as u32;
        self.texts.push_str(text);
        self.ends.push(self.texts.len());
        let Self { texts, ends, symbols, hasher } = self;
        symbols.insert_unique(hash, symbol, |symbol| hasher.hash_one(text_of(texts, ends, *symbol)));
        Symbol(symbol)
    }

    /// The text of a symbol.
    #[inline]
    pub fn get(&self, symbol: Symbol) -> &str {
        text_of(&self.texts, &self.ends, symbol.0)
    }

    /// Number of symbols.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn text_of<'t>(texts: &'t str, ends: &[usize], symbol: u32) -> &'t str {
    let index = symbol as usize;
    let begin = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    ends.get(index).and_then(|end| texts.get(begin..*end)).unwrap_or("")
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
    }
}
