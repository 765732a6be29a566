//! Names by number.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable, hash_table::Entry};

/// Each name once, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Names {
    table: HashTable<(u64, u32)>,
    hasher: DefaultHashBuilder,
    text: String,
    ends: Vec<usize>,
}

impl Names {
    /// The name of a number.
    pub(crate) fn name(&self, number: u32) -> Option<&str> {
        name(&self.text, &self.ends, number)
    }

    /// The number of a name, which may be new.
    pub(crate) fn number(&mut self, wanted: &str) -> u32 {
        let Self { table, hasher, text, ends } = self;
        let hash = hasher.hash_one(wanted);
        let is_it = |(known, number): &(u64, u32)| *known == hash && name(text, ends, *number) == Some(wanted);
        match table.entry(hash, is_it, |(hash, _)| *hash) {
            Entry::Occupied(found) => found.get().1,
            Entry::Vacant(free) => {
                let number = ends.len() as u32;
                free.insert((hash, number));
                text.push_str(wanted);
                ends.push(text.len());
                number
            }
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Memory held.
    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<usize>() + self.table.allocation_size()
    }
}

fn name<'a>(text: &'a str, ends: &[usize], number: u32) -> Option<&'a str> {
    let number = number as usize;
    let begin = number.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
    text.get(begin..*ends.get(number)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_number() {
        let mut names = Names::default();
        let numbers = ["a", "", "bc", "a", "bc", ""].map(|name| names.number(name));
        assert_eq!(numbers, [0, 1, 2, 0, 2, 1]);
        assert_eq!([0, 1, 2, 3].map(|number| names.name(number)), [Some("a"), Some(""), Some("bc"), None]);
        assert!(names.bytes() >= 3 && names.len() == 3);
    }
}
