//! Prints the CPU time of our codecs relative to the baseline, measured in one run.

mod advise;
mod analysis;
#[cfg(feature = "sql")]
mod assist;
#[cfg(feature = "sql")]
mod cluster;
mod cnanolog;
mod easyprofiler;
mod export;
#[cfg(feature = "sql")]
mod fleet;
mod measure;
mod memlyze;
mod nytprof;
#[cfg(feature = "sql")]
mod query;
#[cfg(feature = "sql")]
mod store;
mod tables;
mod threads;
mod viewer;
mod wtf;

use std::{
    env,
    fs::File,
    io::BufWriter,
    process::{Command, ExitCode},
};

use traceloom_core::Result;

/// A format's benchmark.
struct Bench {
    id: &'static str,
    /// Writes a file of about this many records.
    make: fn(BufWriter<File>, u64) -> Result<()>,
    /// Measures and prints; returns false if a bar is missed.
    run: fn() -> Result<bool>,
}

static BENCHES: &[Bench] = &[
    Bench { id: "advise", make: easyprofiler::make, run: advise::run },
    Bench { id: "analysis", make: easyprofiler::make, run: analysis::run },
    #[cfg(feature = "sql")]
    Bench { id: "assist", make: easyprofiler::make, run: assist::run },
    Bench { id: "cnanolog", make: cnanolog::make, run: cnanolog::run },
    Bench { id: "easyprofiler", make: easyprofiler::make, run: easyprofiler::run },
    Bench { id: "export", make: easyprofiler::make, run: export::run },
    #[cfg(feature = "sql")]
    Bench { id: "fleet", make: easyprofiler::make, run: fleet::run },
    Bench { id: "memlyze", make: memlyze::make, run: memlyze::run },
    Bench { id: "nytprof", make: nytprof::make, run: nytprof::run },
    #[cfg(feature = "sql")]
    Bench { id: "query", make: easyprofiler::make, run: query::run },
    #[cfg(feature = "sql")]
    Bench { id: "store", make: easyprofiler::make, run: store::run },
    Bench { id: "tables", make: easyprofiler::make, run: tables::run },
    Bench { id: "threads", make: easyprofiler::make, run: threads::run },
    Bench { id: "viewer", make: easyprofiler::make, run: viewer::run },
    Bench { id: "wtf", make: wtf::make, run: wtf::run },
];

const USAGE: &str = "usage: traceloom-benches make FORMAT OUT RECORDS | run [FORMAT]… | cluster PROGRAM | serve FILE";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["make", format, out, records] => make(format, out, records),
        ["run", formats @ ..] => run(formats),
        #[cfg(feature = "sql")]
        ["cluster", program] => cluster::run(program),
        ["serve", file] => viewer::serve(file),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn make(format: &str, out: &str, records: &str) -> Result<bool> {
    let bench = BENCHES.iter().find(|bench| bench.id == format);
    let (Some(bench), Ok(records)) = (bench, records.parse()) else {
        eprintln!("{USAGE}");
        return Ok(false);
    };
    (bench.make)(BufWriter::new(File::create(out)?), records)?;
    Ok(true)
}

fn run(formats: &[&str]) -> Result<bool> {
    let chosen: Vec<_> = BENCHES.iter().filter(|bench| formats.is_empty() || formats.contains(&bench.id)).collect();
    match chosen.as_slice() {
        [bench] => (bench.run)(),
        several => {
            let mut met = true;
            for bench in several {
                // One process per benchmark, because the peak of one would be the peak of all that follow.
                met &= Command::new(env::current_exe()?).args(["run", bench.id]).status()?.success();
            }
            Ok(met)
        }
    }
}
