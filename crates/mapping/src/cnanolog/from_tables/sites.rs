//! Sites and levels, which entries share.

use hashbrown::HashMap;
use traceloom_cnanolog::{
    Program,
    raw::{ArgType, MAX_LEVEL_NAME, MAX_LEVELS, SLOTS_LIBRARY},
};
use traceloom_core::{Error, Loss, Result};

use traceloom_passes::{NameId, NamePool};

/// A log statement to be written.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Site {
    pub(super) level: u8,
    pub(super) file: Option<NameId>,
    pub(super) line: u32,
    pub(super) format: NameId,
    pub(super) types: Table,
}

/// The types of arguments, as stored.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Table {
    pub(super) slots: [u8; SLOTS_LIBRARY],
    pub(super) len: u8,
}

impl Table {
    /// As many types as fit.
    pub(super) fn new(types: &[ArgType]) -> Self {
        let mut slots = [0; SLOTS_LIBRARY];
        slots.iter_mut().zip(types).for_each(|(slot, kind)| *slot = kind.0);
        Self { slots, len: types.len().min(SLOTS_LIBRARY) as u8 }
    }
}

/// Distinct sites.
#[derive(Debug, Default)]
pub(super) struct Sites {
    pub(super) all: Vec<Site>,
    ids: HashMap<Site, u32>,
    programs: Vec<Option<Box<Program>>>,
    most: usize,
}

impl Sites {
    pub(super) fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// The id of a site.
    pub(super) fn id(&mut self, site: Site) -> Result<u32> {
        if self.all.len() >= self.most {
            return Err(Error::limit("log sites", self.all.len() as u64 + 1, self.most as u64));
        }
        let all = &mut self.all;
        Ok(*self.ids.entry(site).or_insert_with(|| {
            all.push(site);
            all.len() as u32 - 1
        }))
    }

    /// The format of a site, parsed once.
    pub(super) fn program(&mut self, id: u32, format: &[u8]) -> &Program {
        let place = id as usize;
        if self.programs.len() <= place {
            self.programs.resize_with(place + 1, || None);
        }
        self.programs[place].get_or_insert_with(|| Box::new(Program::parse(format)))
    }
}

/// Levels by name.
#[derive(Debug)]
pub(super) struct Levels {
    numbers: HashMap<NameId, u8>,
    /// Names that have to be stored in the file.
    pub(super) named: Vec<(u8, String)>,
    taken: [bool; 256],
    is_document: bool,
}

/// The library's built-in levels, by number.
const BUILTIN: [&str; 4] = ["INFO", "WARN", "ERROR", "DEBUG"];

impl Levels {
    pub(super) fn new(is_document: bool) -> Self {
        let mut taken = [false; 256];
        taken[..BUILTIN.len()].fill(true);
        Self { numbers: HashMap::new(), named: Vec::new(), taken, is_document }
    }

    /// The number of a level; it stays the same if that number is free.
    pub(super) fn number(&mut self, name: NameId, own: i64, names: &mut NamePool, loss: &mut Loss) -> Result<u8> {
        if let Some(number) = self.numbers.get(&name) {
            return Ok(*number);
        }
        let number = self.add(names.get(name)?, own, loss);
        self.numbers.insert(name, number);
        Ok(number)
    }

    fn add(&mut self, name: &str, own: i64, loss: &mut Loss) -> u8 {
        if let Some(number) = BUILTIN.iter().position(|builtin| *builtin == name) {
            return number as u8;
        }
        let own = u8::try_from(own).ok().filter(|own| !self.taken[usize::from(*own)]);
        // The name that readers give to a level without a name.
        let is_unnamed = own.is_some_and(|own| name == format!("LEVEL_{own}"));
        // Programs use numbers from 10 on.
        let free = own.or_else(|| (10..=255).chain(4..10).find(|number| !self.taken[usize::from(*number)]));
        let Some(number) = free.filter(|_| is_unnamed || self.named.len() < MAX_LEVELS) else {
            loss.lose("levels beyond the maximum", || name.to_owned());
            return 0;
        };
        self.taken[usize::from(number)] = true;
        if is_unnamed {
            return number;
        }
        if self.is_document {
            loss.lose("names of levels", || name.to_owned());
            return number;
        }
        let cut = &name[..name.floor_char_boundary(MAX_LEVEL_NAME)];
        if cut != name {
            loss.lose("ends of long level names", || name.to_owned());
        }
        self.named.push((number, cut.to_owned()));
        number
    }
}
