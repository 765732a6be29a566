//! Damaged traces: the query returns a result and reports missing data.

use std::{fs, path::Path, process::Command};

use traceloom_testkit::fixture;

use crate::{
    support::{self, Cluster, SAMPLE},
    traceloom,
};

/// Exit code, rows and messages.
fn ask(cluster: Option<&Cluster>, folder: &Path, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(traceloom());
    let sql = "select name, count(*) as spans from spans group by name order by name";
    command.arg("query").arg(folder).arg(sql).args(["--format", "csv"]).args(arguments);
    command.env("TRACELOOM_CLUSTER_PROGRAM", support::PROGRAM);
    if let Some(cluster) = cluster {
        command.args(["--cluster", &cluster.url()]);
    }
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut messages: Vec<String> = text(&output.stderr).lines().map(str::to_owned).collect();
    // Traces are read in parallel.
    messages.sort();
    (output.status.code(), text(&output.stdout), messages.join("\n"))
}

#[test]
fn damage_is_reported_as_on_one_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let sample = fs::read(fixture(SAMPLE)).expect("a fixture");
    let path = |name: &str| folder.path().join(name);
    fs::write(path("cut.prof"), &sample[..sample.len() * 3 / 5]).expect("the folder is ours");
    fs::write(path("whole.prof"), &sample).expect("the folder is ours");
    (0..11).for_each(|number| fs::write(path(&format!("{number:02}.txt")), "no trace").expect("the folder is ours"));
    let cluster = Cluster::start(2);
    for arguments in [&[][..], &["--allow-damaged"], &["--quiet"]] {
        let here = ask(None, folder.path(), arguments);
        assert!(here.1.lines().count() > 2, "{here:?}");
        assert_eq!(ask(Some(&cluster), folder.path(), arguments), here, "{arguments:?}");
        assert_eq!(here.0, Some(if arguments == ["--allow-damaged"] { 0 } else { 1 }), "{here:?}");
        let names = ["cut.prof: ", "11 files are not traces: ", "09.txt and 1 more"];
        let is_said = names.iter().all(|name| here.2.contains(name));
        assert!(if arguments == ["--quiet"] { here.2.is_empty() } else { is_said }, "{here:?}");
    }
}
