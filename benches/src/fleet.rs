//! Ingest of many small traces into the store of a fleet, relative to the rate at which the embedded engine scans the same
//! traces: opens them and reads all columns of their spans. One pass over all tables without an engine, into a sink that drops
//! them, is printed next to it, because it is the least that any reader needs.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use traceloom_core::Result;
use traceloom_fleet::{Options, ingest};
use traceloom_mapping::{self as mapping, open};
use traceloom_model::Wanted;
use traceloom_query::Session;
use traceloom_testkit::planted::{Dice, Scene};

use crate::{
    measure::{at_least, process_time},
    query::answered,
    tables::Counting,
};

const TRACES: u64 = 2000;
const SPANS: u64 = 500;
/// The best of these counts, because other programs only ever add time.
const ROUNDS: usize = 3;

pub(crate) fn run() -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let paths = (0..TRACES).map(|number| plant(folder.path(), number)).collect::<Result<Vec<_>>>()?;
    let bytes: u64 = paths.iter().map(|path| Ok(fs::metadata(path)?.len())).sum::<Result<u64>>()?;
    let options = Options::default();
    let mut best = [[Duration::MAX; 2]; 3];
    for round in 0..ROUNDS {
        let store = folder.path().join(format!("store-{round}"));
        let passed = timed(|| pass(&paths, options.threads))?;
        let scanned = timed(|| scan(&paths))?;
        let ingested = timed(|| {
            let report = ingest(&paths, &store, &options, &mut |_| {})?;
            assert_eq!(report.added as u64, TRACES, "{report:?}");
            Ok(())
        })?;
        fs::remove_dir_all(store)?;
        for (best, times) in best.iter_mut().zip([passed, scanned, ingested]) {
            best.iter_mut().zip(times).for_each(|(best, time)| *best = time.min(*best));
        }
    }
    let [pass, scan, ingest] = best;
    println!("fleet: {TRACES} traces, {:.1} MB, {} threads", bytes as f64 / 1e6, options.threads);
    let rate = |time: Duration| bytes as f64 / 1e6 / time.as_secs_f64();
    for (what, [wall, cpu]) in [("pass", pass), ("scan", scan), ("ingest", ingest)] {
        println!("  {what:<8} wall {wall:.2?}, {:.1} MB/s; CPU {cpu:.2?}", rate(wall));
    }
    println!("  ingest rate, wall: {:.2} of the pass", pass[0].div_duration_f64(ingest[0]));
    Ok(at_least("ingest rate, wall", scan[0].div_duration_f64(ingest[0]), "of the scan", 0.8))
}

fn plant(folder: &Path, number: u64) -> Result<PathBuf> {
    let (mut scene, mut dice, mut now) = (Scene::new(&["Main"]), Dice::new(number), 0);
    for span in 0..SPANS {
        let name = ["Render", "Update", "Load", "Decode", "Sort"][(span % 5) as usize];
        now = scene.span(0, name, now, dice.whole(1000, 9000)) + 100;
    }
    let source = scene.written("easyprofiler")?.opened.source;
    let path = folder.join(format!("{number:04}.prof"));
    fs::write(&path, source.prefix(source.len()? as usize)?)?;
    Ok(path)
}

/// Wall and CPU time.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<[Duration; 2]> {
    let (started, before) = (Instant::now(), process_time());
    work()?;
    Ok([started.elapsed(), process_time() - before])
}

/// Reads all spans of all traces with the embedded engine, as `traceloom query` does.
fn scan(paths: &[PathBuf]) -> Result<()> {
    let session = Session::open(paths, &traceloom_query::Options::default())?;
    let rows = answered(&session, "select * from spans")?;
    assert_eq!(rows as u64, TRACES * SPANS);
    Ok(())
}

/// Reads all tables of all traces without an engine, as many traces at a time as there are threads.
fn pass(paths: &[PathBuf], threads: usize) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || -> Result<()> {
        let mut options = mapping::Options::default();
        // Files are read in parallel, as by an ingest.
        options.read.limits.threads = 1;
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut sink = Counting { wanted: Wanted::everything(), rows: 0 };
            mapping::ingest(&open(path, None, &options)?, &options, &mut sink)?;
            std::hint::black_box(sink.rows);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no panics"))
    })
}
