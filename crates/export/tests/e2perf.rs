//! Temporary.
mod support;
use support::{Synthetic, push_trace, span};
use traceloom_export::{Options, by_id, write};
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (f[11].parse::<f64>().unwrap() + f[12].parse::<f64>().unwrap()) / 100.0
}
#[test]
fn perf() {
    let names: Vec<String> = (0..200).map(|n| format!("module::function_{n}")).collect();
    let trace = Synthetic(move |tables: &mut traceloom_model::Tables<'_>| {
        let mut id = 0;
        let mut at = 0i64;
        while id < 1_000_000 {
            let outer = id;
            for inner in 0..4 {
                let n = &names[((outer * 7 + inner * 3) % 200) as usize];
                tables.push(span(outer + 1 + inner, 1, Some(outer), at + 10 + inner * 100, Some(90), n))?;
            }
            tables.push(span(outer, 0, None, at, Some(500), &names[(outer % 199) as usize]))?;
            id += 5;
            at += 700;
        }
        push_trace("perf", at, tables)
    });
    for target in ["folded", "easyprofiler", "wtf", "nytprof", "pynytprof", "cnanolog", "memlyze"] {
        let before = cpu();
        let mut out = std::io::BufWriter::new(std::fs::File::create("/tmp/e2perf.out").unwrap());
        let loss = write(by_id(target).unwrap(), &trace, &Options::default(), &mut out).unwrap();
        drop(out);
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let rss = status.lines().find(|l| l.starts_with("VmHWM")).unwrap().to_owned();
        println!(
            "{target}: {:.2} s CPU, {} bytes, {rss} {:?}",
            cpu() - before,
            std::fs::metadata("/tmp/e2perf.out").unwrap().len(),
            loss.entries().map(|(w, c, _)| (w, c)).collect::<Vec<_>>()
        );
    }
}
