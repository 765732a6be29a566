//! An index of a profile by file: calls, definitions and evals in each.
//!
//! Built once in time proportional to the profile. Nothing here is recursive, because evals may be nested arbitrarily
//! deep.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::{Figures, Profile};

/// Calls made in a file, by line and then by called sub.
pub type CallsByLine<'p> = BTreeMap<u32, BTreeMap<&'p str, Figures>>;

/// Names of subs by first line; `None` for subs without lines.
pub type SubsByLine<'p> = BTreeMap<Option<u32>, Vec<&'p str>>;

/// See the module.
#[derive(Debug)]
pub struct Index<'p> {
    calls: HashMap<i64, CallsByLine<'p>>,
    defined: HashMap<i64, SubsByLine<'p>>,
    evals: HashMap<i64, BTreeMap<u32, Nested>>,
    outermost: HashMap<i64, (i64, u32)>,
    no_calls: CallsByLine<'p>,
    no_subs: SubsByLine<'p>,
    no_evals: BTreeMap<u32, Nested>,
}

/// String evals, including nested ones.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Nested {
    /// Time of the statements in the evals.
    pub time_ns: i64,
    /// Number of evals executed.
    pub count: u64,
    /// Number of different evals.
    pub different: u64,
}

impl Nested {
    fn add(&mut self, other: &Self) {
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
        self.count += other.count;
        self.different += other.different;
    }
}

impl<'p> Index<'p> {
    pub(super) fn of(profile: &'p Profile) -> Self {
        let mut calls: HashMap<i64, CallsByLine<'p>> = HashMap::new();
        let mut defined: HashMap<i64, SubsByLine<'p>> = HashMap::new();
        for (name, sub) in &profile.subs {
            if let Some(file) = sub.file {
                defined.entry(file).or_default().entry(sub.first_line).or_default().push(name);
            }
            for (caller, file) in sub.callers.iter().filter_map(|caller| Some((caller, caller.file?))) {
                let called = calls.entry(file).or_default().entry(caller.line.unwrap_or(0)).or_default();
                called.entry(name.as_str()).or_default().add(&caller.figures);
            }
        }
        let (evals, outermost) = evals(profile);
        let (no_calls, no_subs, no_evals) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { calls, defined, evals, outermost, no_calls, no_subs, no_evals }
    }

    /// Calls made in a file.
    pub fn calls_in(&self, file: i64) -> &CallsByLine<'p> {
        self.calls.get(&file).unwrap_or(&self.no_calls)
    }

    /// Subs whose source is in a file.
    pub fn defined_in(&self, file: i64) -> &SubsByLine<'p> {
        self.defined.get(&file).unwrap_or(&self.no_subs)
    }

    /// String evals that the lines of a file ran.
    pub fn evals_in(&self, file: i64) -> &BTreeMap<u32, Nested> {
        self.evals.get(&file).unwrap_or(&self.no_evals)
    }

    /// The location of a line outside all evals: in the file with the outermost eval.
    pub fn outermost(&self, file: i64, line: u32) -> (i64, u32) {
        self.outermost.get(&file).copied().unwrap_or((file, line))
    }
}

type Evals = (HashMap<i64, BTreeMap<u32, Nested>>, HashMap<i64, (i64, u32)>);

/// Evals that are each other's parents belong to no file and are not reached here.
fn evals(profile: &Profile) -> Evals {
    let mut open: Vec<i64> = profile.files.iter().filter(|(_, file)| !file.is_eval()).map(|(id, _)| *id).collect();
    let mut outer_first = Vec::new();
    let mut outermost = HashMap::new();
    while let Some(id) = open.pop() {
        outer_first.push(id);
        for eval in profile.files.get(&id).into_iter().flat_map(|file| &file.evals) {
            let own = profile.files.get(eval).and_then(|eval| eval.parent);
            if let Some(place) = outermost.get(&id).copied().or(own) {
                outermost.insert(*eval, place);
            }
            open.push(*eval);
        }
    }
    let mut evals: HashMap<i64, BTreeMap<u32, Nested>> = HashMap::new();
    for (id, file) in outer_first.iter().rev().filter_map(|id| Some((id, profile.files.get(id)?))) {
        let Some((parent, line)) = file.parent else { continue };
        let count = 1 + file.merged.len() as u64;
        let mut nested = Nested { time_ns: file.total().self_ns(), count, different: 1 };
        evals.get(id).into_iter().flat_map(BTreeMap::values).for_each(|inner| nested.add(inner));
        evals.entry(parent).or_default().entry(line).or_default().add(&nested);
    }
    (evals, outermost)
}
