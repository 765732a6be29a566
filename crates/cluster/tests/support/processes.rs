//! What processes do, as the kernel of Linux tells.

use std::{collections::BTreeSet, fs, process::Child, thread, time::Duration};

/// Names of the threads of a process.
pub fn thread_names(process: &Child) -> BTreeSet<String> {
    let tasks = fs::read_dir(format!("/proc/{}/task", process.id())).into_iter().flatten().flatten();
    let names = tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.map(|name| name.trim().to_owned()).collect()
}

/// CPU time of a process so far, in ticks of 10 ms.
pub fn cpu_ticks(process: &Child) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.id())).unwrap_or_default();
    // The name of the program, which may contain spaces, is in parentheses.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// Whether a process computes most of the time; an executor without a task only sends heartbeats.
pub fn is_busy(process: &Child) -> bool {
    let before = cpu_ticks(process);
    thread::sleep(Duration::from_millis(40));
    cpu_ticks(process) >= before + 2
}
