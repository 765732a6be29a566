//! Perfetto's own engine reads what we write and counts as we do.

mod support;

use support::{ask, counts::compare, engine_or_skip, traces};

fn compare_all(target: &str) {
    let Some(engine) = engine_or_skip() else { return };
    compare(&traces(), &format!("perfetto-{target}"), target, |files, queries| ask(&engine, files, queries));
}

#[test]
fn the_engine_counts_what_the_tables_hold() {
    compare_all("perfetto");
}

#[test]
fn the_engine_counts_the_same_in_chrome_events() {
    compare_all("chrome");
}
