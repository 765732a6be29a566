//! Plans that are sent as bytes and run by another process return the same rows as the embedded engine.
//!
//! The other process is a separate session here, without tables: everything it needs is in the plan.

mod support;

use std::{collections::BTreeMap, sync::Arc};

use datafusion::{
    execution::{SessionState, SessionStateBuilder, context::QueryPlanner},
    logical_expr::LogicalPlan,
    physical_plan::{ExecutionPlan, displayable},
    physical_planner::{DefaultPhysicalPlanner, PhysicalPlanner},
    prelude::SessionContext,
};
use datafusion_proto::bytes::{
    logical_plan_from_bytes_with_extension_codec, logical_plan_to_bytes_with_extension_codec,
    physical_plan_from_bytes_with_extension_codec, physical_plan_to_bytes_with_extension_codec,
};
use traceloom_query::{Engine, LogicalCodec, Offset, Options, PhysicalCodec, Session};

use traceloom_testkit::fixture;

use crate::support::{SAMPLE, answer, examples, fleet};

/// Sends every plan through bytes, twice: the logical plan to one session, its physical plan to another.
#[derive(Debug)]
struct Travelling;

type Boxed<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl QueryPlanner for Travelling {
    fn create_physical_plan<'s, 'p, 'a, 'async_trait>(
        &'s self,
        plan: &'p LogicalPlan,
        session: &'a dyn datafusion::catalog::Session,
    ) -> Boxed<'async_trait, datafusion::common::Result<Arc<dyn ExecutionPlan>>>
    where
        's: 'async_trait,
        'p: 'async_trait,
        'a: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let text = plan.display_indent().to_string();
            if text.contains("information_schema") {
                return DefaultPhysicalPlanner::default().create_physical_plan(plan, session).await;
            }
            let stranger = SessionContext::new();
            let bytes = logical_plan_to_bytes_with_extension_codec(plan, &LogicalCodec::default())?;
            let plan =
                logical_plan_from_bytes_with_extension_codec(&bytes, &stranger.task_ctx(), &LogicalCodec::default())?;
            assert_eq!(plan.display_indent().to_string(), text, "the logical plan changed on its way");
            let plan = stranger.state().create_physical_plan(&plan).await?;
            let text = shown(&plan);
            assert!(!text.contains("IndexedExec") && !text.contains("number_of_name"), "{text}");
            let bytes = physical_plan_to_bytes_with_extension_codec(plan, &PhysicalCodec::default())?;
            let another = SessionContext::new();
            let plan =
                physical_plan_from_bytes_with_extension_codec(&bytes, &another.task_ctx(), &PhysicalCodec::default())?;
            assert_eq!(shown(&plan), text, "the plan changed on its way");
            Ok(plan)
        })
    }
}

/// A plan as text, without a hint in which order to read a file, which the engine does not send.
fn shown(plan: &Arc<dyn ExecutionPlan>) -> String {
    let text = displayable(plan.as_ref()).indent(false).to_string();
    let mut parts = text.split(", sort_order_for_reorder=[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| shown + part.split_once(']').map_or("", |(_, rest)| rest))
}

fn traveling() -> Options {
    let upgrade = |state: SessionState| {
        Ok(SessionStateBuilder::new_from_existing(state).with_query_planner(Arc::new(Travelling)).build())
    };
    Options { engine: Some(Engine::new(upgrade)), ..Options::default() }
}

#[test]
fn every_example_travels() {
    let made = tempfile::tempdir().expect("a folder");
    for (files, sql) in examples(made.path()) {
        let here = Session::open(&files, &Options::default()).expect("fixtures are traces");
        let there = Session::open(&files, &traveling()).expect("fixtures are traces");
        assert_eq!(answer(&there, &sql), answer(&here, &sql), "{sql}");
    }
}

#[test]
fn examples_over_a_fleet_store_travel() {
    let made = tempfile::tempdir().expect("a folder");
    let mut stores = BTreeMap::new();
    for (files, sql) in examples(made.path()) {
        // A store keeps the times of each file, so only the queries of one trace have the same rows.
        let [file] = files.as_slice() else { continue };
        let number = stores.len();
        let store = stores.entry(file.clone()).or_insert_with(|| fleet(&made.path().join(number.to_string()), file));
        let here = Session::open(&files, &Options::default()).expect("fixtures are traces");
        let store = std::slice::from_ref(store);
        let there = Session::open(store, &traveling()).expect("a store");
        assert_eq!(answer(&there, &sql), answer(&here, &sql), "{sql}");
    }
    let [store] = [stores.values().next().expect("a store").clone()];
    let [here, there] = [Options::default(), traveling()]
        .map(|options| Session::open(std::slice::from_ref(&store), &options).expect("a store"));
    for sql in [
        "select * from ancestors(0)",
        "select host, distance, name from descendants(18) where host = 'web1'",
        "select count(*) from descendants(18) where host = 'web2'",
        "select build, frame, count(*) from per_frame('Frame') group by build, frame",
        "select host, count(*) from spans_at('1ms') group by host",
        "select build, count(*) from quarantine group by build",
    ] {
        assert_eq!(answer(&there, sql), answer(&here, sql), "{sql}");
    }
}

#[test]
fn bounds_functions_and_places_on_the_axis_travel() {
    let files = [SAMPLE, "easyprofiler/document/real_210.prof"].map(fixture);
    let offsets = vec![Offset { path: files[1].clone(), offset_ns: 1_000_000_007 }];
    let options = |options: Options| Options { offsets: offsets.clone(), ..options };
    let here = Session::open(&files, &options(Options::default())).expect("fixtures are traces");
    let there = Session::open(&files, &options(traveling())).expect("fixtures are traces");
    for sql in [
        "select trace_id, id, ts_ns, name from spans",
        "select count(*) from spans where ts_ns >= 1000000007 and thread_id in (0, 1, 2)",
        "select path, first_ts_ns, last_ts_ns, unix_origin_ns, start_ticks from traces",
        "select trace_id, unix_time(trace_id, ts_ns) as t from spans",
        "select repeat('x', 3) || name, concat(name, '!') from spans",
        "select name, percentile(dur_ns, 0.5), human_time(max(dur_ns)) from spans group by name",
    ] {
        assert_eq!(answer(&there, sql), answer(&here, sql), "{sql}");
    }
}

#[test]
fn a_trace_that_is_gone_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gone.prof");
    std::fs::copy(fixture(SAMPLE), &path).expect("the folder is ours");
    let session = Session::open(std::slice::from_ref(&path), &traveling()).expect("a copy is a trace");
    std::fs::remove_file(&path).expect("it is there");
    let error = answer(&session, "select * from spans").expect_err("the file is gone");
    assert!(error.contains("gone.prof") && error.lines().count() == 1, "{error}");
    std::fs::copy(fixture("easyprofiler/document/all_at_once_130.prof"), &path).expect("the folder is ours");
    let error = answer(&session, "select * from spans").expect_err("it is another file");
    assert!(error.contains("has changed"), "{error}");
}
