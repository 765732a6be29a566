//! Which log lines are wanted, by the names of their levels.

use std::collections::BTreeSet;

use traceloom_core::{Error, Result};

/// The built-in levels, least severe first.
static SEVERITY: [&str; 4] = ["DEBUG", "INFO", "WARN", "ERROR"];
/// Max number of other levels to list; every line may have its own.
const MAX_OTHERS: usize = 100;
/// Max length of a level to list; any text may be one.
const MAX_LISTED_BYTES: usize = 64;

/// The levels that a user asks for; all if none is named.
#[derive(Debug, Default)]
pub struct Levels {
    wanted: Vec<Wanted>,
    /// Levels of the trace that are not built in.
    others: BTreeSet<String>,
}

#[derive(Debug)]
struct Wanted {
    name: String,
    and_worse: bool,
    /// The trace has this level, or it is built in.
    is_known: bool,
}

impl Levels {
    /// The levels with these names; `WARN+` is WARN and ERROR.
    ///
    /// # Errors
    ///
    /// A name with `+` is not one of the built-in levels.
    pub fn new(names: &[String]) -> Result<Self> {
        Ok(Self {
            wanted: names.iter().map(|name| Wanted::parse(name)).collect::<Result<_>>()?,
            others: BTreeSet::new(),
        })
    }

    /// Whether all levels are wanted.
    pub fn is_all(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Whether a line of the trace with this level is wanted.
    pub fn takes(&mut self, level: &str) -> bool {
        if !self.is_all() {
            self.add(level);
        }
        self.wants(level)
    }

    /// Whether a line is wanted whose level is a number, with this name if the number has one.
    pub fn wants_numbered(&self, number: u8, name: Option<&[u8]>) -> bool {
        match name {
            Some(name) => self.wants(&String::from_utf8_lossy(name)),
            None => self.wants(&format!("LEVEL_{number}")),
        }
    }

    fn wants(&self, level: &str) -> bool {
        self.is_all() || self.wanted.iter().any(|wanted| wanted.takes(level))
    }

    /// Adds a level of the trace, also if no line has it.
    pub fn add(&mut self, level: &str) {
        if severity(level).is_none() {
            let is_listed = (1..=MAX_LISTED_BYTES).contains(&level.len()) && self.others.len() < MAX_OTHERS;
            if is_listed && !self.others.contains(level) {
                self.others.insert(level.to_owned());
            }
            self.wanted.iter_mut().for_each(|wanted| wanted.is_known |= wanted.takes(level));
        }
    }

    /// Adds the levels of a log that numbers them, also those that no line has: the ones with names, and those whose
    /// numbers have none, each of which has the name `LEVEL_` and its number.
    pub fn add_numbered<'n>(&mut self, named: impl IntoIterator<Item = &'n [u8]>, is_nameless: impl Fn(u8) -> bool) {
        named.into_iter().for_each(|name| self.add(&String::from_utf8_lossy(name)));
        for wanted in &mut self.wanted {
            let number = wanted.name.to_ascii_uppercase().strip_prefix("LEVEL_").and_then(|number| number.parse().ok());
            wanted.is_known |= number.is_some_and(&is_nameless);
        }
    }

    /// Accepts every name, because the trace does not list its levels.
    pub fn accept_any(&mut self) {
        self.wanted.iter_mut().for_each(|wanted| wanted.is_known = true);
    }

    /// Rejects levels that the trace does not have; complete only after its last line.
    ///
    /// # Errors
    ///
    /// A wanted level is unknown; the message lists the known ones.
    pub fn check(&self) -> Result<()> {
        let Some(Wanted { name, .. }) = self.wanted.iter().find(|wanted| !wanted.is_known) else { return Ok(()) };
        let known: Vec<&str> = SEVERITY.into_iter().chain(self.others.iter().map(String::as_str)).collect();
        Err(Error::usage(format!("unknown level {name}; the levels are {}", known.join(", "))))
    }
}

impl Wanted {
    /// A name, or the name of a built-in level and `+`, which includes worse levels.
    fn parse(text: &str) -> Result<Self> {
        let (name, and_worse) = text.strip_suffix('+').map_or((text, false), |name| (name, true));
        let is_known = severity(name).is_some();
        if and_worse && !is_known {
            let known = SEVERITY.join(", ");
            return Err(Error::usage(format!("invalid level `{name}+`: only {known} are ordered by severity")));
        }
        Ok(Self { name: name.to_owned(), and_worse, is_known })
    }

    fn takes(&self, level: &str) -> bool {
        let is_worse = || severity(&self.name).zip(severity(level)).is_some_and(|(from, of_line)| of_line >= from);
        level.eq_ignore_ascii_case(&self.name) || (self.and_worse && is_worse())
    }
}

fn severity(name: &str) -> Option<usize> {
    SEVERITY.iter().position(|known| known.eq_ignore_ascii_case(name))
}
