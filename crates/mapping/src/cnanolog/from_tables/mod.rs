//! CNanoLog: a log entry a row; spans are two, one when they begin and one when they end.
//!
//! The file tells how many entries it has before the first, and what their sites say after the last. So entries are
//! laid out as bytes, wait in a [`traceloom_core::Store`], and go out in the order of time.

mod entry;
mod points;
mod sites;
mod spans;
mod values;
mod write;

use std::io::Write;

use traceloom_core::{Loss, Result};
use traceloom_model::Table;

use self::entry::Entries;
use traceloom_passes::{
    ArgRows, AttributeRows, COUNTERS, Descriptor, EVENTS, LOGS, Need, Pass, Request, SpanDefinitions, SpanRows, Target,
};

/// CNanoLog.
#[derive(Debug)]
pub(crate) struct Cnanolog;

static DESCRIPTOR: Descriptor = Descriptor::of_format(
    &traceloom_cnanolog::FORMAT,
    "CNanoLog's decompressor and `traceloom log`: log entries; events, values and spans as such",
    &[
        Need::shown(Table::Traces),
        Need::of::<AttributeRows<'_>>(),
        Need::shown(Table::Processes),
        Need::shown(Table::Threads),
        Need::shown(Table::Definitions),
        Need::of::<SpanRows<'_>>(),
        Need::of::<SpanDefinitions<'_>>(),
        EVENTS,
        COUNTERS,
        LOGS,
        Need::of::<ArgRows<'_>>(),
    ],
);

impl Target for Cnanolog {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let mut pass = Pass::new(request, &DESCRIPTOR)?;
        let mut entries = Entries::new(&pass);
        spans::push(&mut pass, &mut entries)?;
        points::push(&mut pass, &mut entries)?;
        points::count_rest(&mut pass, &entries)?;
        write::write(entries, &mut pass, out)?;
        Ok(pass.loss)
    }
}
