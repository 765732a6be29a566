//! CNanoLog: one log entry per row; a span becomes two entries, one for its start and one for its end.
//!
//! The file stores the number of entries before the first one, and the sites after the last one. So entries are
//! encoded, wait in a [`traceloom_core::Store`], and are written in time order.

mod entry;
mod points;
mod sites;
mod spans;
mod values;
mod write;

use std::io::Write;

use traceloom_core::Result;
use traceloom_model::Table;

use self::entry::Entries;
use traceloom_passes::{
    ArgRows, AttributeRows, Need, POINTS, Pass, ROSTER, SpanDefinitions, SpanRows, SpanSites, Target, Writer,
};

pub(crate) static TARGET: Target = Target {
    about: "CNanoLog's decompressor and `traceloom log`: log entries; also events, values and spans as entries",
    needs: &[
        ROSTER,
        POINTS,
        &[Need::of::<AttributeRows<'_>>(), Need::shown(Table::Definitions), Need::of::<ArgRows<'_>>()],
        &[Need::of::<SpanRows<'_>>(), Need::of::<SpanSites<'_>>(), Need::of::<SpanDefinitions<'_>>()],
    ],
    writer: Writer::Pass(write),
    ..Target::of_format(&traceloom_cnanolog::FORMAT)
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let mut entries = Entries::new(pass);
    spans::push(pass, &mut entries)?;
    points::push(pass, &mut entries)?;
    points::count_rest(pass, &entries)?;
    write::write(entries, pass, out)
}
