//! The same work through `tracing`, and through other recorders.

use std::path::Path;

use traceloom_core::Result;
use traceloom_record::{Flight, RecordLayer, RecordSubscriber, Recorder, flush};
use tracing::{
    Metadata, Subscriber,
    span::{Attributes, Id, Record},
    subscriber::{Interest, with_default},
};
use tracing_subscriber::layer::SubscriberExt;

use crate::{median, row, verdict};

/// A subscriber that does nothing: what `tracing` itself costs.
struct Empty;

impl Subscriber for Empty {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::always()
    }
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &tracing::Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

fn tracing_span() {
    let span = tracing::info_span!("span");
    let _entered = span.enter();
}

/// Spans through our subscriber: at most 30 ns above an empty one.
pub(crate) fn tracing(profile: &Path, clock: f64) -> Result<bool> {
    let empty = with_default(Empty, || median(|_| tracing_span(), || ()));
    row("tracing span, empty subscriber", empty, clock, None);
    let flight = Flight { bytes: 1 << 20, age: None };
    let guard = Recorder::new().prof(profile).flight(flight).ring_bytes(16 << 20).start()?;
    let settle = || drop(flush());
    let ours = with_default(RecordSubscriber, || median(|_| tracing_span(), settle));
    let above = ours - empty;
    row("tracing span, our subscriber", ours, clock, None);
    println!("  {:<44} {above:>8.2} ns            bar 30 ns   {}", "  above the empty one", verdict(above <= 30.0));
    let layered = with_default(tracing_subscriber::registry().with(RecordLayer), || median(|_| tracing_span(), settle));
    row("tracing span, registry and our layer", layered, clock, None);
    guard.close()?;
    Ok(above <= 30.0)
}

/// What others take for a span.
pub(crate) fn others(folder: &Path, clock: f64) {
    puffin::set_scopes_on(true);
    let puffin = median(
        |_| {
            puffin::profile_scope!("span");
        },
        || puffin::GlobalProfiler::lock().new_frame(),
    );
    row("puffin scope", puffin, clock, None);

    let (layer, guard) = tracing_chrome::ChromeLayerBuilder::new().file(folder.join("chrome.json")).build();
    let chrome = with_default(tracing_subscriber::registry().with(layer), || median(|_| tracing_span(), || ()));
    row("tracing-chrome span", chrome, clock, None);
    drop(guard);

    let root = fastrace::Span::root("root", fastrace::collector::SpanContext::random());
    let _parent = root.set_local_parent();
    let fastrace = median(|_| drop(fastrace::local::LocalSpan::enter_with_local_parent("span")), || ());
    row("fastrace local span, no reporter", fastrace, clock, None);
}
