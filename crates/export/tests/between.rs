//! Converts traces to the other formats and reads them again without loss.

mod support;

#[path = "between/cnanolog.rs"]
mod cnanolog;
#[path = "between/easyprofiler.rs"]
mod easyprofiler;
#[path = "between/memlyze.rs"]
mod memlyze;
#[path = "between/nytprof.rs"]
mod nytprof;
#[path = "between/picture.rs"]
mod picture;
#[path = "between/pynytprof.rs"]
mod pynytprof;
#[path = "between/random.rs"]
mod random;
#[path = "between/wtf.rs"]
mod wtf;

use std::path::Path;

use traceloom_core::{Loss, Source};
use traceloom_export::{Options, by_id, write};
use traceloom_mapping::Trace;
use traceloom_model::TableSource;

use picture::Picture;

/// A trace in another format.
struct Converted {
    bytes: Vec<u8>,
    loss: Loss,
    picture: Picture,
}

/// Converts a trace; the result must be accepted in strict mode, and is read again.
fn convert(source: &dyn TableSource, target: &str, variant: Option<&str>, name: &str) -> Converted {
    let mut bytes = Vec::new();
    let options = Options { variant: variant.map(str::to_owned), ..Options::default() };
    let loss = write(by_id(target).unwrap(), source, &options, &mut bytes)
        .unwrap_or_else(|error| panic!("{name} as {target}: {error}"));
    let format = traceloom_open::by_id(target).unwrap();
    let strict = traceloom_core::Options::strict();
    let findings = format.check(&Source::bytes(bytes.clone()), &strict);
    findings.unwrap_or_else(|error| panic!("{name} as {target}: {error}"));
    let path = Path::new(name);
    let trace = Trace::new(path, Source::bytes(bytes.clone()), Some(target), &Default::default()).unwrap();
    let picture = Picture::of(&trace);
    Converted { bytes, loss, picture }
}

/// Fixtures of every format and dialect.
fn traces() -> Vec<(String, Trace)> {
    let mut traces = support::traces();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/nytprof/pynytprof");
    // Damaged sums change little, so these files are good enough here.
    for file in [folder.join("damaged"), folder].iter().flat_map(|folder| support::files_below(folder)) {
        if let Ok(trace) = traceloom_mapping::open(&file, None, &Default::default()) {
            traces.push((format!("pynytprof-{}", file.file_name().unwrap().display()), trace));
        }
    }
    assert!(traces.iter().any(|(_, trace)| trace.format() == "pynytprof"));
    traces
}

fn assert_equal<T: PartialEq + std::fmt::Debug>(found: &[T], expected: &[T], what: &str) {
    let difference = found.iter().zip(expected).position(|(found, expected)| found != expected);
    if let Some(place) = difference {
        panic!("{what}: {place}\nfound {:#?}\nnot {:#?}", found[place], expected[place]);
    }
    assert_eq!(found.len(), expected.len(), "{what}");
}

fn loses(loss: &Loss, what: &str) -> bool {
    loss.entries().any(|(entry, ..)| entry == what)
}
