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

use traceloom_core::Result;
use traceloom_model::Table;

use self::entry::Entries;
use traceloom_passes::{
    ArgRows, AttributeRows, Need, POINTS, Pass, ROSTER, SpanDefinitions, SpanRows, SpanSites, Target, Writer,
};

pub(crate) static TARGET: Target = Target {
    about: "CNanoLog's decompressor and `traceloom log`: log entries; events, values and spans as such",
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
