//! Writes the same contents as a clean writer lays them out, optionally for another version.

use std::{
    collections::{HashMap, HashSet},
    io::Write,
};

use traceloom_core::{ByteOrder, Edited, Loss, Options, Records, Result, Source, Text};

use super::{
    input::Input,
    transcript::{self, Plan},
};
use crate::{
    FORMAT, Header, Record, Switch, Thread,
    raw::{Layout, Version, Width},
};

/// Writes the same contents with correct counts and no residue, for the version in `variant`.
pub fn canonical<W: Write>(source: &Source, out: W, variant: Option<&str>, options: &Options) -> Result<Edited> {
    let input = Input::open(source, options)?;
    let old = &input.header;
    let version = match variant {
        None => old.version,
        Some(text) => parse_version(text)?,
    };
    let layout = Layout::real(version, if variant.is_some() { ByteOrder::Little } else { old.layout.order });
    let taken = if layout.thread_id == Width::U32 { narrow_ids(&input)? } else { HashSet::new() };
    let mut plan = CanonicalPlan { layout, loss: Loss::default(), ids: HashMap::new(), taken, fresh: u32::MAX };
    let header = plan.header(old, version);
    transcript::run(&[input], out, header, &mut plan)
}

fn parse_version(text: &str) -> Result<Version> {
    let version = Version::parse(text).filter(|version| *version >= Version::V0_1_0);
    version.ok_or_else(|| FORMAT.unknown_variant(text))
}

struct CanonicalPlan {
    layout: Layout,
    loss: Loss,
    /// Ids that do not fit in 32 bits, with their replacements.
    ids: HashMap<u64, u32>,
    /// Ids that fit, which must not be used as replacements.
    taken: HashSet<u32>,
    /// The next candidate for a replacement.
    fresh: u32,
}

/// The thread ids of a file that fit in 32 bits.
fn narrow_ids(input: &Input) -> Result<HashSet<u32>> {
    let mut ids = HashSet::new();
    let mut reader = input.reader()?;
    while let Some(located) = reader.next()? {
        let id = match located.record {
            Record::Thread(thread) => thread.id,
            Record::Switch(switch) => switch.target,
            _ => continue,
        };
        ids.extend(u32::try_from(id).ok());
    }
    Ok(ids)
}

impl CanonicalPlan {
    fn header(&mut self, old: &Header, version: Version) -> Header {
        let mut header = Header { layout: self.layout, version, ..old.clone() };
        header.pid = match (self.layout.pid, old.pid) {
            (Width::Absent, Some(pid)) => {
                self.loss.lose("the process id", || pid.to_string());
                None
            }
            (Width::U32, Some(pid)) => Some(self.narrow(pid, "process ids that need 64 bits").into()),
            (_, pid) => Some(pid.unwrap_or(0)),
        };
        header
    }

    fn narrow(&mut self, id: u64, what: &'static str) -> u32 {
        if let Some(known) = u32::try_from(id).ok().or_else(|| self.ids.get(&id).copied()) {
            return known;
        }
        while self.taken.contains(&self.fresh) {
            self.fresh = self.fresh.wrapping_sub(1);
        }
        let fresh = self.fresh;
        self.fresh = fresh.wrapping_sub(1);
        self.loss.lose(what, || format!("{id} became {fresh}"));
        self.ids.insert(id, fresh);
        fresh
    }

    fn id(&mut self, id: u64) -> u64 {
        match self.layout.thread_id {
            Width::U32 => self.narrow(id, "thread ids that need 64 bits").into(),
            Width::Absent | Width::U64 => id,
        }
    }
}

impl Plan for CanonicalPlan {
    fn apply<'a>(&mut self, _input: usize, record: Record<'a>) -> Result<Option<Record<'a>>> {
        Ok(match record {
            Record::Thread(thread) => Some(Record::Thread(Thread { id: self.id(thread.id), ..thread })),
            Record::Switch(switch) => Some(Record::Switch(Switch { target: self.id(switch.target), ..switch })),
            Record::Bookmark(bookmark) if !self.layout.marks => {
                self.loss.lose("bookmarks", || Text(bookmark.text.text).to_string());
                None
            }
            other => Some(other),
        })
    }

    fn loss(&mut self) -> &mut Loss {
        &mut self.loss
    }
}
