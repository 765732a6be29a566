//! The ten lines that the README shows, compiled as an example and run.

mod common;

use std::{fs::File, process::Command};

use common::{Recording, example, messages};
use traceloom_core::{Options, Records, Source};
use traceloom_easyprofiler::Record;

#[test]
fn ten_lines_record_a_log_and_a_profile() {
    let (_, code) = include_str!("../examples/ten_lines.rs").split_once('\n').unwrap();
    assert!(
        include_str!("../../../README.md").contains(&format!("```rust,ignore\n{code}```")),
        "README.md shows others"
    );
    assert_eq!(code.lines().count(), 10);
    let recording = Recording::new();
    let status = Command::new(example("ten_lines")).current_dir(recording.path("")).status().unwrap();
    assert!(status.success());
    assert_eq!(messages(&recording.path("app.clog")), ["step 1 of 3", "step 2 of 3", "step 3 of 3"]);
    let profile = Source::file(File::open(recording.path("app.prof")).unwrap());
    let mut reader = traceloom_easyprofiler::open(profile, &Options::strict()).unwrap();
    let mut blocks = 0;
    while let Some(located) = reader.next().unwrap() {
        blocks += u32::from(matches!(located.record, Record::Block(_)));
    }
    assert!(blocks >= 3, "{blocks} blocks");
}
