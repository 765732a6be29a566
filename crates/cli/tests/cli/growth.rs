//! The cost of what the program prints is at most proportional to its trace.

use traceloom_testkit::planted::assert_program_is_linear;

#[test]
fn texts_cost_in_proportion_to_the_trace() {
    let commands: &[(&str, &[&str])] = &[
        ("threads.prof", &["info"]),
        ("sites.clog", &["info"]),
        ("names.nytprof", &["info"]),
        ("names.wtf-trace", &["info"]),
        ("stacks.mlyze", &["info"]),
        ("names.prof", &["stats"]),
        ("threads.wtf-trace", &["stats"]),
        ("depth.prof", &["tree", "--min-share", "0%"]),
        ("names.nytprof", &["tree", "--min-share", "0%"]),
        ("names.prof", &["flame", "--format", "folded"]),
        ("sites.clog", &["log"]),
        ("sites.clog", &["log", "--json"]),
        ("sites.clog", &["log", "--sort"]),
    ];
    assert_program_is_linear(env!("CARGO_BIN_EXE_traceloom"), commands);
}
