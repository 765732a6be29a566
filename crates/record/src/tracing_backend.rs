//! Backends for `tracing`: a subscriber, which is cheaper, and a layer to combine with others.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt::Debug,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
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
    dynamic::{Fields, NewSite, Place, ask, hash_address, known, with_fields},
    local::{Weight, put_headed, try_put},
    record::{FIXED, Kind, header},
    site::{SiteId, generation, is_on, is_recording},
};

/// A subscriber that records spans and events; cheaper than [`RecordLayer`], because spans need no registry.
///
/// `tracing::subscriber::set_global_default(traceloom_record::RecordSubscriber)`
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordSubscriber;

/// A layer that records spans and events, next to other layers.
///
/// `tracing_subscriber::registry().with(traceloom_record::RecordLayer)`
#[derive(Clone, Copy, Debug, Default)]
pub struct RecordLayer;

type StaticMetadata = &'static Metadata<'static>;

/// The metadata of spans by site, for values that are recorded later.
static SPANS: RwLock<BTreeMap<SiteId, StaticMetadata>> = RwLock::new(BTreeMap::new());

thread_local! {
    static NEXT_NUMBER: Cell<u64> = const { Cell::new(0) };
    static HAS_DROPPED: Cell<bool> = const { Cell::new(false) };
    /// Entered spans of this thread that were not recorded: their ends must not be recorded either.
    static DROPPED: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

/// Bits of the site in the id of a span.
const SITE_BITS: u32 = 24;

/// The id contains the site, so that nothing has to be stored per span.
fn span_id(site: Option<SiteId>) -> Id {
    let low = site.map_or(0, |site| u64::from(site.get()));
    Id::from_u64((next_number() << SITE_BITS | low).max(1))
}

#[inline(always)]
fn site_of(span: &Id) -> Option<SiteId> {
    SiteId::new((span.into_u64() & ((1 << SITE_BITS) - 1)) as u32)
}

/// A number that is unique in the process; each thread reserves many at a time.
#[inline(always)]
fn next_number() -> u64 {
    const AT_A_TIME: u64 = 1 << 16;
    static BLOCKS: AtomicU64 = AtomicU64::new(1);
    let mut number = NEXT_NUMBER.get();
    if number.is_multiple_of(AT_A_TIME) {
        number = BLOCKS.fetch_add(1, Ordering::Relaxed) * AT_A_TIME;
    }
    NEXT_NUMBER.set(number + 1);
    number
}

impl Subscriber for RecordSubscriber {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::always()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        is_recording()
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        // The fast path calls nothing and saves nothing; everything else is a tail call.
        match known(hash_address(address_of(attributes.metadata()))) {
            Some(site) => span_id(Some(site)),
            None => new_span_slowly(attributes),
        }
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let metadata = |site| SPANS.read().unwrap_or_else(PoisonError::into_inner).get(&site).copied();
        if let Some(metadata) = site_of(span).and_then(metadata) {
            put_fields(metadata, |fields| values.record(fields));
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        put_fields(event.metadata(), |fields| event.record(fields));
    }

    #[inline]
    fn enter(&self, span: &Id) {
        if let Some(site) = site_of(span) {
            enter(site, span);
        }
    }

    #[inline]
    fn exit(&self, span: &Id) {
        exit(site_of(span), span);
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
        match context.metadata(span).and_then(span_site) {
            Some(site) => enter(site, span),
            None => drop_span(span),
        }
    }

    fn on_exit(&self, span: &Id, context: Context<'_, S>) {
        exit(context.metadata(span).and_then(span_site), span);
    }
}

#[inline(never)]
fn new_span_slowly(attributes: &Attributes<'_>) -> Id {
    let site = span_site(attributes.metadata());
    if site.is_some() && !attributes.metadata().fields().is_empty() {
        put_fields(attributes.metadata(), |fields| attributes.record(fields));
    }
    span_id(site)
}

#[inline(always)]
fn enter(site: SiteId, span: &Id) {
    let begin = header(Kind::SpanBegin, FIXED, site.get());
    // If nothing is recorded anymore, nobody reads the ring.
    if try_put(begin, &()).is_none() {
        enter_slowly(begin, span);
    }
}

#[cold]
#[inline(never)]
fn enter_slowly(begin: u64, span: &Id) {
    if !is_recording() || !put_headed(begin, Weight::Span, ()) {
        drop_span(span);
    }
}

#[inline(always)]
fn exit(site: Option<SiteId>, span: &Id) {
    let Some(site) = site else { return forget(span) };
    let end = header(Kind::SpanEnd, FIXED, site.get());
    if HAS_DROPPED.get() || try_put(end, &()).is_none() {
        exit_slowly(end, span);
    }
}

#[cold]
#[inline(never)]
fn exit_slowly(end: u64, span: &Id) {
    if !(HAS_DROPPED.get() && was_dropped(span)) {
        put_headed(end, Weight::End, ());
    }
}

/// If the site of a span is off, its end is not recorded either.
#[cold]
fn forget(span: &Id) {
    if HAS_DROPPED.get() {
        was_dropped(span);
    }
}

fn drop_span(span: &Id) {
    HAS_DROPPED.set(true);
    // This fails only at the end of a thread, when it no longer matters.
    let _ = DROPPED.try_with(|dropped| dropped.borrow_mut().push(span.clone()));
}

/// Removes a span from the dropped ones.
#[cold]
fn was_dropped(span: &Id) -> bool {
    let take = |dropped: &RefCell<Vec<Id>>| {
        let mut dropped = dropped.borrow_mut();
        let at = dropped.iter().rposition(|other| other == span)?;
        dropped.remove(at);
        HAS_DROPPED.set(!dropped.is_empty());
        Some(())
    };
    DROPPED.try_with(take).is_ok_and(|taken| taken.is_some())
}

fn level(metadata: &Metadata<'_>) -> Level {
    match *metadata.level() {
        tracing_core::Level::ERROR => Level::ERROR,
        tracing_core::Level::WARN => Level::WARN,
        tracing_core::Level::INFO => Level::INFO,
        _ => Level::DEBUG,
    }
}

#[inline(always)]
fn address_of(metadata: StaticMetadata) -> usize {
    std::ptr::from_ref(metadata).addr()
}

fn span_site(metadata: StaticMetadata) -> Option<SiteId> {
    // Spans with fields use the next byte as their address, so that the fast path finds only spans without fields.
    let hash = hash_address(address_of(metadata) + usize::from(!metadata.fields().is_empty()));
    known(hash).or_else(|| new_span_site(metadata, hash))
}

#[cold]
fn new_span_site(metadata: StaticMetadata, hash: u64) -> Option<SiteId> {
    let new = NewSite { name: metadata.name().to_owned(), level: None, place: &place(metadata), types: &[] };
    let id = ask(hash, &new)?;
    SPANS.write().unwrap_or_else(PoisonError::into_inner).insert(id, metadata);
    Some(id)
}

fn place<'a>(metadata: &'a Metadata<'_>) -> Place<'a> {
    Place {
        module: metadata.module_path().unwrap_or(metadata.target()),
        file: metadata.file().unwrap_or_default(),
        line: metadata.line().unwrap_or(0),
    }
}

/// Records the fields of an event or a span as a log entry; a span without fields has none.
fn put_fields(metadata: StaticMetadata, visit: impl FnOnce(&mut Fields)) {
    if !is_on(generation()) {
        return;
    }
    with_fields(|fields| {
        visit(fields);
        if fields.types.is_empty() && metadata.is_span() {
            return;
        }
        fields.log((address_of(metadata), "fields"), level(metadata), &place(metadata));
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
