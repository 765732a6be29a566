//! Web Tracing Framework: a zone a thread, a scope a span, an event type a name.
//!
//! All events of a file lie in one order of time, so everything becomes a [`step::Step`] first, is sorted, and goes out
//! from there. A first look at the arguments of all rows of a name gives its signature; see [`signature`].

mod header;
mod points;
mod signature;
mod spans;
mod step;
mod value;
mod write;
mod zones;

use std::io::Write;

use traceloom_core::{Arena, Loss, Result};
use traceloom_model::Table;
use traceloom_wtf::{Composer, Form};

use self::{signature::Signatures, step::Steps, write::Output, zones::Zones};
use traceloom_core::Store;
use traceloom_passes::{COLORED_SPAN_COLUMNS, Descriptor, Gathered, Need, Request, Target, Timeline};

/// Web Tracing Framework.
#[derive(Debug)]
pub(crate) struct Wtf;

static DESCRIPTOR: Descriptor = Descriptor {
    extension_variants: &[("wtf-trace", "binary"), ("wtf-json", "json")],
    ..Descriptor::of_format(
        &traceloom_wtf::FORMAT,
        "the Web Tracing Framework's own viewer and command line tools",
        &[
            Need::of(Table::Traces, &[]),
            Need::of(Table::Attributes, &[]),
            Need::of(Table::Processes, &[]),
            Need::of(Table::Threads, &[]),
            Need::by_begin(Table::Spans, COLORED_SPAN_COLUMNS),
            Need::of(Table::Events, &["ts_ns", "thread_id", "span_id", "name", "category"]),
            Need::of(Table::Counters, &["ts_ns", "thread_id", "name", "value_id", "value", "text"]),
            Need::of(Table::Logs, &["ts_ns", "thread_id", "level_name", "file", "line", "format", "message"]),
            Need::of(Table::Links, &["ts_ns"]),
            Need::of(Table::Resources, &[]),
            Need::of(Table::Args, &[]),
        ],
    )
};

impl Target for Wtf {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let Request { source, options, variant, .. } = *request;
        let form = Form::from_variant(variant).unwrap_or_default();
        let mut loss = Loss::default();
        let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
        let mut zones = Zones::new(&gathered.roster, &mut loss);
        let mut signatures = Signatures::default();
        let mut steps = Steps {
            sorter: traceloom_core::Sorter::new(&Arena::new(options.limits.tree_bytes)),
            details: Store::new(options.limits.tree_bytes / 4),
        };
        let timeline = Timeline::new(&gathered.roster);
        let mut places = points::referred(source, &gathered, options)?;
        spans::push(&mut gathered, &timeline, &mut zones, &mut signatures, &mut places, &mut steps, &mut loss)?;
        points::push(
            source,
            &mut gathered,
            options,
            &timeline,
            &places,
            &mut zones,
            &mut signatures,
            &mut steps,
            &mut loss,
        )?;

        let info = header::info(source, &gathered, &timeline, &mut loss)?;
        let mut composer = Composer::new(out, form, &info)?;
        header::put_resources(source, &gathered, &mut composer)?;
        let unit_ns = if info.times_as_count() { 1 } else { 1000 };
        let output = Output::new(composer, &zones, signatures, unit_ns)?;
        output.write(steps, &mut gathered, &mut loss)?;
        Ok(loss)
    }
}
