//! The values of partition columns, which are names of folders.

mod support;

use traceloom_fleet::{Options, Tags, ingest};

use crate::support::{Traces, rows, session};

#[test]
fn any_value_of_a_partition_comes_back_and_selects_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let [traces, store] = ["traces", "a store"].map(|name| folder.path().join(name));
    Traces { count: 3, hosts: 3, spans: 2 }.plant(&traces).expect("traces");
    let hosts = ["web 1/ü=*", "..", "100%25"];
    for (number, host) in hosts.iter().enumerate() {
        let options = Options { tags: Tags::from([("host".to_owned(), (*host).to_owned())]), ..Options::default() };
        let report = ingest(&[traces.join(format!("h{number}/00{number}.prof"))], &store, &options, &mut |_| {});
        assert_eq!(report.expect("it can be written").added, 1);
    }
    let session = session(&store);
    let ask = |sql: &str| rows(session.ask(sql).expect("a good query")).expect("rows");
    let mut all = hosts.map(|host| format!("{host}\t4"));
    all.sort();
    assert_eq!(ask("select host, count(*) from spans group by host"), all);
    for host in hosts {
        let of_host = format!("{host}\t4");
        assert_eq!(ask(&format!("select host, count(*) from spans where host = '{host}' group by host")), [of_host]);
    }
    assert_eq!(ask("select count(*) from spans where host like 'web%' or host is null"), ["4"]);
    assert_eq!(ask("select count(*) from spans where host > 'x' and day = 'unknown'"), ["0"]);
    assert_eq!(ask("select count(*) from spans where false"), ["0"]);
    assert_eq!(ask("select count(*) from spans"), ["12"]);
}

#[test]
fn excluded_partitions_are_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("store");
    Traces { count: 6, hosts: 3, spans: 2 }.plant(&folder.path().join("traces")).expect("traces");
    support::add_all(&store).expect("it can be written");
    let session = session(&store);
    let plan = session.explain("select name, count(*) from spans where host = 'h1' group by name").expect("a plan");
    assert!(plan.contains("host=h1") && !plan.contains("host=h0") && !plan.contains("host=h2"), "{plan}");
}
