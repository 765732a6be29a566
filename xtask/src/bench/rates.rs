//! The table of docs/cluster.md: how many bytes of a trace a core reads per second, by format and query.

use std::{fs, path::Path, process::Command};

use super::table::{self, Table, measure};
use crate::{
    Outcome,
    files::{self, failed},
    process::{run, target_folder},
};

pub(super) static TABLE: Table = Table { page: "docs/cluster.md", name: "rates", command: "cargo xtask bench --rates" };

/// Records of each file.
const RECORDS: &str = "1000000";

/// A query over a generated trace.
struct Rate {
    format: &'static str,
    id: &'static str,
    query: &'static str,
    sql: &'static str,
}

static RATES: &[Rate] = &[
    Rate {
        format: "EasyProfiler",
        id: "easyprofiler",
        query: "names: calls, total and self time",
        sql: "select name, count(*), sum(dur_ns), sum(self_ns) from spans group by name",
    },
    Rate {
        format: "EasyProfiler",
        id: "easyprofiler",
        query: "parents, depths and times of all spans",
        sql: "select max(parent_id), max(depth), max(ts_ns), max(dur_ns) from spans",
    },
    Rate {
        format: "CNanoLog",
        id: "cnanolog",
        query: "entries per level",
        sql: "select level_name, count(*) from logs group by level_name",
    },
    Rate {
        format: "CNanoLog",
        id: "cnanolog",
        query: "length of every message",
        sql: "select sum(length(message)) from logs",
    },
    Rate {
        format: "Memlyze",
        id: "memlyze",
        query: "live allocations",
        sql: "select count(*), sum(size_bytes) from allocations where fate = 'live'",
    },
    Rate {
        format: "WTF",
        id: "wtf",
        query: "names: calls and total time",
        sql: "select name, count(*), sum(dur_ns) from spans group by name",
    },
    Rate {
        format: "NYTProf",
        id: "nytprof",
        query: "calls per function",
        sql: "select name, count(*) from spans group by name",
    },
];

/// Measures and replaces the table.
pub(super) fn write(program: Option<&String>) -> Outcome {
    let (program, benches) = (table::program(program)?, table::built("traceloom-benches", "traceloom-benches")?);
    let folder = target_folder().join("bench/rates");
    files::remove_folder(&folder)?;
    files::make_folder(&folder)?;
    let mut rows = String::from("| trace | query | MB/s per core |\n|---|---|---|\n");
    for rate in RATES {
        let file = folder.join(rate.id);
        if !file.is_file() {
            run(Command::new(&benches).args(["make", rate.id]).arg(&file).arg(RECORDS))?;
        }
        let megabytes = fs::metadata(&file).map_err(failed(&file))?.len() as f64 / 1e6;
        let per_second = megabytes / seconds(&program, &file, rate.sql)?;
        rows.push_str(&format!("| {}, {megabytes:.0} MB | {} | {per_second:.0} |\n", rate.format, rate.query));
    }
    files::remove_folder(&folder)?;
    TABLE.write(&rows)
}

/// CPU seconds of a query on one thread, with the start of the program.
fn seconds(program: &Path, file: &Path, sql: &str) -> Outcome<f64> {
    measure(Command::new(program).args(["query", "--threads", "1"]).arg(file).arg(sql))
}
