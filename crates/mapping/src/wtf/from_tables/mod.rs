//! Web Tracing Framework: one zone per thread, one scope per span, one event type per name.
//!
//! All events of a file are in one time order, so everything first becomes a [`step::Step`], is sorted, and is then
//! written. A first pass over the arguments of all rows with a name determines its signature; see [`signature`].

mod header;
mod points;
mod signature;
mod spans;
mod step;
mod value;
mod write;
mod zones;

use std::io::Write;

use traceloom_core::{Arena, Result, Sorter, Store};
use traceloom_model::Table;
use traceloom_wtf::{Composer, Form};

use self::{header::ResourceRows, signature::Signatures, spans::Places, step::Steps, zones::Zones};
use traceloom_passes::{
    ArgRows, AttributeRows, Need, POINTS, Pass, ROSTER, Roster, SpanRows, SpanSites, Target, Writer,
};

pub(crate) static TARGET: Target = Target {
    about: "the Web Tracing Framework's viewer and command-line tools",
    extension_variants: &[("wtf-trace", "binary"), ("wtf-json", "json")],
    needs: &[
        ROSTER,
        POINTS,
        &[
            Need::of::<AttributeRows<'_>>(),
            Need::of::<SpanRows<'_>>(),
            Need::of::<SpanSites<'_>>(),
            Need::shown(Table::Links),
        ],
        &[Need::of::<ResourceRows<'_>>(), Need::of::<ArgRows<'_>>()],
    ],
    writer: Writer::Pass(write),
    ..Target::of_format(&traceloom_wtf::FORMAT)
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let form = Form::from_variant(pass.variant).unwrap_or_default();
    let limit = pass.options.limits.tree_bytes;
    let mut draft = Draft {
        zones: Zones::new(&pass.roster, &mut pass.loss),
        signatures: Signatures::default(),
        places: points::referred(pass)?,
        steps: Steps { sorter: Sorter::new(&Arena::new(limit)), details: Store::new(limit / 4) },
    };
    spans::push(pass, &mut draft)?;
    points::push(pass, &mut draft)?;

    let info = header::info(pass)?;
    let mut composer = Composer::new(out, form, &info)?;
    header::put_resources(pass, &mut composer)?;
    let unit_ns = if info.times_as_count() { 1 } else { 1000 };
    write::write(draft, pass, composer, unit_ns)
}

/// The file to be written: all steps, and everything needed to write them.
struct Draft {
    zones: Zones,
    signatures: Signatures,
    /// The spans that events refer to.
    places: Places,
    steps: Steps,
}

/// Whether a trace is of this format, so that its original records can be restored.
fn is_ours(roster: &Roster, trace: usize) -> bool {
    roster.traces.get(trace).is_some_and(|trace| trace.format == traceloom_wtf::FORMAT.id)
}
