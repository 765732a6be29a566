//! Memlyze: allocations with their stacks, frees, collections; other points in time are markers.
//!
//! The names of the file stand before its events, and events follow in the order of time. So everything becomes an
//! [`item::Item`], names are numbered on the way, and the items go out sorted.

mod item;
mod names;
mod read;
mod write;

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_model::Table;

use self::{
    names::{DefinitionRows, FileRows, Names},
    read::{AllocationRows, FreeRows},
};
use traceloom_passes::{
    ArgRows, AttributeRows, Descriptor, EVENTS, FrameRows, LOGS, Need, Pass, Request, StackRows, Target,
};

/// Memlyze.
#[derive(Debug)]
pub(crate) struct Memlyze;

static DESCRIPTOR: Descriptor = Descriptor::of_format(
    &traceloom_memlyze::FORMAT,
    "Memlyze's own tools: allocations, frees and collections; events and log entries are markers",
    &[
        Need::shown(Table::Traces),
        Need::of::<AttributeRows<'_>>(),
        Need::shown(Table::Processes),
        Need::shown(Table::Threads),
        Need::of::<DefinitionRows<'_>>(),
        Need::of::<FileRows<'_>>(),
        EVENTS,
        LOGS,
        Need::of::<AllocationRows<'_>>(),
        Need::of::<FreeRows<'_>>(),
        Need::of::<FrameRows<'_>>(),
        Need::of::<StackRows<'_>>(),
        Need::of::<ArgRows<'_>>(),
    ],
);

impl Target for Memlyze {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let mut pass = Pass::new(request, &DESCRIPTOR)?;
        let mut names = Names::read(&mut pass)?;
        let items = read::items(&mut pass, &mut names)?;
        write::write(items, names, &pass, out)?;
        Ok(pass.loss)
    }
}
