//! Writes the same contents as a clean writer lays them out, optionally for another version.

use std::io::Write;

use traceloom_core::{ByteOrder, Edited, Loss, Options, Result, Source, Text};

use super::{
    ids::Ids,
    input::Input,
    transcript::{self, Plan},
};
use crate::{
    FORMAT, Header, Record,
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
    let mut plan = CanonicalPlan { layout, loss: Loss::default(), ids: Ids::of(&input, &layout)? };
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
    ids: Ids,
}

impl CanonicalPlan {
    fn header(&mut self, old: &Header, version: Version) -> Header {
        let mut header = Header { layout: self.layout, version, ..old.clone() };
        header.pid = match (self.layout.pid, old.pid) {
            (Width::Absent, Some(pid)) => {
                self.loss.lose("the process id", || pid.to_string());
                None
            }
            (Width::U32, Some(pid)) => {
                Some(self.ids.narrow(pid, "process ids that need 64 bits", &mut self.loss).into())
            }
            (_, pid) => Some(pid.unwrap_or(0)),
        };
        header
    }
}

impl Plan for CanonicalPlan {
    fn apply<'a>(&mut self, _input: usize, record: Record<'a>) -> Result<Option<Record<'a>>> {
        Ok(match record {
            Record::Bookmark(bookmark) if !self.layout.marks => {
                self.loss.lose("bookmarks", || Text(bookmark.text.text).to_string());
                None
            }
            other => Some(self.ids.apply(other, &mut self.loss)),
        })
    }

    fn loss(&mut self) -> &mut Loss {
        &mut self.loss
    }
}
