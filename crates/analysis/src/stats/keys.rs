//! Groups of spans, found by key.

use hashbrown::{HashMap, HashSet};
use traceloom_passes::NO_NUMBER;

use super::report::SpanSums;
use crate::group::Group;

/// The key of a group; [`NO_NUMBER`] for columns that are not part of the key.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: u32,
    pub(super) thread: u32,
    pub(super) file: u32,
    pub(super) line: u32,
    pub(super) category: u32,
    pub(super) parent: u32,
    pub(super) frame: u32,
}

impl Key {
    pub(super) fn of_name(name: u32) -> Self {
        Self { name, ..OTHER }
    }
}

/// All groups.
#[derive(Debug)]
pub(crate) struct Groups {
    pub(super) list: Vec<(Key, Group)>,
    /// Groups whose only key is the name, by name.
    by_name: Vec<u32>,
    by_key: HashMap<Key, u32>,
    last: (Key, u32),
    most: usize,
    /// Number of spans in the group of all others.
    pub(super) merged: u64,
}

/// The group of all others, used after the max number of groups.
pub(super) const OTHER: Key = Key {
    name: NO_NUMBER,
    thread: NO_NUMBER,
    file: NO_NUMBER,
    line: NO_NUMBER,
    category: NO_NUMBER,
    parent: NO_NUMBER,
    frame: NO_NUMBER,
};

impl Groups {
    pub(crate) fn new(most: usize) -> Self {
        let list = vec![(OTHER, Group::default())];
        Self { list, by_name: Vec::new(), by_key: HashMap::new(), last: (OTHER, 0), most, merged: 0 }
    }

    /// The group of a name without other keys.
    #[inline]
    pub(crate) fn of_name(&mut self, name: u32) -> &mut Group {
        let place = match self.by_name.get(name as usize) {
            Some(place) if *place != NO_NUMBER => *place,
            _ => self.add_name(name),
        };
        &mut self.list[place as usize].1
    }

    #[cold]
    fn add_name(&mut self, name: u32) -> u32 {
        if name == NO_NUMBER {
            self.merged += 1;
            return 0;
        }
        if self.by_name.len() <= name as usize {
            self.by_name.resize(name as usize + 1, NO_NUMBER);
        }
        let place = self.add(Key::of_name(name));
        // Further spans of a name without a group are looked up again, so that they are counted.
        if place != 0 {
            self.by_name[name as usize] = place;
        }
        place
    }

    /// The group of a key.
    pub(super) fn of_key(&mut self, key: Key) -> &mut Group {
        if key == Key::of_name(key.name) || key.name == NO_NUMBER {
            return self.of_name(key.name);
        }
        if self.last.0 != key {
            let place = match self.by_key.get(&key) {
                Some(place) => *place,
                None => self.add_key(key),
            };
            // The group of all others has no key, so it must not be cached as the group of this key.
            self.last = if place == 0 { (OTHER, 0) } else { (key, place) };
            return &mut self.list[place as usize].1;
        }
        &mut self.list[self.last.1 as usize].1
    }

    #[cold]
    fn add_key(&mut self, key: Key) -> u32 {
        let place = self.add(key);
        if place != 0 {
            self.by_key.insert(key, place);
        }
        place
    }

    fn add(&mut self, key: Key) -> u32 {
        if self.list.len() > self.most {
            self.merged += 1;
            return 0;
        }
        self.list.push((key, Group::default()));
        self.list.len() as u32 - 1
    }

    /// The sums of all groups.
    pub(super) fn sums(&self) -> SpanSums {
        let mut names: HashSet<u32> = HashSet::new();
        let mut all = SpanSums::default();
        for (key, group) in self.list.iter().filter(|(_, group)| !group.is_empty()) {
            names.insert(key.name);
            let sums = group.sums();
            all.closed += sums.count;
            all.unclosed += group.unclosed;
            all.total_ns = all.total_ns.saturating_add(sums.total);
        }
        SpanSums { names: names.len(), ..all }
    }

    /// The nonempty groups.
    pub(crate) fn into_filled(self) -> impl Iterator<Item = (Key, Group)> {
        self.list.into_iter().filter(|(_, group)| !group.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use traceloom_passes::Budget;

    use super::*;

    #[test]
    fn groups_beyond_the_limit_are_counted_together() {
        let mut budget = Budget::default();
        let mut groups = Groups::new(2);
        for name in [0, 1, 2, 3, 2, 0] {
            groups.of_name(name).add(Some(5), None, &mut budget);
        }
        assert_eq!((groups.merged, groups.list.len()), (3, 3));
        let mut groups = Groups::new(1);
        for name in [7, 7, 8, 8, 7] {
            groups.of_key(Key { thread: 1, ..Key::of_name(name) }).add(Some(5), None, &mut budget);
        }
        let calls: Vec<_> = groups.into_filled().map(|(key, group)| (key.name, group.sums().count)).collect();
        assert_eq!(calls, [(NO_NUMBER, 2), (7, 3)]);
    }

    #[test]
    fn names_without_a_number_are_counted_together() {
        let mut groups = Groups::new(8);
        groups.of_name(NO_NUMBER).add(Some(5), None, &mut Budget::default());
        groups.of_key(Key { thread: 1, ..Key::of_name(NO_NUMBER) }).add(Some(7), None, &mut Budget::default());
        groups.of_name(3).add(None, None, &mut Budget::default());
        assert_eq!((groups.merged, groups.list.len()), (2, 2));
        let sums = SpanSums { names: 2, closed: 2, unclosed: 1, total_ns: 12 };
        assert_eq!(groups.sums(), sums);
    }

    #[test]
    fn a_name_alone_is_one_group_whatever_it_was_found_by() {
        let mut groups = Groups::new(8);
        for group in [0, 1] {
            let group = if group == 0 { groups.of_name(3) } else { groups.of_key(Key::of_name(3)) };
            group.add(Some(5), None, &mut Budget::default());
        }
        assert_eq!(groups.into_filled().map(|(_, group)| group.sums().count).collect::<Vec<_>>(), [2]);
    }
}
