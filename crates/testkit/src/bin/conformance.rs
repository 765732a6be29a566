//! Prints how many goldens, verdicts and rewrites of each format agree; fails if any differ.
//!
//! Folders given as arguments replace the fixtures and `TRACELOOM_CORPUS`.

use std::{path::PathBuf, process::ExitCode};

use traceloom_testkit::{conformance, default_roots};

fn main() -> ExitCode {
    let given: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let roots = if given.is_empty() { default_roots() } else { given };
    match conformance(&roots) {
        Ok(reports) => {
            reports.iter().for_each(|report| println!("{report}"));
            let agree = reports.iter().all(|report| report.differences.is_empty());
            if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
