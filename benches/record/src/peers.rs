//! The same work through `tracing`, and through other recorders.

use std::path::Path;

use traceloom_core::Result;
use traceloom_record::{Flight, RecordLayer, RecordSubscriber, Recorder, flush};
use tracing::{
    Dispatch, Metadata, Subscriber,
    dispatcher::with_default as with,
    span::{Attributes, Id, Record},
    subscriber::{Interest, with_default},
};
use tracing_subscriber::layer::SubscriberExt;

use crate::{burst, cost, median_of, pairs, row, row_ns};

/// A subscriber that does nothing, to measure the cost of `tracing` itself.
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

/// Spans through our subscriber, which may cost at most 30 ns more than an empty one.
pub(crate) fn tracing(profile: &Path) -> Result<bool> {
    let empty = Dispatch::new(Empty);
    row("tracing span, empty subscriber", with(&empty, || cost(|_| tracing_span(), || ())), None);
    let flight = Flight { bytes: 1 << 20, age: None };
    let guard = Recorder::new().prof(profile).flight(flight).ring_bytes(crate::RING_BYTES).start()?;
    let settle = || drop(flush());
    let ours = Dispatch::new(RecordSubscriber);
    row("tracing span, our subscriber", with(&ours, || cost(|_| tracing_span(), settle)), None);
    let spans = || burst(|_| tracing_span());
    let pairs = pairs(
        || with(&empty, spans),
        || {
            let ns = with(&ours, spans);
            settle();
            ns
        },
    );
    let met = row_ns("  above the empty one", median_of(&pairs, |[empty, ours]| ours - empty), 30.0);
    let layered = with_default(tracing_subscriber::registry().with(RecordLayer), || cost(|_| tracing_span(), settle));
    row("tracing span, registry and our layer", layered, None);
    guard.close()?;
    Ok(met)
}

/// A reporter for fastrace, which records nothing without one.
struct Nobody;

impl fastrace::collector::Reporter for Nobody {
    fn report(&mut self, _: Vec<fastrace::collector::SpanRecord>) {}
}

/// fastrace keeps at most about 4000 local spans per parent.
const SPANS_OF_A_PARENT: u32 = 1000;

/// The cost of a span in other recorders.
pub(crate) fn others(folder: &Path) {
    puffin::set_scopes_on(true);
    let puffin = cost(
        |_| {
            puffin::profile_scope!("span");
        },
        || puffin::GlobalProfiler::lock().new_frame(),
    );
    row("puffin scope", puffin, None);

    let (layer, guard) = tracing_chrome::ChromeLayerBuilder::new().file(folder.join("chrome.json")).build();
    let chrome = with_default(tracing_subscriber::registry().with(layer), || cost(|_| tracing_span(), || ()));
    row("tracing-chrome span", chrome, None);
    drop(guard);

    let layer = tracing_perfetto::PerfettoLayer::new(std::io::sink);
    let perfetto = with_default(tracing_subscriber::registry().with(layer), || cost(|_| tracing_span(), || ()));
    row("tracing-perfetto span, written to nobody", perfetto, None);

    fastrace::set_reporter(Nobody, fastrace::collector::Config::default());
    let mut parent = None;
    let span = |at: u32| {
        if at.is_multiple_of(SPANS_OF_A_PARENT) {
            // The guard must be dropped before its span.
            drop(parent.take());
            let root = fastrace::Span::root("root", fastrace::collector::SpanContext::random());
            parent = Some((root.set_local_parent(), root));
        }
        drop(fastrace::local::LocalSpan::enter_with_local_parent("span"));
    };
    row("fastrace local span, reported to nobody", cost(span, fastrace::flush), None);
}
