//! Tables of traces that are each made for one test.

use serde_json::{Value as Json, json};
use traceloom_core::{Mode, Source};
use traceloom_mapping::{Options, Trace, ingest};
use traceloom_model::{Batches, Columns, Table, Wanted, findings, resources, traces};
use traceloom_wtf::{
    Array, Composer, FileInfo, Form, TIMES_AS_COUNT, Text, TypeId, Value, ZoneId,
    raw::{Element, EventClass, EventFlags},
    sample,
};

use super::{
    common, composed,
    rows::{Arg, Rows, object},
};

/// A file with one zone.
pub(crate) struct Made {
    composer: Composer<Vec<u8>>,
    zone: ZoneId,
}

impl Made {
    fn new(info: &FileInfo) -> Self {
        let mut composer = Composer::new(Vec::new(), Form::Binary, info).unwrap();
        let zone = composer.zone(Some("z"), Some("script"), Some("here")).unwrap();
        Self { composer, zone }
    }

    fn builtin(&mut self, name: &str) -> TypeId {
        self.composer.builtin(name).unwrap()
    }

    fn define(&mut self, name: &str, class: EventClass, flags: u32, args: &str) -> TypeId {
        self.composer.define(name, class, EventFlags(flags), args).unwrap()
    }

    fn put<'v>(&mut self, time_us: i64, kind: TypeId, values: impl IntoIterator<Item = Value<'v>>) {
        self.composer.event(self.zone, kind, time_us, values).unwrap();
    }

    fn trace(self) -> Trace {
        composed(self.composer)
    }

    fn rows(self) -> Rows {
        Rows::of(&common::tables(&self.trace()).0)
    }
}

fn text(text: &str) -> Value<'_> {
    Value::Text(Some(Text::utf8(text.as_bytes())))
}

fn any(text: &str) -> Value<'_> {
    Value::Any(Some(Text::utf8(text.as_bytes())))
}

#[test]
fn scopes_tell_their_own_time_and_stay_open_if_nothing_ends_them() {
    let mut made = Made::new(&FileInfo::default());
    let (leave, scope) = (made.builtin("wtf.scope#leave"), made.define("s", EventClass::SCOPE, 0, ""));
    for (time, kind) in [(5, leave), (10, scope), (12, scope), (15, scope), (18, leave), (22, leave)] {
        made.put(time, kind, []);
    }
    let rows = made.rows();
    let told: Vec<_> =
        rows.spans.iter().map(|span| (span.id, span.parent, span.depth, span.ts, span.dur, span.own)).collect();
    assert_eq!(
        told,
        [
            (0, None, 0, 10_000, None, None),
            (1, Some(0), 1, 12_000, Some(10_000), Some(7_000)),
            (2, Some(1), 2, 15_000, Some(3_000), Some(3_000)),
        ]
    );
    let orphans: Vec<_> = rows.events.iter().map(|event| (event.ts, &*event.category, event.span)).collect();
    assert_eq!(orphans, [(5_000, "leave", None)]);
    assert_eq!(rows.times, [Some(5_000), Some(22_000)]);
}

#[test]
fn appended_data_belongs_to_the_scope_around_it_or_to_its_event() {
    let mut made = Made::new(&FileInfo::default());
    let (leave, append) = (made.builtin("wtf.scope#leave"), made.builtin("wtf.scope#appendData"));
    let scope = made.define("s", EventClass::SCOPE, 0, "uint32 n");
    let all = made.define("more", EventClass::INSTANCE, 16, "int8 a, uint16[] b");
    made.put(1, append, [text("lost"), any("1")]);
    made.put(2, scope, [Value::Uint(7)]);
    made.put(3, append, [text("k"), any("[1,{\"x\":null}]")]);
    made.put(4, append, [Value::Text(None), any("true")]);
    made.put(5, all, [Value::Int(-3), Value::Array(Some(Array::new(Element::Uint16, &[1, 0, 2, 1])))]);
    made.put(6, leave, []);
    let rows = made.rows();
    let shown = |table, id| -> Vec<String> {
        let args = rows.args_of(table, id).iter();
        let value = |arg: &Arg| format!("{:?}{:?}{:?}", arg.int, arg.unsigned, arg.text);
        args.map(|arg| format!("{} {:?} {} {}", arg.kind, arg.idx, arg.key, value(arg))).collect()
    };
    assert_eq!(
        shown(Table::Spans, 0),
        [
            "uint32 None n NoneSome(7)None",
            "any None k NoneNoneSome(\"[1,{\\\"x\\\":null}]\")",
            "any None null NoneNoneSome(\"true\")",
            "int8 None a Some(-3)NoneNone",
            "uint16[] Some(0) b NoneSome(1)None",
            "uint16[] Some(1) b NoneSome(258)None",
        ]
    );
    let [root, inner @ ..] = rows.events.as_slice() else { panic!("the events are there") };
    assert_eq!(
        shown(Table::Events, root.id),
        ["ascii None name NoneNoneSome(\"lost\")", "any None value NoneNoneSome(\"1\")"]
    );
    for event in inner {
        assert_eq!((&*event.category, event.span, shown(Table::Events, event.id).len()), ("append", Some(0), 0));
    }
}

#[test]
fn values_are_exact() {
    let mut made = Made::new(&FileInfo::default());
    let kind = made.define("v", EventClass::INSTANCE, 0, "wchar w, char c, int32[] e, int32[] n, ascii z");
    let empty = Array::new(Element::Int32, &[]);
    let values =
        [Value::Wchar(0xd83d), Value::Char(0xe9), Value::Array(Some(empty)), Value::Array(None), Value::Text(None)];
    made.put(1, kind, values);
    let rows = made.rows();
    let id = rows.events[0].id;
    let told: Vec<_> = rows
        .args_of(Table::Events, id)
        .iter()
        .map(|arg| (arg.idx, arg.text.as_deref(), arg.bytes.as_deref()))
        .collect();
    assert_eq!(
        told,
        [
            (None, Some("\u{fffd}"), Some(&[0x3d, 0xd8][..])),
            (None, Some("é"), None),
            (None, Some("[]"), None),
            (None, None, None),
            (None, None, None),
        ]
    );
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let trace = common::trace(&common::fixtures().join("wtf/hand-made/hc-string-invalid-utf8.wtf-trace"));
    let rows = Rows::of(&common::tables(&trace).0);
    let odd: Vec<_> =
        rows.args.values().flatten().filter_map(|arg| Some((arg.text.as_deref()?, arg.bytes.as_ref()?))).collect();
    let [(text, bytes)] = odd.as_slice() else { panic!("{odd:?}") };
    assert!(text.contains('\u{fffd}') && *text == String::from_utf8_lossy(bytes), "{text} {bytes:?}");
}

#[test]
fn frames_and_ranges_cross_scopes() {
    let mut made = Made::new(&FileInfo::default());
    let [start, end] = ["Start", "End"].map(|side| made.builtin(&format!("wtf.timing#frame{side}")));
    let [begin, finish] = ["begin", "end"].map(|side| made.builtin(&format!("wtf.timeRange#{side}")));
    made.put(10, start, [Value::Uint(4)]);
    made.put(11, begin, [Value::Uint(1), text("load"), any("{}")]);
    made.put(20, end, [Value::Uint(4)]);
    made.put(21, end, [Value::Uint(5)]);
    made.put(22, start, [Value::Uint(6)]);
    made.put(30, finish, [Value::Uint(1)]);
    made.put(31, begin, [Value::Uint(2), Value::Text(None), Value::Any(None)]);
    let rows = made.rows();
    let told: Vec<_> =
        rows.spans.iter().map(|span| (span.id, &*span.name, &*span.category, span.ts, span.dur, span.own)).collect();
    // A frame whose end alone is known has a number, but no row.
    assert_eq!(
        told,
        [
            (1 << 32, "frame", "frame", 10_000, Some(10_000), None),
            ((1 << 32) + 2, "frame", "frame", 22_000, None, None),
            (2 << 32, "load", "range", 11_000, Some(19_000), None),
            ((2 << 32) + 1, "range", "range", 31_000, None, None),
        ]
    );
    let categories: Vec<_> = rows.events.iter().map(|event| &*event.category).collect();
    assert_eq!(categories, ["frame", "range", "frame", "frame", "frame", "range", "range"]);
}

/// Whether a leave has a scope depends on time order, as scopes do; the rows are the same whatever is wanted.
#[test]
fn a_leave_that_is_stored_early_leaves_its_scope() {
    let mut composer = Composer::new(Vec::new(), Form::JsonEvents, &FileInfo::default()).unwrap();
    let zone = composer.zone(Some("z"), None, None).unwrap();
    let leave = composer.builtin("wtf.scope#leave").unwrap();
    let scope = composer.define("s", EventClass::SCOPE, EventFlags(0), "").unwrap();
    for (time, kind) in [(30, leave), (10, scope), (5, leave), (40, leave)] {
        composer.event(zone, kind, time, []).unwrap();
    }
    let trace = composed(composer);
    let rows = Rows::of(&common::tables(&trace).0);
    let spans: Vec<_> = rows.spans.iter().map(|span| (span.ts, span.dur)).collect();
    assert_eq!(spans, [(10_000, Some(20_000))]);
    let orphans: Vec<_> = rows.events.iter().map(|event| (event.ts, event.span)).collect();
    assert_eq!(orphans, [(5_000, None), (40_000, None)]);
    let mut few = Batches::of(Wanted::nothing().and(Table::Events, Columns::named(Table::Events, &["ts_ns"])));
    ingest(&trace, &Options::default(), &mut few).unwrap();
    assert_eq!(few.rows(Table::Events), 2);
}

#[test]
fn the_origin_is_the_timebase() {
    let about = |info: FileInfo| {
        let mut made = Made::new(&info);
        let tick = made.builtin("wtf.trace#discontinuity");
        made.put(7, tick, []);
        let (batches, _) = common::tables(&made.trace());
        let batch = batches.table(Table::Traces).next().unwrap().clone();
        let view = traces::View::of(&batch).unwrap();
        (view.clock.get(0).to_owned(), view.start_native_ns.get(0), view.unix_origin_ns.get(0), view.first_ts_ns.get(0))
    };
    let timebase = |timebase_ms, flags| FileInfo { timebase_ms, flags, ..FileInfo::default() };
    let date = 1_700_000_000_000_500_000;
    assert_eq!(about(timebase(1_700_000_000_000.5, 1)), ("wall".into(), date, Some(date), Some(7_000)));
    assert_eq!(about(timebase(12.25, 0)), ("monotonic".into(), 12_250_000, None, Some(7_000)));
    assert_eq!(about(timebase(0.0, TIMES_AS_COUNT)), ("count".into(), 0, None, Some(7)));
}

/// Two files in one, the second many centuries later.
#[test]
fn times_that_do_not_fit_are_reported() {
    let file = |timebase_ms| {
        let mut made = Made::new(&FileInfo { timebase_ms, ..FileInfo::default() });
        let (leave, scope) = (made.builtin("wtf.scope#leave"), made.define("s", EventClass::SCOPE, 0, ""));
        made.put(1, scope, []);
        made.put(u32::MAX.into(), leave, []);
        made.composer.finish().unwrap()
    };
    for (far, time) in [(1e300, i64::MAX), (-1e300, i64::MIN)] {
        let mut bytes = file(0.0);
        bytes.extend_from_slice(&file(far)[12..]);
        let trace = Trace::new("far".as_ref(), Source::bytes(bytes), None, &Options::default()).unwrap();
        let (batches, _) = common::tables(&trace);
        assert_eq!(Rows::of(&batches).spans[1].ts, time);
        let batch = batches.table(Table::Findings).next().unwrap();
        let view = findings::View::of(batch).unwrap();
        let codes: Vec<_> = (0..view.rows).map(|row| view.code.get(row)).collect();
        assert_eq!(codes, ["wtf.second-header", "tables.time-range"]);
    }
}

#[test]
fn resources_are_told_with_their_bytes() {
    let source = Source::bytes(sample::sample().unwrap().bytes);
    let trace = Trace::new("sample".as_ref(), source, None, &Options::default()).unwrap();
    let (batches, _) = common::tables(&trace);
    let batch = batches.table(Table::Resources).next().unwrap();
    let view = resources::View::of(batch).unwrap();
    assert_eq!((view.rows, view.kind.get(0)), (1, "string_resource"));
    assert_eq!(view.bytes.get(0), b"void main() { gl_FragColor = vec4(1.0); }\n");
}

#[test]
fn strict_refuses_what_the_original_refuses() {
    let path = common::fixtures().join("wtf/hand-made/hc-zone-set-unknown.wtf-trace");
    let mut options = Options::default();
    let trace = common::trace(&path);
    let mut sink = Batches::of(Wanted::everything());
    ingest(&trace, &options, &mut sink).expect("lenient reads it");
    options.read.mode = Mode::Strict;
    let error = ingest(&trace, &options, &mut sink).expect_err("the original does not load it");
    assert!(error.to_string().contains("hc-zone-set-unknown"), "{error}");
}

/// WTF decodes all events of a name with its first signature; here each has its own.
#[test]
fn types_of_one_name_stay_apart() {
    let trace = common::trace(&common::fixtures().join("wtf/wtf-cpp/cpp-samename.wtf-trace"));
    let rows = Rows::of(&common::tables(&trace).0);
    let args = rows.events.iter().map(|event| object(rows.args_of(Table::Events, event.id)));
    let told: Vec<_> = rows.events.iter().zip(args).map(|(event, args)| (&*event.name, args.into())).collect();
    let expected = (0..3).flat_map(|n| {
        [("sn#e", json!({"a": n})), ("sn#e", json!({"a": n, "b": "x", "c": 7})), ("sn#after", json!({}))]
    });
    assert_eq!(told, expected.collect::<Vec<(&str, Json)>>());
}
