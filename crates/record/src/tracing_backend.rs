//! `tracing`: a subscriber of our own, which is cheaper, and a layer for those who have others as well.

use std::{
    cell::Cell,
    fmt::Debug,
    hash::{Hash, Hasher},
};

use traceloom_cnanolog::raw::ArgType;
use tracing_core::{
    Event, Interest, Metadata, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

use crate::{
    Level,
    dynamic::{Fields, Mixed, NewSite, Place, site, with_fields},
    local::{Weight, put},
    record::Kind,
    site::generation,
};

/// Records what `tracing` says and nothing else; cheaper than [`RecordLayer`], because spans need no registry.
///
/// `tracing::subscriber::set_global_default(traceloom_record::RecordSubscriber)`
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordSubscriber;

/// Records what `tracing` says, next to other layers.
///
/// `tracing_subscriber::registry().with(traceloom_record::RecordLayer)`
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordLayer;

thread_local! {
    /// A bit for each span that this thread is in, the innermost lowest: whether it was dropped.
    static DROPPED: Cell<u64> = const { Cell::new(0) };
    static NEXT_SPAN: Cell<u64> = const { Cell::new(0) };
}

/// Bits of the site in the id of a span.
const SITE_BITS: u32 = 24;

impl Subscriber for RecordSubscriber {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::always()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        generation() != 0
    }

    /// The id holds the site: nothing has to be stored for a span.
    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let site = span_site(attributes.metadata());
        if site.is_some() {
            put_fields(attributes.metadata(), |fields| attributes.record(fields));
        }
        let number = NEXT_SPAN.with(|next| next.replace(next.get() + 1));
        let low = site.map_or(0, |site| u64::from(site) + 1);
        // Not zero, whatever the number and the site.
        Id::from_u64((number + 1) << SITE_BITS | low & ((1 << SITE_BITS) - 1))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        put_fields(event.metadata(), |fields| event.record(fields));
    }

    #[inline]
    fn enter(&self, span: &Id) {
        enter(((span.into_u64() & ((1 << SITE_BITS) - 1)) as u32).checked_sub(1));
    }

    #[inline]
    fn exit(&self, span: &Id) {
        exit(((span.into_u64() & ((1 << SITE_BITS) - 1)) as u32).checked_sub(1));
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for RecordLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, _: &Id, _: Context<'_, S>) {
        put_fields(attributes.metadata(), |fields| attributes.record(fields));
    }

    fn on_record(&self, span: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(metadata) = context.metadata(span) {
            put_fields(metadata, |fields| values.record(fields));
        }
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        put_fields(event.metadata(), |fields| event.record(fields));
    }

    fn on_enter(&self, span: &Id, context: Context<'_, S>) {
        enter(context.metadata(span).and_then(span_site));
    }

    fn on_exit(&self, span: &Id, context: Context<'_, S>) {
        exit(context.metadata(span).and_then(span_site));
    }
}

fn enter(site: Option<u32>) {
    let is_kept = generation() != 0 && site.is_some_and(|site| put(Kind::SpanBegin, site, Weight::Span, ()));
    DROPPED.with(|dropped| dropped.set(dropped.get() << 1 | u64::from(!is_kept)));
}

fn exit(site: Option<u32>) {
    let was_dropped = DROPPED.with(|dropped| dropped.replace(dropped.get() >> 1)) & 1 == 1;
    if let (false, Some(site)) = (was_dropped || generation() == 0, site) {
        put(Kind::SpanEnd, site, Weight::End, ());
    }
}

fn key(metadata: &Metadata<'_>) -> u64 {
    let mut hasher = Mixed::default();
    metadata.callsite().hash(&mut hasher);
    hasher.finish()
}

fn level(metadata: &Metadata<'_>) -> Level {
    match *metadata.level() {
        tracing_core::Level::ERROR => Level::ERROR,
        tracing_core::Level::WARN => Level::WARN,
        tracing_core::Level::INFO => Level::INFO,
        _ => Level::DEBUG,
    }
}

fn span_site(metadata: &Metadata<'_>) -> Option<u32> {
    site(key(metadata), || NewSite {
        name: metadata.name().to_owned(),
        level: None,
        module: metadata.module_path().unwrap_or(metadata.target()),
        file: metadata.file().unwrap_or_default(),
        line: metadata.line().unwrap_or(0),
        types: &[],
    })
}

/// Fields of an event or a span as a log entry; a span without any says nothing.
fn put_fields(metadata: &Metadata<'_>, visit: impl FnOnce(&mut Fields)) {
    if generation() == 0 {
        return;
    }
    with_fields(|fields| {
        visit(fields);
        if fields.types.is_empty() && metadata.is_span() {
            return;
        }
        let place = Place {
            module: metadata.module_path().unwrap_or(metadata.target()),
            file: metadata.file().unwrap_or_default(),
            line: metadata.line().unwrap_or(0),
        };
        fields.log((key(metadata), "fields"), level(metadata), &place);
    });
}

impl Visit for Fields {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field.name(), ArgType::INT64, value as u64);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field.name(), ArgType::UINT64, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.number(field.name(), ArgType::INT32, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.number(field.name(), ArgType::DOUBLE, value.to_bits());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field.name(), value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.shown(field.name(), format_args!("{value:?}"));
    }
}
