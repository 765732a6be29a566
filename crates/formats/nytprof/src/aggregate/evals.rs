//! Merges string evals that differ only in their number.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::{Calls, File, Line, Name, Profile};

/// If a line has more distinct sources than this, all evals of the line are merged.
const MAX_SOURCES: usize = 200;

pub(super) fn merge(profile: &mut Profile) {
    let roots: Vec<u32> = profile.files.iter().filter(|(_, file)| !file.is_eval()).map(|(fid, _)| *fid).collect();
    let order = inner_first(profile, roots);
    let mut merging = Merging {
        called: called_by_evals(profile),
        callers: HashMap::new(),
        lines: HashMap::new(),
        defined: HashMap::new(),
        profile,
    };
    for fid in order {
        merging.merge_in(fid);
    }
    merging.finish();
}

struct Merging<'a> {
    profile: &'a mut Profile,
    /// Subs called by an eval.
    called: HashMap<u32, Vec<Name>>,
    /// Callers of subs that have changed; as trees, because a sub may have any number of them.
    callers: HashMap<Name, BTreeMap<(u32, u32), Calls>>,
    /// Lines of files that others were merged into, as trees for the same reason.
    lines: HashMap<u32, BTreeMap<u32, Line>>,
    /// Subs of files that others were merged into, as trees for the same reason.
    defined: HashMap<u32, BTreeSet<Name>>,
}

fn called_by_evals(profile: &Profile) -> HashMap<u32, Vec<Name>> {
    let mut called: HashMap<u32, Vec<Name>> = HashMap::new();
    for (name, sub) in &profile.subs {
        for calls in &sub.callers {
            if profile.files.get(&calls.fid).is_some_and(File::is_eval) {
                let names = called.entry(calls.fid).or_default();
                if names.last() != Some(name) {
                    names.push(name.clone());
                }
            }
        }
    }
    called
}

/// The files below `roots`, each after the evals in it; not recursive, because evals may nest to any depth.
fn inner_first(profile: &Profile, roots: Vec<u32>) -> Vec<u32> {
    let mut open = roots;
    let mut outer_first = Vec::new();
    while let Some(fid) = open.pop() {
        outer_first.push(fid);
        // Every eval has one file, so none is visited twice.
        open.extend(profile.files.get(&fid).into_iter().flat_map(|file| &file.evals));
    }
    outer_first.reverse();
    outer_first
}

/// Distinguishes evals on the same line.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Key {
    Source((u32, u64, u32)),
    NoSource { has_evals: bool, has_subs: bool },
}

impl Key {
    fn of(file: &File) -> Self {
        let no_source = Self::NoSource { has_evals: !file.evals.is_empty(), has_subs: !file.subs_defined.is_empty() };
        file.source.key().map_or(no_source, Self::Source)
    }
}

impl Merging<'_> {
    fn merge_in(&mut self, fid: u32) {
        let Some(parent) = self.profile.files.get(&fid) else { return };
        let mut by_line: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for eval in &parent.evals {
            let line = self.profile.files.get(eval).map_or(0, |file| file.eval_line);
            by_line.entry(line).or_default().push(*eval);
        }
        let mut gone = HashSet::new();
        for siblings in by_line.into_values().filter(|siblings| siblings.len() > 1) {
            let mut by_key: BTreeMap<Key, Vec<u32>> = BTreeMap::new();
            for eval in &siblings {
                let Some(file) = self.profile.files.get(eval) else { continue };
                by_key.entry(Key::of(file)).or_default().push(*eval);
            }
            if by_key.len() > MAX_SOURCES {
                self.merge_siblings(&siblings, &mut gone);
                continue;
            }
            for same in by_key.into_values().filter(|same| same.len() > 1) {
                let nests = |eval: &u32| self.profile.files.get(eval).is_some_and(|file| !file.evals.is_empty());
                if !same.iter().any(nests) {
                    self.merge_siblings(&same, &mut gone);
                }
            }
        }
        if let Some(file) = self.profile.files.get_mut(&fid) {
            file.evals.retain(|eval| !gone.contains(eval));
        }
    }

    fn merge_siblings(&mut self, evals: &[u32], gone: &mut HashSet<u32>) {
        let Some((&survivor, donors)) = evals.split_first() else { return };
        for donor in donors {
            self.merge_file(survivor, *donor);
        }
        gone.extend(donors);
        self.merge_anonymous_subs(survivor);
    }

    fn merge_file(&mut self, survivor: u32, donor: u32) {
        let Some(gone) = self.profile.files.remove(&donor) else { return };
        let Some(file) = self.profile.files.get_mut(&survivor) else { return };
        let own = || std::mem::take(&mut file.subs_defined).into_iter().collect();
        let defined = self.defined.entry(survivor).or_insert_with(own);
        for name in gone.subs_defined {
            if let Some(sub) = self.profile.subs.get_mut(&name)
                && sub.fid == Some(donor)
            {
                sub.fid = Some(survivor);
                defined.insert(name);
            }
        }
        let own = || std::mem::take(&mut file.lines).into_iter().collect();
        let lines = self.lines.entry(survivor).or_insert_with(own);
        for (number, line) in gone.lines {
            let sum = lines.entry(number).or_default();
            sum.seconds += line.seconds;
            sum.count += line.count;
        }
        file.merged_fids.push(donor);
        // Devel::NYTProf drops evals inside merged ones; here they move to the remaining one.
        file.evals.extend(&gone.evals);
        for eval in gone.evals {
            if let Some(inner) = self.profile.files.get_mut(&eval) {
                inner.eval_fid = Some(survivor);
            }
        }
        let called = self.called.remove(&donor).unwrap_or_default();
        for name in &called {
            self.move_callers(name, donor, survivor);
        }
        self.called.entry(survivor).or_default().extend(called);
    }

    /// The callers of a sub, mutably.
    fn callers(&mut self, name: &Name) -> &mut BTreeMap<(u32, u32), Calls> {
        let sub = self.profile.subs.get_mut(name);
        self.callers.entry(name.clone()).or_insert_with(|| {
            let callers = sub.map(|sub| std::mem::take(&mut sub.callers)).unwrap_or_default();
            callers.into_iter().map(|calls| ((calls.fid, calls.line), calls)).collect()
        })
    }

    fn move_callers(&mut self, name: &Name, donor: u32, survivor: u32) {
        let callers = self.callers(name);
        let moved: Vec<_> = callers.range((donor, 0)..=(donor, u32::MAX)).map(|(place, _)| *place).collect();
        for place in moved {
            if let Some(calls) = callers.remove(&place) {
                add_calls(callers, (survivor, place.1), calls);
            }
        }
    }

    fn merge_anonymous_subs(&mut self, survivor: u32) {
        let Some(defined) = self.defined.get(&survivor) else { return };
        let mut alike: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut groups: Vec<Vec<Name>> = Vec::new();
        for name in defined.iter().filter(|name| is_anonymous(name)) {
            let group = *alike.entry(without_eval_numbers(name)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            if let Some(group) = groups.get_mut(group) {
                group.push(name.clone());
            }
        }
        for group in groups {
            let Some((kept, merged)) = group.split_first() else { continue };
            for name in merged {
                self.merge_sub(survivor, kept, name);
            }
        }
    }

    fn merge_sub(&mut self, fid: u32, kept: &Name, name: &Name) {
        let moved = std::mem::take(self.callers(name));
        self.callers.remove(name);
        let Some(gone) = self.profile.subs.remove(name) else { return };
        if let Some(defined) = self.defined.get_mut(&fid) {
            defined.remove(name);
        }
        let callers = self.callers(kept);
        for (place, calls) in moved {
            add_calls(callers, place, calls);
        }
        let Some(sub) = self.profile.subs.get_mut(kept) else { return };
        sub.merged.push(name.clone());
        sub.first_line = [sub.first_line, gone.first_line].into_iter().flatten().min();
        sub.last_line = sub.last_line.max(gone.last_line);
        sub.calls += gone.calls;
        sub.incl_seconds += gone.incl_seconds;
        sub.excl_seconds += gone.excl_seconds;
        sub.reci_seconds += gone.reci_seconds;
        sub.depth = sub.depth.max(gone.depth);
    }

    fn finish(self) {
        for (fid, lines) in self.lines {
            if let Some(file) = self.profile.files.get_mut(&fid) {
                file.lines = lines.into_iter().collect();
            }
        }
        for (fid, defined) in self.defined {
            if let Some(file) = self.profile.files.get_mut(&fid) {
                file.subs_defined = defined.into_iter().collect();
            }
        }
        for (name, callers) in self.callers {
            if let Some(sub) = self.profile.subs.get_mut(&name) {
                sub.callers = callers.into_values().collect();
                for calls in &mut sub.callers {
                    calls.by.sort_unstable();
                    calls.by.dedup();
                }
            }
        }
    }
}

/// Sums of recursive times make no sense, so the larger one is kept.
fn add_calls(callers: &mut BTreeMap<(u32, u32), Calls>, place: (u32, u32), from: Calls) {
    let to = callers.entry(place).or_default();
    (to.fid, to.line) = place;
    to.count += from.count;
    to.incl_seconds += from.incl_seconds;
    to.excl_seconds += from.excl_seconds;
    to.depth = to.depth.max(from.depth);
    to.reci_seconds = to.reci_seconds.max(from.reci_seconds);
    // Sorted at the end: a call site may get any number of callers.
    to.by.extend(from.by);
}

fn is_anonymous(name: &[u8]) -> bool {
    const MARK: &[u8] = b"::__ANON__";
    let ends = |at: usize| name.get(at + MARK.len()).is_none_or(|c| !c.is_ascii_alphanumeric() && *c != b'_');
    name.windows(MARK.len()).enumerate().any(|(at, part)| part == MARK && ends(at))
}

/// Replaces the number in every `(eval N)` and `(re_eval N)` with 0.
pub(crate) fn without_eval_numbers(name: &[u8]) -> Vec<u8> {
    const MARK: &[u8] = b"eval ";
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.windows(MARK.len()).position(|part| part == MARK) {
        let (before, after) = rest.split_at_checked(at + MARK.len()).unwrap_or((rest, &[]));
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let opened = before.ends_with(b"(eval ") || before.ends_with(b"(re_eval ");
        out.extend_from_slice(before);
        if opened && digits > 0 && after.get(digits) == Some(&b')') {
            out.push(b'0');
            rest = after.get(digits..).unwrap_or_default();
        } else {
            rest = after;
        }
    }
    out.extend_from_slice(rest);
    out
}
