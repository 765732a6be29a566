//! Queries that exceed limits are rejected; the process continues.

mod common;

use std::{
    thread,
    time::{Duration, Instant},
};

use traceloom_query::{Options, Session};

/// Stack size of a thread of the viewer, or less.
const SMALL_STACK: usize = 1 << 20;

fn session(memory_bytes: u64) -> Session {
    let path = common::fixture("easyprofiler/v210_nested_threads.prof");
    Session::open(&[path], &Options { memory_bytes, ..Options::default() }).expect("it is a trace")
}

fn ask(memory_bytes: u64, sql: String) -> Result<Vec<String>, String> {
    let ask = move || common::answer(&session(memory_bytes), &sql);
    thread::Builder::new().stack_size(SMALL_STACK).spawn(ask).expect("a thread").join().expect("no panic")
}

fn chain(terms: usize, operator: &str) -> String {
    vec!["(dur_ns % 7 = 3)"; terms].join(operator)
}

#[test]
fn deep_expressions_are_answered_or_refused() {
    let sum = |terms: usize| format!("select {}", vec!["1"; terms].join("+"));
    assert_eq!(ask(64 << 20, sum(900)).expect("an answer")[1], "900");
    for terms in [2_000, 20_000, 500_000] {
        let refusal = ask(64 << 20, sum(terms)).expect_err("too deep");
        assert!(refusal.contains("at most 1000 are allowed"), "{refusal}");
    }
    for operator in [" or ", " and "] {
        ask(64 << 20, format!("select count(*) from spans where {}", chain(300, operator))).expect("an answer");
        ask(64 << 20, format!("select count(*) from spans where {}", chain(2_000, operator))).expect_err("too deep");
    }
    ask(64 << 20, vec!["select 1"; 200].join(" union all ")).expect("an answer");
    ask(64 << 20, vec!["select 1"; 3_000].join(" union all ")).expect_err("too deep");
    let relations: Vec<String> = (0..3_000).map(|number| format!("spans s{number}")).collect();
    ask(64 << 20, format!("select 1 from {}", relations.join(", "))).expect_err("too deep");
    ask(64 << 20, format!("select {}1{}", "(".repeat(5_000), ")".repeat(5_000))).expect_err("too deep");
    ask(64 << 20, format!("select {}1", "- ".repeat(5_000))).expect_err("too deep");
    ask(64 << 20, format!("select '{}'", "x".repeat(2 << 20))).expect_err("too long");
}

#[test]
fn the_depth_of_a_query_is_measured_in_one_pass() {
    let begin = Instant::now();
    let refusal = ask(64 << 20, "(".repeat(500_000)).expect_err("too deep");
    assert!(refusal.contains("nests 500001 operators"), "{refusal}");
    // Adding up all open parentheses at each of them takes minutes.
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[test]
fn long_lists_are_not_deep() {
    let numbers: Vec<String> = (0..20_000).map(|number| format!("-{number}")).collect();
    ask(64 << 20, format!("select count(*) from spans where dur_ns in ({})", numbers.join(", "))).expect("an answer");
    let cases: Vec<String> = (0..2_000).map(|number| format!("when dur_ns = {number} then {number} + 1")).collect();
    ask(64 << 20, format!("select case {} end from spans limit 1", cases.join(" "))).expect("an answer");
}

/// Each name expands to twice as much as the previous one.
fn doubled(first: &str, twice: &str, last: &str) -> String {
    let names = (1..40).map(|number| format!("a{number} as (select {twice} as x from a{})", number - 1));
    format!("with a0 as (select {first} as x), {} select {last} from a39", names.collect::<Vec<_>>().join(", "))
}

#[test]
fn values_that_grow_without_bound_are_refused() {
    for sql in [
        "select array_repeat(1, 2000000000)",
        "select list_repeat('x', 9000000000000000000)",
        "select array_repeat(dur_ns, 100000000) from spans",
        "select array_resize([1], 2000000000, 0)",
        "select range(0, 2000000000)",
        "select range(-2000000000, 0, 1)",
        "select generate_series(9000000000000000000)",
        "select generate_series(dur_ns * 0, 2000000000) from spans",
        "select lpad('x', 2000000000)",
        "select rpad(name, 200000000, 'ab') from spans",
        "select cardinality(array_repeat(array_repeat(array_repeat(1, 100000), 100000), 100000))",
        "select string_agg('0123456789abcdef', ',') from generate_series(1, 100000000)",
        "select array_agg(value) from generate_series(1, 100000000)",
        &doubled("'0123456789'", "x || x", "length(x)"),
        &doubled("make_array(1)", "array_concat(x, x)", "cardinality(x)"),
        &doubled("make_array(1)", "x || x", "cardinality(x)"),
        &doubled("1", "make_array(x, x, x, x)", "x"),
        &doubled("'a'", "array_to_string(make_array(x, x, x, x), x)", "length(x)"),
        &doubled("'a'", "overlay(x placing x from 1 for 0)", "length(x)"),
    ] {
        let refusal = ask(16 << 20, sql.to_owned()).expect_err(sql);
        assert!(
            refusal.contains("MB") || refusal.contains("exceeded") || refusal.contains("large"),
            "{sql}: {refusal}"
        );
    }
}

#[test]
fn the_columns_of_a_query_share_its_memory() {
    let select = |column: fn(usize) -> String, from: &str| {
        format!("select {} from {from}", (0..200).map(column).collect::<Vec<_>>().join(", "))
    };
    let columns: [fn(usize) -> String; 3] =
        [|n| format!("s || '{n}'"), |n| format!("upper(concat(s, '{n}'))"), |n| format!("reverse(s) as c{n}")];
    for column in columns {
        // Ten megabytes in each column.
        let sql = format!("with t as (select repeat(repeat('x', 1000), 10000) as s) {}", select(column, "t"));
        let refusal = ask(64 << 20, sql.clone()).expect_err(&sql);
        assert!(refusal.contains("exceeds its memory limit"), "{refusal}");
    }
    let small = ask(64 << 20, select(|n| format!("concat(name, '{n}') as c{n}"), "spans limit 1")).expect("an answer");
    assert!(small[1].contains("199"), "{small:?}");
}

#[test]
fn a_value_that_is_repeated_for_each_row_is_measured() {
    let literal = format!("'{}'", "x".repeat(100_000));
    for value in ["repeat('x', 100000)", "repeat('x', 50000) || repeat('y', 50000)", &literal] {
        for column in [value.to_owned(), format!("[{value}]")] {
            let refusal = ask(64 << 20, format!("select {column} as s from generate_series(1, 8000)"));
            let refusal = refusal.expect_err("eight hundred megabytes");
            assert!(refusal.contains("exceeds its memory limit"), "{column:.50}: {refusal}");
            let few = format!("with t as (select {column} as s from generate_series(1, 9)) select s, s as t from t");
            assert_eq!(ask(64 << 20, few).map(|rows| rows.len()), Ok(10), "{column:.50}");
        }
        let compared = format!("select count(*) from generate_series(1, 8000) where cast(value as varchar) <> {value}");
        assert_eq!(ask(64 << 20, compared).expect("nothing is copied")[1], "8000", "{value:.50}");
    }
}

#[test]
fn types_that_grow_without_bound_are_refused() {
    for sql in [
        &doubled("1", "struct(x, x)", "x"),
        &doubled("1", "named_struct('a', x, 'b', x)", "count(x)"),
        &doubled("1", "{a: x, b: x}", "x"),
        &doubled("1", "map(['a'], [struct(x, x)])", "x"),
        &doubled("make_array(1)", "arrays_zip(x, x)", "x"),
    ] {
        let refusal = ask(16 << 20, sql.to_owned()).expect_err(sql);
        assert!(refusal.contains("fields"), "{sql}: {refusal}");
    }
}

#[test]
fn structures_with_two_fields_of_one_name_are_refused() {
    for sql in ["select named_struct('a', 1, 'a', 2)", "select make_array({b: {a: 1, a: 2}})"] {
        let refusal = ask(64 << 20, sql.to_owned()).expect_err(sql);
        assert!(refusal.contains("a structure has two fields named a"), "{sql}: {refusal}");
    }
}

#[test]
fn long_fixed_size_lists_are_refused() {
    for sql in [
        "select try_cast(make_array(1) as bigint[2000000000])",
        "select cardinality(cast(make_array(1) as bigint[2000000000]))",
        "select make_array(make_array(1))::bigint[50000][50000]",
        "select count(try_cast(make_array(dur_ns) as bigint[100000])) from spans",
        "select arrow_cast(make_array(1), 'FixedSizeList(2000000000, Int64)')",
        "select arrow_try_cast(make_array(1), 'FixedSizeList(2000000000, Int64)')",
        "select arrow_cast('a', 'FixedSizeBinary(2000000000)')",
    ] {
        let refusal = ask(16 << 20, sql.to_owned()).expect_err(sql);
        assert!(refusal.contains("fixed-size"), "{sql}: {refusal}");
    }
}

#[test]
fn a_short_query_with_a_huge_plan_is_refused() {
    let names = (1..40).map(|number| format!("a{number} as (select l.x from a{0} l, a{0} r)", number - 1));
    let sql = format!("with a0 as (select 1 as x), {} select x from a39", names.collect::<Vec<_>>().join(", "));
    let refusal = ask(64 << 20, sql).expect_err("2 to the 39 scans");
    assert!(refusal.contains("operators"), "{refusal}");
}

#[test]
fn functions_work_within_their_limits() {
    let rows = ask(
        64 << 20,
        "select lpad('7', 3, '0'), rpad('7', 3, '.'), array_repeat(1, 3), range(0, 3), 'a' || 'b', make_array(1, 2)"
            .into(),
    );
    assert_eq!(rows.expect("an answer")[1], "007 | 7.. | [1, 1, 1] | [0, 1, 2] | ab | [1, 2]");
    let nested = "select struct(1, 'a'), named_struct('a', 1), map(['k'], [2]), cast([1, 2] as bigint[2])";
    assert_eq!(ask(64 << 20, nested.into()).expect("an answer")[1], "{c0: 1, c1: a} | {a: 1} | {k: 2} | [1, 2]");
    let heads = ask(64 << 20, "select 'a' || 'b', name || 'x' as y from spans limit 1".into()).expect("an answer");
    assert_eq!(heads[0], "Utf8(\"a\") || Utf8(\"b\") | y");
}
