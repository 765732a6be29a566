//! What a call costs in C against the same call in Rust, by processor time, in turns: `cargo bench -p traceloom-record-c`.

use std::{collections::BTreeMap, env, error::Error, path::Path, process::Command};

use traceloom_record::{Recorder, info, span};

const BURST: u32 = 100_000;
const BURSTS: usize = 5;
const ROUNDS: usize = 9;
const TEXT: &str = "a text of thirty-nine bytes, no more...";

/// Costs of a call in nanoseconds, by its name.
type Costs = BTreeMap<String, Vec<f64>>;

fn main() -> Result<(), Box<dyn Error>> {
    assert_eq!(TEXT.len(), 39);
    let folder = tempfile::tempdir()?;
    let program = folder.path().join("cost");
    compile(&program)?;
    let (mut rust, mut c) = (Costs::new(), Costs::new());
    for _ in 0..ROUNDS {
        measure_rust(&folder.path().join("rust.clog"), &mut rust)?;
        let output = Command::new(&program).arg(folder.path().join("c.clog")).arg(TEXT).output()?;
        for line in String::from_utf8(output.stdout)?.lines() {
            let (name, cost) = line.split_once('\t').ok_or("the program prints a name and a cost")?;
            c.entry(name.to_owned()).or_default().push(cost.parse()?);
        }
    }
    for (name, costs) in rust {
        let in_c = median(c.remove(&name).unwrap_or_default());
        let in_rust = median(costs);
        println!("{name}: C {in_c:.1} ns, Rust {in_rust:.1} ns, {:.2} times", in_c / in_rust);
    }
    Ok(())
}

fn compile(program: &Path) -> Result<(), Box<dyn Error>> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = env::current_exe()?.with_file_name("libtraceloom_record_c.a");
    let mut command = Command::new(env::var("CC").unwrap_or_else(|_| "cc".to_owned()));
    command.args(["-O2", "-std=gnu11", "-I"]).arg(crate_folder.join("include"));
    command.arg(crate_folder.join("benches/cost.c")).arg(library).args(["-lpthread", "-ldl", "-lm", "-o"]).arg(program);
    if command.status()?.success() { Ok(()) } else { Err("the program cannot be compiled".into()) }
}

fn measure_rust(path: &Path, costs: &mut Costs) -> Result<(), Box<dyn Error>> {
    let guard = Recorder::new().clog(path).ring_bytes(8 << 20).start()?;
    let mut measure = |name: &str, call: &dyn Fn()| -> Result<(), Box<dyn Error>> {
        let mut bursts = Vec::new();
        for _ in 0..BURSTS {
            traceloom_record::flush()?;
            let before = seconds();
            call();
            bursts.push((seconds() - before) / f64::from(BURST) * 1e9);
        }
        costs.entry(name.to_owned()).or_default().push(median(bursts));
        Ok(())
    };
    measure("log without arguments", &|| (0..BURST).for_each(|_| info!("burst")))?;
    measure("two ints and a double", &|| (0..BURST as i32).for_each(|number| info!("%d of %d: %f", number, 7, 0.5)))?;
    let text = std::hint::black_box(TEXT);
    measure("39-byte text", &|| (0..BURST).for_each(|_| info!("%s", text)))?;
    measure("span", &|| (0..BURST).for_each(|_| drop(span!("span"))))?;
    guard.close()?;
    Ok(())
}

/// Processor time of this thread.
fn seconds() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for the answer.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut now) };
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn median(mut costs: Vec<f64>) -> f64 {
    costs.sort_by(f64::total_cmp);
    costs.get(costs.len() / 2).copied().unwrap_or(f64::NAN)
}
