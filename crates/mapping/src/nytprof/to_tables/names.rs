//! Names of files and subs, each stored once.

use std::collections::{BTreeMap, HashMap};

use traceloom_core::{Error, Limits, Result};
use traceloom_model::{
    Halt, Table, Tables,
    files::File,
    trackers::{Strings, Symbol},
};
use traceloom_nytprof::{NewFid, text_of};

use crate::shared::{Args, Argument, Datum};

/// How much of a file may be kept in memory: a small file may expand to a very large one.
#[derive(Debug)]
pub(crate) struct Budget {
    used_bytes: u64,
    max_bytes: u64,
}

/// Size of a name including its table entries.
const ENTRY_BYTES: u64 = 160;

impl Budget {
    pub(crate) fn new(source_bytes: u64, limits: &Limits) -> Self {
        let max_bytes = source_bytes.saturating_mul(32).saturating_add(50 << 20).min(limits.spool_bytes);
        Self { used_bytes: 0, max_bytes }
    }

    pub(crate) fn charge(&mut self, name: &[u8]) -> Result<()> {
        self.used_bytes += ENTRY_BYTES + 2 * name.len() as u64;
        if self.used_bytes > self.max_bytes {
            Err(Error::limit("memory for names", self.used_bytes, self.max_bytes))
        } else {
            Ok(())
        }
    }
}

/// Names of subs, numbered in the order of their first occurrence.
#[derive(Debug)]
pub(super) struct SubNames {
    numbers: HashMap<Box<[u8]>, u32>,
    symbols: Vec<Symbol>,
    /// Loops call the same sub repeatedly.
    last: (Vec<u8>, u32),
    budget: Budget,
}

impl SubNames {
    pub(super) fn new(source_bytes: u64, limits: &Limits) -> Self {
        let budget = Budget::new(source_bytes, limits);
        Self { numbers: HashMap::new(), symbols: Vec::new(), last: (Vec::new(), u32::MAX), budget }
    }

    /// The number of a name.
    #[inline]
    pub(super) fn number(&mut self, name: &[u8], strings: &mut Strings) -> Result<u32> {
        if self.last.0 == name && self.last.1 != u32::MAX {
            return Ok(self.last.1);
        }
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => self.add(name, strings)?,
        };
        self.last.0.clear();
        self.last.0.extend_from_slice(name);
        self.last.1 = number;
        Ok(number)
    }

    #[cold]
    fn add(&mut self, name: &[u8], strings: &mut Strings) -> Result<u32> {
        self.budget.charge(name)?;
        let number = self.symbols.len() as u32;
        self.numbers.insert(name.into(), number);
        self.symbols.push(strings.intern(&text_of(name)));
        Ok(number)
    }

    /// The number of a name, if it has occurred.
    pub(super) fn find(&self, name: &[u8]) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The text with a number.
    #[inline]
    pub(super) fn symbol(&self, number: u32) -> Option<Symbol> {
        self.symbols.get(number as usize).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.symbols.len()
    }
}

/// Files and evals by number; if one is defined several times, the last definition counts.
#[derive(Debug)]
pub(crate) struct Files {
    files: BTreeMap<u32, FileEntry>,
    nameless: Symbol,
    /// Whether each file exists, by number; checked for every statement.
    is_there: Vec<bool>,
    budget: Budget,
}

/// Files are numbered from 1; numbers above this one are looked up.
const MAX_QUICK_FID: usize = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct FileEntry {
    name: Symbol,
    eval_fid: u32,
    eval_line: u32,
    flags: Option<u32>,
    size: u32,
    mtime: u32,
}

impl Files {
    pub(crate) fn new(source_bytes: u64, limits: &Limits, strings: &mut Strings) -> Self {
        let budget = Budget::new(source_bytes, limits);
        Self { files: BTreeMap::new(), nameless: strings.intern(""), is_there: Vec::new(), budget }
    }

    /// Adds a definition.
    pub(crate) fn define(&mut self, file: &NewFid<'_>, strings: &mut Strings) -> Result<()> {
        self.budget.charge(file.name.bytes)?;
        let entry = FileEntry {
            name: strings.intern(&file.name.text()),
            eval_fid: file.eval_fid,
            eval_line: file.eval_line,
            flags: Some(file.flags.0),
            size: file.size,
            mtime: file.mtime,
        };
        self.insert(file.fid, entry);
        Ok(())
    }

    /// Refers to a file that should be defined; if it is not, its number becomes its name.
    #[inline]
    pub(crate) fn refer(&mut self, fid: u32, strings: &mut Strings) -> Result<()> {
        if self.is_there.get(fid as usize) == Some(&true) {
            return Ok(());
        }
        self.refer_slowly(fid, strings)
    }

    #[cold]
    fn refer_slowly(&mut self, fid: u32, strings: &mut Strings) -> Result<()> {
        if self.files.contains_key(&fid) {
            return Ok(());
        }
        let name = format!("file {fid}");
        self.budget.charge(name.as_bytes())?;
        let name = strings.intern(&name);
        self.insert(fid, FileEntry { name, eval_fid: 0, eval_line: 0, flags: None, size: 0, mtime: 0 });
        Ok(())
    }

    fn insert(&mut self, fid: u32, entry: FileEntry) {
        let index = fid as usize;
        if index < MAX_QUICK_FID {
            let len = self.is_there.len().max(index + 1);
            self.is_there.resize(len, false);
            self.is_there[index] = true;
        }
        self.files.insert(fid, entry);
    }

    /// The name of a file that exists.
    pub(crate) fn name(&self, fid: u32) -> Option<Symbol> {
        self.files.get(&fid).map(|file| file.name)
    }

    /// The name of a file, or the empty string.
    pub(crate) fn name_or_empty(&self, fid: u32) -> Symbol {
        self.name(fid).unwrap_or(self.nameless)
    }

    /// The id of the file's row, if it has one.
    pub(crate) fn id(&self, fid: u32) -> Option<i64> {
        self.files.contains_key(&fid).then_some(fid.into())
    }

    /// Pushes the table of files.
    pub(crate) fn push(&self, args: &mut Args, tables: &mut Tables<'_>) -> Result<(), Halt> {
        for (fid, file) in &self.files {
            // A file that claims to be its own parent would make every walk up the parents endless.
            let parent_file_id = self.id(file.eval_fid).filter(|_| file.eval_fid != 0 && file.eval_fid != *fid);
            let id = i64::from(*fid);
            tables.push(File {
                id,
                name: file.name.into(),
                parent_file_id,
                parent_line: parent_file_id.map(|_| file.eval_line),
                flags: file.flags.map(u64::from),
            })?;
            for (key, value) in [("size", file.size), ("mtime", file.mtime)] {
                if value != 0 {
                    let (owner_table, value) = (Table::Files, Datum::Unsigned(value.into()));
                    let (key, kind) = (key.into(), "u32".into());
                    args.push(&Argument { owner_table, owner_id: id, key, idx: None, kind, value }, tables)?;
                }
            }
        }
        Ok(())
    }
}
