//! Sites: the properties that the entries of a log statement share.

use traceloom_cnanolog::{Dictionary, Site};
use traceloom_model::{Halt, Table, Tables, definitions::Definition, trackers::Symbol};

use crate::shared::text;

/// The properties that the rows of an entry take from its site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Common {
    pub(super) level: i64,
    pub(super) level_name: Symbol,
    pub(super) file: Symbol,
    pub(super) line: u32,
    pub(super) format: Symbol,
}

/// The sites of a file, by index in the dictionary.
#[derive(Debug)]
pub(super) struct Sites {
    commons: Vec<Common>,
    most_args: usize,
}

impl Sites {
    /// Pushes the definitions and keeps the properties that entries refer to.
    pub(super) fn push(dictionary: Option<&Dictionary>, tables: &mut Tables<'_>) -> Result<Self, Halt> {
        let mut sites = Self { commons: Vec::new(), most_args: 0 };
        let Some(dictionary) = dictionary else { return Ok(sites) };
        sites.most_args = (0..dictionary.len()).map(|index| dictionary.arg_types(index).len()).max().unwrap_or(0);
        if tables.wants(Table::Logs) || tables.wants(Table::Definitions) {
            for (index, site) in dictionary.sites().enumerate() {
                let common = Common::of(&site, dictionary, tables);
                sites.commons.push(common);
                push_definition(index, &site, &common, dictionary, tables)?;
            }
        }
        Ok(sites)
    }

    /// The properties of the site at an index in the dictionary.
    #[inline]
    pub(super) fn common(&self, index: usize) -> Option<&Common> {
        self.commons.get(index)
    }

    /// The length of the longest argument list.
    pub(super) fn most_args(&self) -> usize {
        self.most_args
    }
}

impl Common {
    fn of(site: &Site<'_>, dictionary: &Dictionary, tables: &mut Tables<'_>) -> Self {
        let level_name = match dictionary.level_name(site.level) {
            Some(name) => tables.strings.intern(&text(name)),
            None => tables.strings.intern(&format!("LEVEL_{}", site.level)),
        };
        Self {
            level: site.level.into(),
            level_name,
            file: tables.strings.intern(&text(site.file)),
            line: site.line,
            format: tables.strings.intern(&text(site.format)),
        }
    }
}

fn push_definition(
    index: usize,
    site: &Site<'_>,
    common: &Common,
    dictionary: &Dictionary,
    tables: &mut Tables<'_>,
) -> Result<(), Halt> {
    if !tables.wants(Table::Definitions) {
        return Ok(());
    }
    let types: Vec<_> = dictionary.arg_types(index).iter().map(ToString::to_string).collect();
    let types = types.join(", ");
    tables.push(Definition {
        id: definition_id(index, site.id, dictionary),
        kind: "site".into(),
        name: common.format.into(),
        file: Some(common.file.into()),
        line: Some(common.line),
        last_line: None,
        color: None,
        level: Some(common.level),
        flags: None,
        status: None,
        args: (!types.is_empty()).then_some(&types),
    })
}

/// The id in the file. If several sites have the same id, which only damage causes, entries refer to the last one; the
/// others get ids beyond those that a file can hold.
fn definition_id(index: usize, id: u32, dictionary: &Dictionary) -> i64 {
    let is_meant = dictionary.find(id).is_some_and(|meant| meant as usize == index);
    let beyond = if is_meant { 0 } else { index as i64 + 1 };
    (beyond << u32::BITS) | i64::from(id)
}
