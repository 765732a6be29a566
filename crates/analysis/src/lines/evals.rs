//! Merges string evals that differ only in their number, as the reports of NYTProf do.
//!
//! First decides which evals are merged, then updates all references in one pass.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::{Caller, File, Profile, Sub, collect::sort_callers};

/// If a line has more different sources than this, all evals of the line are merged.
const MAX_SOURCES: usize = 200;

pub(super) fn merge(profile: &mut Profile) {
    let into = settle(profile);
    if into.is_empty() {
        return;
    }
    move_files(profile, &into);
    move_subs(profile, &into);
    merge_anonymous_subs(profile, &into);
}

/// Distinguishes evals of one line.
///
/// NYTProf compares no more of the source than this.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Key {
    NoSource { has_evals: bool, has_subs: bool },
    Source { lines: u32, bytes: usize, sum: u32 },
}

impl Key {
    fn of(id: i64, file: &File, defining: &BTreeSet<i64>) -> Self {
        let bytes = file.source.values().map(String::len).sum();
        if bytes == 0 {
            return Self::NoSource { has_evals: !file.evals.is_empty(), has_subs: defining.contains(&id) };
        }
        let bytes_of = file.source.values().flat_map(|text| text.bytes());
        let sum = bytes_of.fold(0_u32, |sum, byte| sum.wrapping_add(byte.into()));
        Self::Source { lines: file.source.keys().last().copied().unwrap_or(0), bytes, sum }
    }
}

/// Maps each merged eval to the one it is merged into.
fn settle(profile: &Profile) -> HashMap<i64, i64> {
    let defining: BTreeSet<i64> = profile.subs.values().filter_map(|sub| sub.file).collect();
    let mut by_place: BTreeMap<(i64, u32), Vec<i64>> = BTreeMap::new();
    for (id, file) in &profile.files {
        if let Some(place) = file.parent {
            by_place.entry(place).or_default().push(*id);
        }
    }
    let mut into = HashMap::new();
    for siblings in by_place.into_values().filter(|siblings| siblings.len() > 1) {
        let mut alike: BTreeMap<Key, Vec<i64>> = BTreeMap::new();
        for id in &siblings {
            alike.entry(Key::of(*id, &profile.files[id], &defining)).or_default().push(*id);
        }
        let groups = if alike.len() > MAX_SOURCES {
            vec![siblings]
        } else {
            // Evals that contain evals are not merged.
            alike.into_values().filter(|ids| ids.iter().all(|id| profile.files[id].evals.is_empty())).collect()
        };
        for group in groups {
            into.extend(group[1..].iter().map(|donor| (*donor, group[0])));
        }
    }
    into
}

fn move_files(profile: &mut Profile, into: &HashMap<i64, i64>) {
    let mut donors: Vec<i64> = into.keys().copied().collect();
    donors.sort_unstable();
    for donor in donors {
        let Some(gone) = profile.files.remove(&donor) else { continue };
        // Evals inside a merged eval belong to the remaining one.
        for eval in &gone.evals {
            if let Some(parent) = profile.files.get_mut(eval).and_then(|inner| inner.parent.as_mut()) {
                parent.0 = into[&donor];
            }
        }
        let Some(file) = profile.files.get_mut(&into[&donor]) else { continue };
        for (line, cost) in &gone.lines {
            file.lines.entry(*line).or_default().add(cost);
        }
        file.evals.extend(&gone.evals);
        file.merged.push(donor);
    }
    for file in profile.files.values_mut() {
        file.evals.retain(|eval| !into.contains_key(eval));
    }
}

fn move_subs(profile: &mut Profile, into: &HashMap<i64, i64>) {
    let moved = |file: &mut Option<i64>| match file.and_then(|file| into.get(&file)) {
        Some(survivor) => {
            *file = Some(*survivor);
            true
        }
        None => false,
    };
    for sub in profile.subs.values_mut() {
        moved(&mut sub.file);
        let mut is_changed = false;
        sub.callers.iter_mut().for_each(|caller| is_changed |= moved(&mut caller.file));
        if is_changed {
            join_callers(sub);
        }
    }
}

/// Merges calls of one caller from one place.
fn join_callers(sub: &mut Sub) {
    sort_callers(sub);
    let place = |caller: &Caller| (caller.file, caller.line);
    sub.callers.dedup_by(|next, kept| {
        let is_same = place(next) == place(kept) && next.by == kept.by;
        if is_same {
            kept.figures.merge(&next.figures);
        }
        is_same
    });
}

/// Merges anonymous subs of merged evals, whose names differ only in the number.
fn merge_anonymous_subs(profile: &mut Profile, into: &HashMap<i64, i64>) {
    let survivors: BTreeSet<i64> = into.values().copied().collect();
    let mut alike: BTreeMap<(i64, String), Vec<String>> = BTreeMap::new();
    for (name, sub) in &profile.subs {
        if let Some(file) = sub.file.filter(|file| survivors.contains(file) && is_anonymous(name)) {
            alike.entry((file, without_eval_numbers(name))).or_default().push(name.clone());
        }
    }
    for names in alike.into_values() {
        let mut gone: Vec<(String, Sub)> = Vec::new();
        for name in &names[1..] {
            gone.extend(profile.subs.remove_entry(name));
        }
        let Some(kept) = profile.subs.get_mut(&names[0]) else { continue };
        for (name, sub) in gone {
            kept.total.add(&sub.total);
            kept.first_line = [kept.first_line, sub.first_line].into_iter().flatten().min();
            kept.last_line = kept.last_line.max(sub.last_line);
            kept.callers.extend(sub.callers);
            kept.merged.push(name);
        }
        join_callers(kept);
    }
}

fn is_anonymous(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.split("::__ANON__").skip(1).any(|after| !after.starts_with(is_word))
}

/// Replaces the number in every `(eval N)` and `(re_eval N)` with 0.
pub(super) fn without_eval_numbers(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("eval ") {
        let (before, after) = rest.split_at(at + "eval ".len());
        let number = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_eval = before.ends_with("(eval ") || before.ends_with("(re_eval ");
        out.push_str(before);
        rest = after;
        if is_eval && number.len() < after.len() && number.starts_with(')') {
            out.push('0');
            rest = number;
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_evals_do_not_count() {
        let name = "main::__ANON__[(eval 12)[(re_eval 3)[a.pl:4]:1]:1]";
        assert_eq!(without_eval_numbers(name), "main::__ANON__[(eval 0)[(re_eval 0)[a.pl:4]:1]:1]");
        assert_eq!(without_eval_numbers("medieval 12)"), "medieval 12)");
        assert!(is_anonymous("a::__ANON__") && is_anonymous(name) && !is_anonymous("a::__ANON__2"));
    }
}
