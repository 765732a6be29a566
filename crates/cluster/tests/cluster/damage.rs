//! Damaged traces: the query returns a result and reports missing data.

use std::{fs, path::Path, process::Command};

use traceloom_testkit::fixture;

use crate::{
    support::{self, Cluster, SAMPLE},
    traceloom,
};

/// Exit code, rows and messages.
fn ask(cluster: Option<&Cluster>, inputs: &[&Path], arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(traceloom());
    let sql = "select name, count(*) as spans from spans group by name order by name";
    command.arg("query").args(inputs).arg(sql).args(["--format", "csv"]).args(arguments);
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
        let here = ask(None, &[folder.path()], arguments);
        assert!(here.1.lines().count() > 2, "{here:?}");
        assert_eq!(ask(Some(&cluster), &[folder.path()], arguments), here, "{arguments:?}");
        assert_eq!(here.0, Some(if arguments == ["--allow-damaged"] { 0 } else { 1 }), "{here:?}");
        let names = ["cut.prof: ", "11 files are not traces: ", "09.txt and 1 more"];
        let is_said = names.iter().all(|name| here.2.contains(name));
        assert!(if arguments == ["--quiet"] { here.2.is_empty() } else { is_said }, "{here:?}");
    }
}

#[test]
fn inputs_that_cannot_be_opened_are_left_out_as_on_one_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let [missing, text, cut] = ["missing.prof", "text.prof", "cut.prof"].map(|name| folder.path().join(name));
    let (sample, unreachable) = (fixture(SAMPLE), Path::new("http://127.0.0.1:9/a.prof"));
    fs::write(&text, "no trace").expect("the folder is ours");
    let bytes = fs::read(&sample).expect("a fixture");
    fs::write(&cut, &bytes[..bytes.len() * 3 / 5]).expect("the folder is ours");
    let cluster = Cluster::start(1);
    let cases: [(&[&Path], i32); 6] = [
        (&[&missing, &sample], 2),
        (&[&sample, unreachable], 2),
        (&[&text, &sample, &missing, &cut], 2),
        (&[&sample, &text], 1),
        (&[&missing], 2),
        (&[&text], 1),
    ];
    for (inputs, code) in cases {
        for arguments in [&[][..], &["--allow-damaged"]] {
            let here = ask(None, inputs, arguments);
            assert_eq!(here.0, Some(code), "{inputs:?} {here:?}");
            assert_eq!(here.1.is_empty(), inputs.len() == 1, "{inputs:?} {here:?}");
            let lost = inputs.iter().filter(|input| ![sample.as_path(), cut.as_path()].contains(*input));
            let reported = here.2.lines().filter(|line| line.starts_with("error: "));
            assert_eq!(reported.count(), lost.count(), "{inputs:?} {here:?}");
            assert_eq!(ask(Some(&cluster), inputs, arguments), here, "{inputs:?} {arguments:?}");
        }
    }
}
