//! The work of executors: one core per slot, and all executors take part.

use std::fs;

use crate::{
    BY_NAME,
    support::{
        Cluster,
        corpus::Corpus,
        embedded, file_url, finish,
        processes::{cpu_ticks, thread_names},
    },
    urls::large_capture,
};

#[test]
fn a_task_reads_on_one_thread() {
    /// The name of the threads that read a trace ahead of the rows.
    const READER: &str = "reader";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("large.prof");
    fs::write(&path, large_capture()).expect("the folder is ours");
    // The default is the number of processors, and the machine of a test may have only one.
    let cluster = Cluster::start_with(1, vec![("TRACELOOM_THREADS", "4".to_owned())]);
    let inputs = [file_url(&path)];
    let expected = embedded(&inputs, BY_NAME);
    let mut client = cluster.query(&inputs, BY_NAME).spawn().expect("the program starts");
    let before = cpu_ticks(&cluster.executors[0]);
    let mut names = thread_names(&cluster.executors[0]);
    while client.try_wait().expect("it was started").is_none() {
        names.extend(thread_names(&cluster.executors[0]));
    }
    assert_eq!(finish(client), expected);
    assert!(cpu_ticks(&cluster.executors[0]) > before, "the executor did nothing");
    assert!(names.len() > 1 && !names.contains(READER), "{names:?}");
}

#[test]
fn all_executors_take_part() {
    let corpus = Corpus::new();
    let cluster = Cluster::start(2);
    let before: Vec<u64> = cluster.executors.iter().map(cpu_ticks).collect();
    cluster.ask(&[file_url(&corpus.folder())], BY_NAME).expect("an answer");
    let after = cluster.executors.iter().map(cpu_ticks);
    let worked: Vec<u64> = before.iter().zip(after).map(|(before, after)| after - before).collect();
    let all: u64 = worked.iter().sum();
    assert!(all > 20 && worked.iter().all(|ticks| *ticks > all / 5), "CPU time in ticks: {worked:?}");
}
