//! Our output, read by the installed Devel::NYTProf. Needs Debian's libdevel-nytprof-perl.

mod support;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Command,
};

use support::{DAMAGED, PYNYTPROF, REAL, profiles, read};
use traceloom_core::{Options, Records, Source};
use traceloom_nytprof::{Nv, Record, aggregate, edit, open, pynytprof, sample};

/// Whether Devel::NYTProf is installed; in CI it has to be.
fn has_original() -> bool {
    let found = Command::new("perl").args(["-MDevel::NYTProf::Data", "-e1"]).output();
    let has = found.is_ok_and(|output| output.status.success());
    if !has {
        println!("skipped: perl or Devel::NYTProf is missing (Debian: libdevel-nytprof-perl)");
        assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "CI has to have Devel::NYTProf");
    }
    has
}

/// A private folder that is removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("traceloom-nytprof-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_that_we_wrote_are_read_as_we_read_them() {
    if !has_original() {
        return;
    }
    let scratch = Scratch::new("dump");
    let mut written = Vec::new();
    for (name, bytes) in files() {
        written.push((scratch.write(&name, &bytes), bytes));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/dump.pl");
    let output = Command::new("perl").arg(script).args(written.iter().map(|(path, _)| path)).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut dumps: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut file = "";
    for line in text.lines() {
        match line.strip_prefix("FILE ") {
            Some(name) => file = name,
            // Devel::NYTProf prints the name of each file that it opens.
            None if line.starts_with("Reading ") => {}
            None => dumps.entry(file).or_default().push(line),
        }
    }
    assert!(output.status.success(), "the original dies of {file}");
    for (path, bytes) in &written {
        compare(path, &dumps[path.to_str().unwrap()], bytes);
    }
    assert!(written.len() > 100, "{} files", written.len());
}

/// Everything that the writer and the edits make of the corpus.
fn files() -> Vec<(String, Vec<u8>)> {
    let options = Options::default();
    let mut files = vec![("sample.out".to_owned(), sample::sample().unwrap().bytes)];
    for (name, bytes) in profiles(REAL) {
        let source = Source::bytes(bytes);
        for variant in ["plain", "zlib1", "zlib9"] {
            let mut out = Vec::new();
            if name.starts_with("killed") {
                edit::repair(&source, &mut out, &options).unwrap();
            } else {
                edit::canonical(&source, &mut out, Some(variant), &options).unwrap();
            }
            files.push((format!("{name}-{variant}.out"), out));
        }
        let mut twice = Vec::new();
        edit::merge(&[source.clone(), source], &mut twice, &options).unwrap();
        if !name.starts_with("killed") && !name.starts_with("synth") {
            files.push((format!("{name}-twice.out"), twice));
        }
    }
    for (name, bytes) in profiles(DAMAGED) {
        let source = Source::bytes(bytes);
        let mut out = Vec::new();
        // Devel::NYTProf loses a text line across a boundary of its buffer; that cannot be repaired.
        if name != "z-attr-straddle" && name != "z-attr-long" && open(source.clone(), &options).is_ok() {
            edit::repair(&source, &mut out, &options).unwrap();
            files.push((format!("{name}-repaired.out"), out));
        }
    }
    for (name, bytes) in profiles(PYNYTPROF) {
        let source = Source::bytes(bytes);
        for variant in ["plain", "zlib"] {
            let mut out = Vec::new();
            pynytprof::edit::to_nytprof(&source, &mut out, Some(variant), &options).unwrap();
            files.push((format!("{name}-converted-{variant}.out"), out));
        }
    }
    files
}

fn compare(path: &Path, dump: &[&str], bytes: &[u8]) {
    let (records, mut sums): (Vec<&str>, Vec<&str>) = dump.iter().partition(|line| line.starts_with("record "));
    let ours = our_records(bytes);
    for (index, (ours, theirs)) in ours.iter().zip(&records).enumerate() {
        assert_eq!(ours, theirs, "{}: record {index}", path.display());
    }
    assert_eq!(ours.len(), records.len(), "{}", path.display());
    let mut ours = our_sums(bytes);
    ours.sort_unstable();
    sums.sort_unstable();
    let odd = ours.iter().map(String::as_str).zip(sums.iter().copied()).find(|(ours, theirs)| ours != theirs);
    assert_eq!(odd, None, "{}", path.display());
    assert_eq!(ours.len(), sums.len(), "{}", path.display());
}

fn our_records(bytes: &[u8]) -> Vec<String> {
    let mut reader = open(Source::bytes(bytes), &Options::strict()).unwrap();
    let mut lines = vec![format!("record VERSION {} {}", reader.header().major, reader.header().minor)];
    while let Some(located) = reader.next().unwrap() {
        if let Some(line) = shown(&located.record) {
            lines.push(format!("record {line}"));
        }
    }
    lines
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("x".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

fn bits(number: f64) -> String {
    format!("{:016x}", number.to_bits())
}

fn shown(record: &Record<'_>) -> Option<String> {
    let number = |number: &Nv| bits(number.value());
    Some(match record {
        Record::Comment(text) => format!("COMMENT {}", hex(&[text, &b"\n"[..]].concat())),
        Record::Attribute(pair) => format!("ATTRIBUTE {} {}", hex(pair.key), hex(pair.value?)),
        Record::Option(pair) => format!("OPTION {} {}", hex(pair.key), hex(pair.value?)),
        Record::StartDeflate(_) => "START_DEFLATE".to_owned(),
        Record::EndDeflate => return None,
        Record::PidStart(start) => format!("PID_START {} {} {}", start.pid, start.ppid, number(&start.time)),
        Record::PidEnd(end) => format!("PID_END {} {}", end.pid, number(&end.time)),
        Record::NewFid(file) => format!(
            "NEW_FID {} {} {} {} {} {} {}",
            file.fid,
            file.eval_fid,
            file.eval_line,
            file.flags.0,
            file.size,
            file.mtime,
            hex(file.name.bytes)
        ),
        Record::TimeLine(time) => format!("TIME_LINE {} {} {}", time.ticks, time.fid, time.line),
        Record::TimeBlock(time) => {
            format!("TIME_BLOCK {} {} {} {} {}", time.ticks, time.fid, time.line, time.block_line, time.sub_line)
        }
        Record::Discount => "DISCOUNT".to_owned(),
        Record::SubEntry(entry) => format!("SUB_ENTRY {} {}", entry.caller_fid, entry.caller_line),
        Record::SubReturn(left) => {
            let (incl, excl) = (number(&left.incl_ticks), number(&left.excl_ticks));
            format!("SUB_RETURN {} {incl} {excl} {}", left.depth, hex(left.name.bytes))
        }
        Record::SrcLine(source) => format!("SRC_LINE {} {} {}", source.fid, source.line, hex(source.text.bytes)),
        Record::SubInfo(sub) => {
            format!("SUB_INFO {} {} {} {}", sub.fid, sub.first_line, sub.last_line, hex(sub.name.bytes))
        }
        Record::SubCallers(calls) => format!(
            "SUB_CALLERS {} {} {} {} {} {} {} {} {}",
            calls.fid,
            calls.line,
            calls.count,
            number(&calls.incl_seconds),
            number(&calls.excl_seconds),
            number(&calls.reci_seconds),
            calls.depth,
            hex(calls.called.bytes),
            hex(calls.caller.bytes)
        ),
        Record::Residue(bytes) => panic!("{} unrecognized bytes", bytes.len()),
        other => panic!("a record that is new here: {other:?}"),
    })
}

fn our_sums(bytes: &[u8]) -> Vec<String> {
    let mut profile = aggregate::load(Source::bytes(bytes), &Options::strict()).unwrap();
    let mut lines = Vec::new();
    for mark in ["raw", "merged"] {
        if mark == "merged" {
            profile.merge_evals();
        }
        lines.push(format!("{mark} complete {}", u8::from(profile.is_complete)));
        for (fid, file) in profile.files.iter().filter(|(fid, _)| **fid != 0) {
            lines.push(format!("{mark} file {fid} {} {}", hex(&file.name), file.eval_fid.unwrap_or(0)));
            let sums = file.lines.iter();
            lines.extend(
                sums.map(|(line, sum)| format!("{mark} line {fid} {line} {} {}", bits(sum.seconds), sum.count)),
            );
        }
        for (name, sub) in &profile.subs {
            let range =
                [sub.first_line, sub.last_line].map(|line| line.map_or("-".to_owned(), |line| line.to_string()));
            let (incl, excl) = (bits(sub.incl_seconds), bits(sub.excl_seconds));
            let (fid, kind) = (sub.fid.unwrap_or(0), sub.kind(name).as_str());
            lines.push(format!(
                "{mark} sub {} {fid} {} {} {incl} {excl} {kind}",
                hex(name),
                range.join(" "),
                sub.calls
            ));
            for calls in &sub.callers {
                let (fid, line) = (calls.fid, calls.line);
                let (incl, excl) = (bits(calls.incl_seconds), bits(calls.excl_seconds));
                lines.push(format!("{mark} call {} {fid} {line} {} {incl} {excl}", hex(name), calls.count));
            }
        }
    }
    lines
}

#[test]
fn nytprofhtml_makes_a_report_of_what_we_wrote() {
    if !has_original() {
        return;
    }
    let scratch = Scratch::new("html");
    let seed = Source::bytes(read("seed-small"));
    let mut converted = Vec::new();
    pynytprof::edit::to_nytprof(&seed, &mut converted, Some("zlib"), &Options::default()).unwrap();
    for (name, bytes, sub) in
        [("sample", sample::sample().unwrap().bytes, "line_price"), ("converted", converted, "square")]
    {
        let profile = scratch.write(&format!("{name}.out"), &bytes);
        let report = scratch.0.join(name);
        let output =
            Command::new("nytprofhtml").arg("--file").arg(&profile).arg("--out").arg(&report).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let index = std::fs::read_to_string(report.join("index.html")).unwrap();
        assert!(index.contains(sub), "{name}: the report does not show {sub}");
    }
}
