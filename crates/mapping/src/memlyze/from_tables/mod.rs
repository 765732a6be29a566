//! Memlyze: allocations with their stacks, frees, collections; other points in time become markers.
//!
//! The names come before the events in the file, and the events are in time order. So everything becomes an
//! [`item::Item`], names are numbered as they appear, and the items are sorted before they are written.

mod item;
mod names;
mod read;
mod write;

use std::io::Write;

use traceloom_core::Result;

use self::{
    names::{DefinitionRows, FileRows, Names},
    read::{AllocationRows, FreeRows},
};
use traceloom_passes::{
    ArgRows, AttributeRows, EVENTS, FrameRows, LOGS, Need, Pass, ROSTER, StackRows, Target, Writer,
};

pub(crate) static TARGET: Target = Target {
    about: "Memlyze's tools: allocations, frees and collections; events and log entries become markers",
    needs: &[
        ROSTER,
        &[Need::of::<AttributeRows<'_>>(), Need::of::<DefinitionRows<'_>>(), Need::of::<FileRows<'_>>()],
        &[EVENTS, LOGS, Need::of::<AllocationRows<'_>>(), Need::of::<FreeRows<'_>>()],
        &[Need::of::<FrameRows<'_>>(), Need::of::<StackRows<'_>>(), Need::of::<ArgRows<'_>>()],
    ],
    writer: Writer::Pass(write),
    ..Target::of_format(&traceloom_memlyze::FORMAT)
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let mut names = Names::read(pass)?;
    let items = read::items(pass, &mut names)?;
    write::write(items, names, pass, out)
}
