//! Compares aggregates by name with the results of the unmodified engine.

use std::{collections::BTreeMap, sync::Arc};

use arrow_array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray, types::Int64Type};
use arrow_schema::{DataType, Field, Schema};
use datafusion::{
    arrow::{array::AsArray, util::pretty::pretty_format_batches},
    common::tree_node::{TreeNode, TreeNodeRecursion},
    datasource::MemTable,
    execution::{
        SessionStateBuilder,
        memory_pool::{GreedyMemoryPool, MemoryPool},
        runtime_env::RuntimeEnvBuilder,
    },
    physical_plan::{ExecutionPlan, collect},
    prelude::{SessionConfig, SessionContext},
};

use super::{GroupByIndex, GroupByNumber, function::name_type};

/// Rows with a name that is sometimes NULL: two streams of batches, in which two dictionaries alternate.
fn table(names: i32, rows: i32) -> Arc<MemTable> {
    let fields = vec![Field::new("name", name_type(), true), Field::new("n", DataType::Int64, true)];
    let schema = Arc::new(Schema::new(fields));
    let dictionary = |is_turned: bool| -> ArrayRef {
        let name = |entry: i32| Some(format!("name {}", place(entry, names, is_turned)));
        Arc::new((0..names).map(name).collect::<StringArray>())
    };
    let dictionaries = [false, true].map(dictionary);
    let batch = |number: i32, is_turned: bool| {
        let rows = number * 1000..((number + 1) * 1000).min(rows);
        // Batches without NULL take the fast path.
        let is_name = |row: i32| number % 4 != 3 || row % 11 != 5;
        let key = |row: i32| is_name(row).then_some(place(row % names, names, is_turned));
        let keys: Int32Array = rows.clone().map(key).collect();
        let values: Int64Array = rows.map(|row| (row % 7 != 3).then_some(i64::from(row))).collect();
        let entries = Arc::clone(&dictionaries[usize::from(is_turned)]);
        let names: ArrayRef = Arc::new(DictionaryArray::new(keys, entries));
        RecordBatch::try_new(Arc::clone(&schema), vec![names, Arc::new(values)]).expect("two columns")
    };
    // A dictionary stays for two batches.
    let stream = |shift: i32| -> Vec<RecordBatch> {
        (0..(rows + 999) / 1000).map(|number| batch(number, (number + shift) / 2 % 2 == 1)).collect()
    };
    Arc::new(MemTable::try_new(Arc::clone(&schema), vec![stream(0), stream(1)]).expect("batches of one kind"))
}

/// The index of a name in a dictionary, and the name at that index.
fn place(number: i32, names: i32, is_turned: bool) -> i32 {
    if is_turned { names - 1 - number } else { number }
}

/// A session with our rules, or without.
fn context(table: &Arc<MemTable>, memory_bytes: usize, is_ours: bool) -> SessionContext {
    let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(memory_bytes));
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::clone(&pool)).build_arc().expect("a place to work");
    let config = SessionConfig::new().with_target_partitions(2);
    let mut state = SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).with_default_features();
    if is_ours {
        state = state
            .with_optimizer_rule(Arc::new(GroupByNumber { pool }))
            .with_physical_optimizer_rule(Arc::new(GroupByIndex));
    }
    let context = SessionContext::new_with_state(state.build());
    context.register_table("t", Arc::clone(table) as _).expect("a new name");
    context
}

fn wait<T>(future: impl Future<Output = datafusion::common::Result<T>>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("threads");
    runtime.block_on(future).expect("a good question")
}

fn plan(context: &SessionContext, sql: &str) -> Arc<dyn ExecutionPlan> {
    wait(async { context.sql(sql).await?.create_physical_plan().await })
}

/// Our operator in a plan.
fn indexed(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let mut found = None;
    plan.apply(|node| {
        if node.name() == "IndexedExec" {
            found = Some(Arc::clone(node));
        }
        Ok(TreeNodeRecursion::Continue)
    })
    .expect("nothing fails here");
    found
}

fn answer(context: &SessionContext, sql: &str) -> String {
    let plan = plan(context, sql);
    pretty_format_batches(&wait(collect(plan, context.task_ctx()))).expect("cells have texts").to_string()
}

const PLENTY: usize = 1 << 30;

#[test]
fn answers_are_those_of_the_engine() {
    let table = table(13, 5000);
    let (ours, theirs) = (context(&table, PLENTY, true), context(&table, PLENTY, false));
    for columns in [
        "count(*), sum(n), min(n), max(n), avg(n)",
        "count(n), count(*) filter (where n % 2 = 0), sum(n) filter (where n > 4000)",
        "stddev(n), bool_or(n = 77), min(name), max(cast(n as varchar))",
        "count(distinct n % 10)",
        "first_value(n order by n desc), array_agg(n order by n)",
        "name as again",
    ] {
        for rest in ["group by name order by name", "where n > 100 group by name having count(*) > 3 order by name"] {
            let sql = format!("select name, {columns} from t {rest}");
            assert_eq!(answer(&ours, &sql), answer(&theirs, &sql), "{sql}");
        }
    }
}

#[test]
fn what_is_in_no_row_is_no_group() {
    let table = table(13, 5000);
    let (ours, theirs) = (context(&table, PLENTY, true), context(&table, PLENTY, false));
    for sql in ["select name, count(*) from t where n = 26 group by name", "select distinct name from t where n < 0"] {
        assert_eq!(answer(&ours, sql), answer(&theirs, sql), "{sql}");
    }
}

#[test]
fn one_name_needs_no_hash() {
    let ours = context(&table(3, 10), PLENTY, true);
    let is_indexed = |sql: &str| indexed(&plan(&ours, sql)).is_some();
    assert!(is_indexed("select name, count(*), sum(n) from t group by name order by 2 limit 1"));
    assert!(is_indexed("select count(*) filter (where n > 1) from t where n < 9 group by name"));
    assert!(is_indexed("select distinct name from t"));
    assert!(!is_indexed("select name, n, count(*) from t group by name, n"));
    assert!(!is_indexed("select name, count(*) from t group by rollup (name)"));
    assert!(!is_indexed("select name, array_agg(n order by n) from t group by name"));
    assert!(!is_indexed("select count(*) from t"));
}

#[test]
fn groups_without_room_go_on_to_the_second_half() {
    let table = table(20_000, 40_000);
    let sql = "select name, count(*), sum(n), min(n), max(n), sum(n + 1), sum(n + 2) from t group by name";
    let limited = context(&table, 3 << 20, true);
    let indexed = indexed(&plan(&limited, sql)).expect("an aggregate by name");
    let batches = wait(collect(indexed, limited.task_ctx()));
    let mut counts = BTreeMap::<_, i64>::new();
    for batch in &batches {
        let names = batch.column(0).as_primitive::<arrow_array::types::UInt32Type>();
        let rows = batch.column(1).as_primitive::<Int64Type>();
        for (name, rows) in names.iter().zip(rows.values()) {
            *counts.entry(name).or_default() += rows;
        }
    }
    assert!(batches.len() > 2, "there was room for everything in {} batches", batches.len());
    assert_eq!(counts.values().sum::<i64>(), 80_000);
    assert_eq!(counts.len(), 20_001);
}
