//! `tracing` and `log`: fields arrive with their types.

mod common;

use std::{fs::File, path::Path};

use common::{Recording, lines, messages};
use log::kv::ToValue;
use traceloom_cnanolog::{Record, raw::ArgType};
use traceloom_core::{Options, Records, Source};
use traceloom_easyprofiler as prof;
use traceloom_record::{LogBackend, RecordLayer, RecordSubscriber, Recorder};
use tracing_subscriber::layer::SubscriberExt;

fn work() {
    let span = tracing::info_span!("outer", user = "ann", tries = 3u64, late = tracing::field::Empty);
    let _outer = span.enter();
    span.record("late", 5i64);
    tracing::warn!(size = 7i64, ratio = 0.5, ok = true, name = "x", odd = ?Some(1), "hello {}", "world");
    tracing::debug_span!("inner").in_scope(|| tracing::error!("inside"));
}

/// Formats and the types of their arguments, as the file declares them.
fn dictionary(path: &Path) -> Vec<(String, Vec<ArgType>)> {
    let source = Source::file(File::open(path).unwrap());
    let mut reader = traceloom_cnanolog::open(source, &Options::strict()).unwrap();
    let mut sites = Vec::new();
    while let Some(located) = reader.next().unwrap() {
        if let Record::Site(site) = located.record {
            sites.push((String::from_utf8(site.format.to_vec()).unwrap(), site.stored_types().collect()));
        }
    }
    sites
}

fn check(recording: &Recording, subscriber: impl tracing::Subscriber + Send + Sync) {
    let (log, profile) = (recording.path("tracing.clog"), recording.path("tracing.prof"));
    let guard = Recorder::new().clog(&log).prof(&profile).start().unwrap();
    tracing::subscriber::with_default(subscriber, || (0..2).for_each(|_| work()));
    guard.close().unwrap();
    let expected = [
        "INFO user=ann tries=3",
        "INFO late=5",
        "WARN hello world size=7 ratio=0.5 ok=1 name=x odd=Some(1)",
        "ERROR inside",
    ];
    assert_eq!(lines(&log), expected.repeat(2));
    let (int, count, flag) = (ArgType::INT64, ArgType::UINT64, ArgType::INT32);
    let (real, text) = (ArgType::DOUBLE, ArgType::STRING);
    let types = [
        ("user=%s tries=%u", vec![text, count]),
        ("late=%d", vec![int]),
        ("%s size=%d ratio=%g ok=%d name=%s odd=%s", vec![text, int, real, flag, text, text]),
        ("%s", vec![text]),
    ];
    assert_eq!(dictionary(&log), types.map(|(format, types)| (format.to_owned(), types)));
    let mut reader = prof::open(Source::file(File::open(&profile).unwrap()), &Options::default()).unwrap();
    let (mut names, mut blocks) = (Vec::new(), Vec::new());
    while let Some(located) = reader.next().unwrap() {
        match located.record {
            prof::Record::Descriptor(descriptor) => {
                names.push(String::from_utf8_lossy(descriptor.name.text).into_owned());
            }
            prof::Record::Block(block) if block.begin < block.end => {
                blocks.push(names[block.descriptor as usize].clone());
            }
            _ => {}
        }
    }
    assert_eq!(blocks, ["inner", "outer", "inner", "outer"]);
}

#[test]
fn our_own_subscriber_records_spans_and_events() {
    let recording = Recording::new();
    check(&recording, RecordSubscriber);
}

#[test]
fn spans_between_two_recorders_are_in_neither() {
    let recording = Recording::new();
    let blocks = |name: &str, work: &dyn Fn()| {
        let path = recording.path(name);
        let guard = Recorder::new().prof(&path).start().unwrap();
        work();
        guard.close().unwrap();
        let mut reader = prof::open(Source::file(File::open(&path).unwrap()), &Options::default()).unwrap();
        let mut blocks = 0;
        while let Some(located) = reader.next().unwrap() {
            blocks += u32::from(matches!(located.record, prof::Record::Block(block) if block.begin < block.end));
        }
        blocks
    };
    let step = || tracing::info_span!("step").in_scope(|| std::hint::black_box(()));
    tracing::subscriber::with_default(RecordSubscriber, || {
        let kept = tracing::info_span!("kept");
        assert_eq!(blocks("first.prof", &|| (0..5).for_each(|_| step())), 5);
        (0..7).for_each(|_| step());
        (0..7).for_each(|_| kept.in_scope(step));
        assert_eq!(blocks("second.prof", &step), 1);
    });
}

#[test]
fn a_layer_records_the_same() {
    let recording = Recording::new();
    check(&recording, tracing_subscriber::registry().with(RecordLayer));
}

#[test]
fn log_records_bring_typed_key_values() {
    let recording = Recording::new();
    let path = recording.path("log.clog");
    let guard = Recorder::new().clog(&path).start().unwrap();
    let pairs =
        [("user", "ann".to_value()), ("tries", 3.to_value()), ("ratio", 0.5.to_value()), ("ok", true.to_value())];
    let record = |text: &str| {
        log::Log::log(
            &LogBackend,
            &log::Record::builder()
                .args(format_args!("login {text}"))
                .level(log::Level::Warn)
                .module_path_static(Some(module_path!()))
                .file_static(Some(file!()))
                .line(Some(7))
                .key_values(&pairs)
                .build(),
        );
    };
    record("failed");
    record("100%");
    guard.close().unwrap();
    let tail = "user=ann tries=3 ratio=0.5 ok=1";
    assert_eq!(messages(&path), [format!("login failed {tail}"), format!("login 100% {tail}")]);
    let types = vec![ArgType::STRING, ArgType::STRING, ArgType::INT64, ArgType::DOUBLE, ArgType::INT32];
    assert_eq!(dictionary(&path), [("%s user=%s tries=%d ratio=%g ok=%d".to_owned(), types)]);
}
