//! Compares the CPU time of a call in C and in Rust, measured alternately: `cargo bench -p traceloom-record-c`.

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
    let mut rust = Costs::new();
    let mut c = [("static", "a"), ("shared", "so")].map(|(name, extension)| (name, extension, Costs::new()));
    for (name, extension, _) in &c {
        compile(&folder.path().join(name), extension)?;
    }
    for _ in 0..ROUNDS {
        measure_rust(&folder.path().join("rust.clog"), &mut rust)?;
        for (name, _, costs) in &mut c {
            measure_c(&folder.path().join(name), &folder.path().join("c.clog"), costs)?;
        }
    }
    for (call, costs) in rust {
        let in_rust = median(costs);
        print!("{call}: Rust {in_rust:.1} ns");
        for (name, _, costs) in &mut c {
            let in_c = median(costs.remove(&call).unwrap_or_default());
            print!(", C with the {name} library {in_c:.1} ns, {:.2} times", in_c / in_rust);
        }
        println!();
    }
    Ok(())
}

fn measure_c(program: &Path, log: &Path, costs: &mut Costs) -> Result<(), Box<dyn Error>> {
    let output = Command::new(program).arg(log).arg(TEXT).output()?;
    for line in String::from_utf8(output.stdout)?.lines() {
        let (call, cost) = line.split_once('\t').ok_or("the program prints a name and a cost")?;
        costs.entry(call.to_owned()).or_default().push(cost.parse()?);
    }
    Ok(())
}

fn compile(program: &Path, extension: &str) -> Result<(), Box<dyn Error>> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = env::current_exe()?.with_file_name("libtraceloom_record_c").with_extension(extension);
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
