//! Texts as numbers, whatever dictionary they come from.

use arrow_array::{Array, StringArray};
use traceloom_core::{Cursor, Error, Result, SpillRow, Store};
use traceloom_model::trackers::Strings;

/// The number of a NULL cell.
pub const NO_NUMBER: u32 = u32::MAX;

/// Distinct names, numbered from 0 in the order of their first occurrence.
#[derive(Debug, Default)]
pub struct Interner {
    strings: Strings,
}

impl Interner {
    /// The number of a name; a new name is added.
    #[inline]
    pub fn number(&mut self, name: &str) -> u32 {
        self.strings.intern(name).index() as u32
    }

    /// The number of a name; a new name is added only if there are fewer than `max`, and otherwise has [`NO_NUMBER`].
    #[inline]
    pub fn number_within(&mut self, name: &str, max: usize) -> u32 {
        if self.len() < max {
            return self.number(name);
        }
        self.find(name).unwrap_or(NO_NUMBER)
    }

    /// The number of a name, if it is known.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.strings.find(name).map(|symbol| symbol.index() as u32)
    }

    /// The name with this number; `None` for [`NO_NUMBER`].
    #[inline]
    pub fn get(&self, number: u32) -> Option<&str> {
        self.strings.at(number)
    }

    /// All names, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len() as u32).filter_map(|number| self.get(number))
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.strings.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.strings.is_empty()
    }

    /// Bytes of all names.
    pub fn text_bytes(&self) -> usize {
        self.strings.text_bytes()
    }

    /// Bytes of memory held.
    pub fn bytes(&self) -> usize {
        self.strings.bytes()
    }

    /// Removes all names.
    pub fn clear(&mut self) {
        self.strings.clear();
    }
}

/// The memory address of a dictionary. While both arrays are alive, it is the same only if their entries are the same.
///
/// Batches from one source share their dictionary, so its entries need not be examined for each batch.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct DictionaryId {
    /// Address of the first entry's offset; slices of one array differ in this or in the length.
    offsets: usize,
    len: usize,
    texts: usize,
    nulls: Option<(usize, usize)>,
}

impl DictionaryId {
    /// The identity of a dictionary.
    pub fn of(values: &StringArray) -> Self {
        Self {
            offsets: values.value_offsets().as_ptr().addr(),
            len: values.len(),
            texts: values.value_data().as_ptr().addr(),
            nulls: values.nulls().map(|nulls| (nulls.validity().as_ptr().addr(), nulls.offset())),
        }
    }
}

/// A value for each entry of a dictionary, kept as long as batches have the same dictionary.
#[derive(Debug, Default)]
pub struct PerEntry<T> {
    /// Kept alive, because an address identifies a dictionary only while the dictionary exists.
    dictionary: Option<StringArray>,
    entries: Vec<T>,
}

impl<T: Clone> PerEntry<T> {
    /// Starts with `unknown` for each entry of this dictionary.
    pub fn new(values: &StringArray, unknown: T) -> Self {
        Self { dictionary: Some(values.clone()), entries: vec![unknown; values.len()] }
    }

    /// Switches to the dictionary of a batch. If it is a different one, resets all values to `unknown` and returns
    /// true.
    pub fn turn_to(&mut self, values: Option<&StringArray>, unknown: T) -> bool {
        let is_same = self.dictionary.as_ref().map(DictionaryId::of) == values.map(DictionaryId::of);
        if !is_same {
            self.dictionary = values.cloned();
            self.entries.clear();
            self.entries.resize(values.map_or(0, Array::len), unknown);
        }
        !is_same
    }

    /// The dictionary.
    pub fn values(&self) -> Option<&StringArray> {
        self.dictionary.as_ref()
    }

    /// The text of an entry; empty if there is none.
    pub fn text(&self, key: usize) -> &str {
        let values = self.dictionary.as_ref().filter(|values| key < values.len() && values.is_valid(key));
        values.map_or("", |values| values.value(key))
    }

    /// The value of each entry.
    #[inline]
    pub fn entries(&self) -> &[T] {
        &self.entries
    }

    /// The value of each entry, mutably.
    #[inline]
    pub fn entries_mut(&mut self) -> &mut [T] {
        &mut self.entries
    }
}

/// The names of one column: maps the keys of its dictionary to numbers.
#[derive(Debug, Default)]
pub struct Translation(PerEntry<u32>);

impl Translation {
    /// The number of each key of a dictionary; names are looked up once for all batches that share it.
    pub fn of(&mut self, values: Option<&StringArray>, names: &mut Interner) -> &[u32] {
        self.within(values, names, usize::MAX)
    }

    /// The same, with [`NO_NUMBER`] for new names if there are `max` already.
    pub fn within(&mut self, values: Option<&StringArray>, names: &mut Interner, max: usize) -> &[u32] {
        let Self(numbers) = self;
        if numbers.turn_to(values, NO_NUMBER) {
            for key in 0..numbers.entries.len() {
                numbers.entries[key] = names.number_within(numbers.text(key), max);
            }
        }
        &numbers.entries
    }
}

/// The number of a key that may be NULL; [`NO_NUMBER`] if it is.
#[inline]
pub fn number_of(numbers: &[u32], key: Option<i32>) -> u32 {
    key.and_then(|key| numbers.get(key as usize)).copied().unwrap_or(NO_NUMBER)
}

/// The words of a column with a closed vocabulary: maps the keys of its dictionary to meanings.
#[derive(Debug)]
pub struct Words<T>(PerEntry<Option<T>>);

impl<T> Default for Words<T> {
    fn default() -> Self {
        Self(PerEntry { dictionary: None, entries: Vec::new() })
    }
}

impl<T: Clone> Words<T> {
    /// The meaning of each key of a dictionary; `None` for a word that is not in the vocabulary.
    pub fn of(&mut self, values: Option<&StringArray>, meaning: fn(&str) -> Option<T>) -> &[Option<T>] {
        let Self(words) = self;
        if words.turn_to(values, None) {
            for key in 0..words.entries.len() {
                words.entries[key] = meaning(words.text(key));
            }
        }
        &words.entries
    }
}

/// The id of a text in a [`NamePool`].
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NameId(u32);

impl NameId {
    /// The number of the id, counted from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The id as a number to be stored.
    pub fn raw(self) -> u32 {
        self.0
    }

    /// The id from a stored number.
    pub fn from_raw(raw: u32) -> Self {
        Self(raw)
    }
}

impl SpillRow for NameId {
    const BYTES: usize = u32::BYTES;

    fn put(&self, bytes: &mut Vec<u8>) {
        self.0.put(bytes);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(Self(u32::take(cursor)?))
    }
}

/// Maximum number of distinct texts in memory. Further texts go to a store, where equal texts may have several ids.
const RESIDENT: usize = 1 << 18;
const RESIDENT_BYTES: usize = 32 << 20;

/// Numbered texts; those that do not fit in memory are in a temporary file.
#[derive(Debug)]
pub struct NamePool {
    names: Interner,
    /// The texts that did not fit, and the position of each.
    texts: Store,
    places: Store,
    stored: u32,
    buffer: Vec<u8>,
}

impl Default for NamePool {
    fn default() -> Self {
        let store = || Store::new(RESIDENT_BYTES as u64);
        Self { names: Interner::default(), texts: store(), places: store(), stored: 0, buffer: Vec::new() }
    }
}

impl NamePool {
    /// The id of a text.
    pub fn intern(&mut self, text: &str) -> Result<NameId> {
        if self.stored > 0 || self.names.len() >= RESIDENT || self.names.text_bytes() >= RESIDENT_BYTES {
            return self.store(text);
        }
        Ok(NameId(self.names.number(text)))
    }

    fn store(&mut self, text: &str) -> Result<NameId> {
        let id = u32::try_from(self.names.len()).ok().and_then(|resident| resident.checked_add(self.stored));
        let id = id.ok_or_else(|| Error::limit("names", 1 << 32, u64::from(u32::MAX)))?;
        let start = self.texts.append(text.as_bytes())?;
        self.places.append(&start.to_le_bytes())?;
        self.places.append(&(text.len() as u64).to_le_bytes())?;
        self.stored += 1;
        Ok(NameId(id))
    }

    /// The text of an id.
    #[inline]
    pub fn get(&mut self, id: NameId) -> Result<&str> {
        match id.index().checked_sub(self.names.len()) {
            None => Ok(self.resident(id).unwrap_or("")),
            Some(number) => self.load(number as u64),
        }
    }

    /// The text, if it is in memory. Each of these texts has exactly one id, and there are few enough of them for
    /// targets that declare each name once.
    #[inline]
    pub fn resident(&self, id: NameId) -> Option<&str> {
        self.names.get(id.0)
    }

    #[cold]
    fn load(&mut self, number: u64) -> Result<&str> {
        let mut place = [0; 16];
        self.places.read(number * 16, &mut place)?;
        let [start, len] = [&place[..8], &place[8..]].map(|half| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(half);
            u64::from_le_bytes(bytes)
        });
        self.buffer.resize(len as usize, 0);
        self.texts.read(start, &mut self.buffer)?;
        Ok(std::str::from_utf8(&self.buffer).unwrap_or(""))
    }
}

/// Like a [`Translation`], but for a [`NamePool`]: looks up only texts that a row uses.
#[derive(Debug, Default)]
pub struct KeyMap(PerEntry<Option<NameId>>);

impl KeyMap {
    /// Switches to the dictionary of a batch; returns whether it is a different one.
    pub fn turn_to(&mut self, values: Option<&StringArray>) -> bool {
        self.0.turn_to(values, None)
    }

    /// The id of a key of that dictionary.
    #[inline]
    pub fn get(&mut self, key: i32, pool: &mut NamePool) -> Result<NameId> {
        match self.0.entries.get(key as usize) {
            Some(Some(id)) => Ok(*id),
            _ => self.add(key as usize, pool),
        }
    }

    #[cold]
    fn add(&mut self, key: usize, pool: &mut NamePool) -> Result<NameId> {
        let id = pool.intern(self.0.text(key))?;
        if let Some(entry) = self.0.entries.get_mut(key) {
            *entry = Some(id);
        }
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use traceloom_model::Fate;

    use super::*;

    fn texts(texts: &[&str]) -> StringArray {
        StringArray::from(texts.to_vec())
    }

    #[test]
    fn a_dictionary_is_the_same_only_if_its_entries_are() {
        let is_same = |one: &StringArray, other: &StringArray| DictionaryId::of(one) == DictionaryId::of(other);
        let all = texts(&["a", "b", "c", "d"]);
        assert!(is_same(&all, &all.clone()) && is_same(&all.slice(1, 2), &all.slice(1, 2)));
        // Slices share their texts, and may have the same length.
        assert!(!is_same(&all.slice(0, 2), &all.slice(1, 2)) && !is_same(&all.slice(0, 3), &all.slice(0, 2)));
        assert!(!is_same(&all, &all.slice(0, 3)) && !is_same(&all, &texts(&["a", "b", "c", "d"])));
        // Arrays of empty texts hold no bytes.
        assert!(!is_same(&texts(&["", ""]), &texts(&["", ""])));
        // Hiding some of the entries makes it a different dictionary.
        let (offsets, bytes, _) = all.clone().into_parts();
        let hidden = StringArray::new(offsets, bytes, Some(vec![true, false, true, true].into()));
        assert!(!is_same(&all, &hidden) && is_same(&hidden, &hidden.clone()));
        assert!(!is_same(&hidden.slice(0, 2), &hidden.slice(2, 2)));
    }

    #[test]
    fn a_name_has_one_number_in_all_dictionaries() {
        let (mut names, mut column) = (Interner::default(), Translation::default());
        let (one, two) = (texts(&["a", "b"]), texts(&["b", "c"]));
        assert_eq!(column.of(Some(&one), &mut names), [0, 1]);
        assert_eq!(column.of(Some(&one.clone()), &mut names), [0, 1]);
        assert_eq!(column.of(Some(&two), &mut names), [1, 2]);
        assert_eq!(column.of(Some(&one.slice(1, 1)), &mut names), [1]);
        assert_eq!(column.of(None, &mut names), [0_u32; 0]);
        assert_eq!(names.iter().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!((number_of(&[7], Some(0)), number_of(&[7], None), names.get(NO_NUMBER)), (7, NO_NUMBER, None));
    }

    #[test]
    fn words_have_the_meanings_of_their_vocabulary() {
        let mut words = Words::default();
        let fates = words.of(Some(&texts(&["live", "lost", "freed"])), Fate::of);
        assert_eq!(fates, [Some(Fate::Live), None, Some(Fate::Freed)]);
        assert_eq!(words.of(Some(&texts(&["reused"])), Fate::of), [Some(Fate::Reused)]);
    }

    #[test]
    fn beyond_the_limit_only_known_names_have_numbers() {
        let (mut names, mut column) = (Interner::default(), Translation::default());
        assert_eq!(column.within(Some(&texts(&["a", "b", "c"])), &mut names, 2), [0, 1, NO_NUMBER]);
        assert_eq!(column.within(Some(&texts(&["c", "b"])), &mut names, 2), [NO_NUMBER, 1]);
        assert_eq!((column.of(Some(&texts(&["c"])), &mut names), names.len()), (&[2][..], 3));
    }

    #[test]
    fn a_text_has_one_id_whatever_dictionary_it_comes_from() {
        let (mut pool, mut keys) = (NamePool::default(), KeyMap::default());
        keys.turn_to(Some(&texts(&["a", "b"])));
        let ids = [0, 1].map(|key| keys.get(key, &mut pool).unwrap());
        keys.turn_to(Some(&texts(&["b", "a", ""])));
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
