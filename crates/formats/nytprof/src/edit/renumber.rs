//! New numbers for the files of several profiles: equal files share one, evals do not, and equal subs belong to one
//! file.

use std::collections::{BTreeMap, HashMap};

use traceloom_core::{Error, Loss, Options, Records, Result, Source};

use crate::{NewFid, Pair, Record, SubInfo, budget::Budget, check::leading_number, open, raw::DEFAULT_TICKS_PER_SEC};

/// The numbers assigned so far, to the files of all inputs.
pub(super) struct Numbers {
    last_fid: u32,
    files: HashMap<Vec<u8>, u32>,
    /// The first eval at a line of a file.
    evals: HashMap<(u32, u32), u32>,
    /// First and last line of the subs, by file and name.
    subs: HashMap<(u32, Vec<u8>), (u32, u32)>,
    pub(super) budget: Budget,
}

/// The new number of a file.
#[derive(Clone, Copy)]
pub(super) struct NewNumber {
    pub(super) fid: u32,
    pub(super) eval_fid: u32,
    /// The first eval at the same line; the file itself if it is not an eval.
    pub(super) folded: u32,
    /// Whether the definition still has to be written.
    pub(super) is_owed: bool,
}

impl NewNumber {
    pub(super) fn file(fid: u32) -> Self {
        Self { fid, eval_fid: 0, folded: fid, is_owed: true }
    }
}

impl Numbers {
    pub(super) fn new(source_bytes: u64) -> Self {
        Self {
            last_fid: 0,
            files: HashMap::new(),
            evals: HashMap::new(),
            subs: HashMap::new(),
            budget: Budget::new("memory for merging", source_bytes, 36 << 20),
        }
    }

    pub(super) fn next(&mut self) -> Result<u32> {
        let too_many = || Error::limit("files", 1 << 32, u32::MAX.into());
        self.last_fid = self.last_fid.checked_add(1).ok_or_else(too_many)?;
        Ok(self.last_fid)
    }

    fn of_file(&mut self, file: &NewFid<'_>) -> Result<NewNumber> {
        if let Some(fid) = self.files.get(file.name.bytes).copied() {
            return Ok(NewNumber { is_owed: false, ..NewNumber::file(fid) });
        }
        self.budget.charge(160 + file.name.bytes.len() as u64)?;
        let fid = self.next()?;
        self.files.insert(file.name.bytes.to_vec(), fid);
        Ok(NewNumber::file(fid))
    }

    /// Every eval is a separate file; the first one at its line is remembered.
    fn of_eval(&mut self, parent: Option<NewNumber>, line: u32) -> Result<NewNumber> {
        let mut new = NewNumber::file(self.next()?);
        if let Some(parent) = parent {
            self.fold(&mut new, parent, line);
        }
        Ok(new)
    }

    fn fold(&mut self, eval: &mut NewNumber, parent: NewNumber, line: u32) {
        eval.eval_fid = parent.fid;
        eval.folded = *self.evals.entry((parent.folded, line)).or_insert(eval.fid);
    }
}

/// What a first pass over an input decides.
#[derive(Default)]
pub(super) struct Input {
    pub(super) fids: HashMap<u32, NewNumber>,
    /// Lines of a file that contain a sub which an earlier eval already has.
    moved: HashMap<u32, BTreeMap<u32, u32>>,
    /// The file of a sub's description, if it has to be written.
    pub(super) subs: HashMap<(u32, u32, u32, Vec<u8>), u32>,
    pub(super) ticks_per_sec: u32,
}

impl Input {
    /// Reads an input before it is written; evals may come before their files, and files after their subs.
    pub(super) fn survey(source: &Source, numbers: &mut Numbers, loss: &mut Loss, options: &Options) -> Result<Self> {
        let mut input = Self { ticks_per_sec: DEFAULT_TICKS_PER_SEC, ..Self::default() };
        let early = input.number_files(source, numbers, options)?;
        for eval in early {
            let Some(parent) = input.fids.get(&eval.parent).copied() else {
                let example = || format!("file {} of eval {}", eval.parent, eval.fid);
                loss.lose("files of evals, which are not defined", example);
                continue;
            };
            if let Some(new) = input.fids.get_mut(&eval.fid) {
                numbers.fold(new, parent, eval.line);
            }
        }
        input.house_subs(source, numbers, options)?;
        Ok(input)
    }

    /// Assigns every file its number; returns the evals that came before their files.
    fn number_files(&mut self, source: &Source, numbers: &mut Numbers, options: &Options) -> Result<Vec<EarlyEval>> {
        let mut early = Vec::new();
        open(source.clone(), options)?.walk(|located| {
            match &located.record {
                Record::NewFid(file) if file.eval_fid == 0 => {
                    numbers.budget.charge(96)?;
                    self.fids.insert(file.fid, numbers.of_file(file)?);
                }
                Record::NewFid(file) => {
                    numbers.budget.charge(96)?;
                    let parent = self.fids.get(&file.eval_fid).copied();
                    self.fids.insert(file.fid, numbers.of_eval(parent, file.eval_line)?);
                    if parent.is_none() {
                        early.push(EarlyEval { fid: file.fid, parent: file.eval_fid, line: file.eval_line });
                    }
                }
                Record::Attribute(Pair { key: b"ticks_per_sec", value: Some(value) }) => {
                    self.ticks_per_sec =
                        Some(leading_number(value)).filter(|ticks| *ticks > 0).unwrap_or(DEFAULT_TICKS_PER_SEC);
                }
                _ => {}
            }
            Ok::<_, Error>(())
        })?;
        Ok(early)
    }

    /// Decides in which file each sub is described.
    fn house_subs(&mut self, source: &Source, numbers: &mut Numbers, options: &Options) -> Result<()> {
        open(source.clone(), options)?.walk(|located| {
            if let Record::SubInfo(sub) = &located.record
                && let Some(file) = self.fids.get(&sub.fid).copied()
            {
                let name = sub.name.bytes.to_vec();
                numbers.budget.charge(280 + 2 * name.len() as u64)?;
                if let Some(fid) = self.home_of(sub, file, numbers) {
                    self.subs.insert((sub.fid, sub.first_line, sub.last_line, name), fid);
                }
            }
            Ok::<_, Error>(())
        })
    }

    /// The file for the description of a sub; `None` if there is already an equal one.
    fn home_of(&mut self, sub: &SubInfo<'_>, file: NewNumber, numbers: &mut Numbers) -> Option<u32> {
        let range = (sub.first_line, sub.last_line);
        let name = sub.name.bytes.to_vec();
        if sub.name.bytes.windows(14).any(|part| part == b"__ANON__[(eval") {
            numbers.subs.entry((file.fid, name)).or_insert(range);
            return Some(file.fid);
        }
        let seen = numbers.subs.get(&(file.folded, name.clone())).copied();
        if seen.is_some_and(|seen| seen != range) {
            return Some(file.fid);
        }
        // The same sub, defined again in another eval of the line: its lines count for the first one.
        if file.folded != file.fid && sub.first_line <= sub.last_line {
            add_range(self.moved.entry(sub.fid).or_default(), range);
        }
        if seen.is_some() {
            return None;
        }
        numbers.subs.insert((file.folded, name), range);
        Some(file.folded)
    }

    /// The new number of a file, for something on this line.
    pub(super) fn at(&self, fid: u32, line: u32) -> Option<u32> {
        let new = self.fids.get(&fid)?;
        let is_moved = self
            .moved
            .get(&fid)
            .is_some_and(|ranges| ranges.range(..=line).next_back().is_some_and(|(_, last)| line <= *last));
        Some(if is_moved { new.folded } else { new.fid })
    }
}

/// An eval that came before its file.
struct EarlyEval {
    fid: u32,
    parent: u32,
    line: u32,
}

/// Adds a range of lines to ranges that do not overlap.
fn add_range(ranges: &mut BTreeMap<u32, u32>, (mut first, mut last): (u32, u32)) {
    while let Some((start, end)) = ranges.range(..=last).next_back().map(|(start, end)| (*start, *end)) {
        if end < first {
            break;
        }
        ranges.remove(&start);
        (first, last) = (first.min(start), last.max(end));
    }
    ranges.insert(first, last);
}
