//! Dictionary-encoded columns of text: cells, builder and reader.

use std::{hash::BuildHasher, sync::Arc};

use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, StringArray, cast::AsArray, types::Int32Type};
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::{
    kind::{Append, Column},
    number::NumberColumn,
    trackers::{Strings, Symbol},
};

/// A repeating text, as a mapper passes it.
#[derive(Clone, Copy, Debug)]
pub enum Named<'a> {
    /// Interned before, so it costs only an index. For text that the file declares once.
    Symbol(Symbol),
    /// Looked up by its contents. For text that is part of the record.
    Text(&'a str),
    /// The same for bytes of a file; invalid UTF-8 is replaced. Bytes that occurred before are not validated again.
    Bytes(&'a [u8]),
}

impl Default for Named<'_> {
    fn default() -> Self {
        Self::Text("")
    }
}

impl From<Symbol> for Named<'_> {
    fn from(symbol: Symbol) -> Self {
        Self::Symbol(symbol)
    }
}

impl<'a> From<&'a str> for Named<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

/// A dictionary is reused for many batches, so that consumers see the same values again, and ends at this length: a
/// file with a new name in each record must not keep them all in memory.
const ENTRIES: usize = 4096;
const ENTRY_BYTES: usize = 256 << 10;

/// Builds a dictionary-encoded column.
#[derive(Debug, Default)]
pub struct NameColumn {
    keys: NumberColumn<Int32Type>,
    /// The key of each symbol, if it has one.
    by_symbol: Vec<i32>,
    /// Keys, looked up by the texts of `entries`.
    by_text: HashTable<i32>,
    hasher: DefaultHashBuilder,
    entries: Vec<KeyText>,
    /// The texts of the entries that are not symbols.
    texts: String,
    /// The key of the last text. If there was none, the key of an entry that equals no text.
    last_text: i32,
    /// The values of the last batch; the next batch reuses them unless entries were added.
    values: Option<Arc<StringArray>>,
}

#[derive(Clone, Copy, Debug)]
enum KeyText {
    Symbol(Symbol),
    /// A range of `texts`.
    Text(usize, usize),
}

const NO_KEY: i32 = -1;

impl NameColumn {
    #[inline]
    fn key_of_symbol(&mut self, symbol: Symbol) -> i32 {
        match self.by_symbol.get(symbol.index()) {
            Some(key) if *key != NO_KEY => *key,
            _ => self.add_symbol(symbol),
        }
    }

    /// Appends the same symbol several times.
    pub(crate) fn append_run(&mut self, symbol: Symbol, run: usize) {
        let key = self.key_of_symbol(symbol);
        self.keys.append_run(key, run);
    }

    #[cold]
    fn add_symbol(&mut self, symbol: Symbol) -> i32 {
        if self.by_symbol.len() <= symbol.index() {
            self.by_symbol.resize(symbol.index() + 1, NO_KEY);
        }
        let key = self.add(KeyText::Symbol(symbol));
        self.by_symbol[symbol.index()] = key;
        key
    }

    /// The key of a text, and the bytes that it adds.
    #[inline(never)]
    fn key_of_bytes(&mut self, bytes: &[u8]) -> (i32, usize) {
        // Names usually repeat from row to row.
        if self.bytes(self.last_text) == Some(bytes) {
            return (self.last_text, 0);
        }
        let hash = self.hasher.hash_one(bytes);
        match self.by_text.find(hash, |key| self.bytes(*key) == Some(bytes)) {
            Some(key) => {
                self.last_text = *key;
                (*key, 0)
            }
            None => self.add_text(bytes, hash),
        }
    }

    #[cold]
    fn add_text(&mut self, bytes: &[u8], hash: u64) -> (i32, usize) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            return self.key_of_bytes(String::from_utf8_lossy(bytes).as_bytes());
        };
        let begin = self.texts.len();
        self.texts.push_str(text);
        let key = self.add(KeyText::Text(begin, self.texts.len()));
        self.last_text = key;
        let Self { by_text, hasher, entries, texts, .. } = self;
        by_text.insert_unique(hash, key, |key| match entries.get(*key as usize) {
            Some(KeyText::Text(begin, end)) => hasher.hash_one(&texts.as_bytes()[*begin..*end]),
            _ => 0,
        });
        (key, text.len())
    }

    #[inline]
    fn bytes(&self, key: i32) -> Option<&[u8]> {
        match self.entries.get(key as usize)? {
            KeyText::Symbol(_) => None,
            KeyText::Text(begin, end) => self.texts.as_bytes().get(*begin..*end),
        }
    }

    fn add(&mut self, entry: KeyText) -> i32 {
        self.values = None;
        self.entries.push(entry);
        self.entries.len() as i32 - 1
    }

    fn values(&mut self, strings: &Strings) -> Arc<StringArray> {
        let Self { entries, texts, values, .. } = self;
        let values = values.get_or_insert_with(|| {
            let texts = entries.iter().map(|entry| match entry {
                KeyText::Symbol(symbol) => strings.get(*symbol),
                KeyText::Text(begin, end) => &texts[*begin..*end],
            });
            Arc::new(StringArray::from_iter_values(texts))
        });
        Arc::clone(values)
    }

    fn reset(&mut self) {
        self.by_symbol.clear();
        self.by_text.clear();
        self.entries.clear();
        self.texts.clear();
        self.values = None;
    }
}

impl Column for NameColumn {
    fn finish(&mut self, strings: &Strings) -> ArrayRef {
        let values = self.values(strings);
        let array: DictionaryArray<Int32Type> = DictionaryArray::new(self.keys.take(), values);
        if self.entries.len() > ENTRIES || self.texts.len() > ENTRY_BYTES {
            self.reset();
        }
        Arc::new(array)
    }
}

impl<'a> Append<Named<'a>> for NameColumn {
    #[inline(always)]
    fn append(&mut self, cell: Named<'a>) -> usize {
        let (key, added) = match cell {
            Named::Symbol(symbol) => (self.key_of_symbol(symbol), 0),
            Named::Text(text) => self.key_of_bytes(text.as_bytes()),
            Named::Bytes(bytes) => self.key_of_bytes(bytes),
        };
        self.keys.append_value(key);
        added
    }
}

impl<'a> Append<Option<Named<'a>>> for NameColumn {
    #[inline]
    fn append(&mut self, cell: Option<Named<'a>>) -> usize {
        match cell {
            Some(name) => self.append(name),
            None => {
                self.keys.append_null();
                0
            }
        }
    }
}

/// Reads a dictionary-encoded column.
#[derive(Clone, Copy, Debug)]
pub struct Names<'b> {
    array: Option<(&'b Int32Array, &'b StringArray)>,
}

impl<'b> Names<'b> {
    pub(crate) fn new(array: Option<&'b ArrayRef>) -> Self {
        let array = array.and_then(|array| array.as_dictionary_opt::<Int32Type>());
        Self { array: array.and_then(|array| Some((array.keys(), array.values().as_string_opt()?))) }
    }

    /// The dictionary; `None` if the column was not requested.
    pub fn values(&self) -> Option<&'b StringArray> {
        self.array.map(|(_, values)| values)
    }

    /// Keys of all rows.
    #[inline]
    pub fn keys(&self) -> &'b [i32] {
        self.array.map_or(&[], |(keys, _)| keys.values())
    }

    /// The text of one row; empty if the column was not requested.
    #[inline]
    pub fn get(&self, row: usize) -> &'b str {
        self.array.map_or("", |(keys, values)| values.value(keys.value(row) as usize))
    }
}

/// Reads a dictionary-encoded column that may be NULL.
#[derive(Clone, Copy, Debug)]
pub struct MaybeNames<'b> {
    names: Names<'b>,
}

impl<'b> MaybeNames<'b> {
    pub(crate) fn new(array: Option<&'b ArrayRef>) -> Self {
        Self { names: Names::new(array) }
    }

    /// The dictionary; `None` if the column was not requested.
    pub fn values(&self) -> Option<&'b StringArray> {
        self.names.values()
    }

    /// The key of one row.
    #[inline]
    pub fn key(&self, row: usize) -> Option<i32> {
        let (keys, _) = self.names.array?;
        keys.is_valid(row).then(|| keys.value(row))
    }

    /// The text of one row; NULL if the column was not requested.
    #[inline]
    pub fn get(&self, row: usize) -> Option<&'b str> {
        let (_, values) = self.names.array?;
        self.key(row).map(|key| values.value(key as usize))
    }
}
