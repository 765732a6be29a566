//! The call tree, as nytprofcalls prints it.

mod support;

use support::{REAL, profiles, root};
use traceloom_core::{Options, Records, Result, Source};
use traceloom_nytprof::{aggregate, open};

#[test]
fn folded_stacks_as_nytprofcalls_prints_them() {
    let mut compared = 0;
    for (name, bytes) in profiles(REAL) {
        let golden = root().join("devel-nytprof-6.12").join(format!("{name}.folded.txt"));
        let Ok(golden) = std::fs::read(golden) else { continue };
        let mut lines: Vec<_> = golden.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let ours = folded(Source::bytes(bytes)).unwrap();
        let mut ours: Vec<_> = ours.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        lines.sort_unstable();
        ours.sort_unstable();
        assert_eq!(
            ours.iter().map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>(),
            lines.iter().map(|line| String::from_utf8_lossy(line)).collect::<Vec<_>>(),
            "{name}"
        );
        compared += 1;
    }
    assert!(compared > 30, "{compared} files");
}

fn folded(source: Source) -> Result<Vec<u8>> {
    let mut tree = aggregate::CallTreeBuilder::new(source.len()?);
    let mut reader = open(source, &Options::default())?;
    while let Some(located) = reader.next()? {
        tree.add(&located.record)?;
    }
    let mut lines = Vec::new();
    tree.finish()?.for_each(|path, ticks, _| {
        lines.extend(path.join(&b";"[..]));
        lines.extend(format!(" {}\n", ticks as i64).into_bytes());
    });
    Ok(lines)
}

#[test]
fn a_call_tree_of_any_depth_takes_little() {
    let mut bytes = b"NYTProf 5 0\n:nv_size=8\n".to_vec();
    for depth in [u32::MAX, u32::MAX - 1, 70_000, 3, 1] {
        bytes.push(b'<');
        traceloom_nytprof::raw::put_integer(depth, &mut bytes);
        bytes.extend([0; 16]);
        bytes.extend(b"'\x01f");
    }
    let paths = folded(Source::bytes(bytes)).unwrap();
    let paths = String::from_utf8(paths).unwrap();
    // Each gap is one call without a name, however many levels it spans.
    assert_eq!(paths, "f 0\nf;;f 0\nf;;f;;f 0\nf;;f;;f;;f 0\nf;;f;;f;;f;f 0\n");
}
