//! The tools themselves show the names unchanged, or at least refuse nothing.

use std::{collections::BTreeSet, fs, process::Command};

use serde_json::Value as Json;

use crate::{
    NAMES, no_formula, on_a_line, shown_names,
    support::{ask, check_speedscope, engine_or_skip, place, python::script_or_skip},
    written, written_memory,
};

fn names_of(list: &Json) -> BTreeSet<String> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn perfettos_engine_shows_them() {
    let Some(engine) = engine_or_skip() else { return };
    let file = place("hostile-perfetto").join("hostile.pftrace");
    fs::write(&file, written("perfetto", None)).unwrap();
    let queries = [
        "SELECT SUBSTR(name, 1, 1000), LENGTH(name) FROM slice WHERE category = 'block' ORDER BY ts",
        "SELECT SUBSTR(string_value, 1, 1000), LENGTH(string_value) FROM args WHERE flat_key GLOB 'debug.key *'",
        "SELECT SUBSTR(msg, 1, 1000), LENGTH(msg) FROM android_logs ORDER BY ts",
        "SELECT name, LENGTH(name) FROM thread WHERE tid = 7",
    ];
    let answers = ask(&engine, std::slice::from_ref(&file), &queries);
    let answer = &answers[&file];
    assert_eq!(answer["error"], Json::Null);
    let texts = |query: usize| {
        let rows = answer["answers"][query].as_array().unwrap().iter();
        let text = |row: &Json| (row[0].as_str().unwrap_or("").to_owned(), row[1].as_u64().unwrap_or(0));
        rows.map(text).collect::<Vec<_>>()
    };
    // The engine ends a text at a NUL, and so does its answer.
    let shown = |name: &&str| {
        let text = name.split('\0').next().unwrap_or("");
        (text.chars().take(1000).collect::<String>(), text.chars().count() as u64)
    };
    let expected: Vec<(String, u64)> = NAMES.iter().map(shown).collect();
    assert!(texts(0) == expected, "names of slices");
    let values: BTreeSet<(String, u64)> = texts(1).into_iter().collect();
    assert!(values == expected.iter().cloned().collect(), "arguments");
    assert!(texts(2) == expected, "messages");
    assert_eq!(texts(3), [shown(&NAMES[5])]);
}

/// Tables and OTLP, through the Python modules that people use.
#[test]
fn pythons_modules_read_them() {
    let packages = ["opentelemetry-proto==1.45.0", "pyarrow==26.0.1"];
    let Some(script) = script_or_skip("hostile/read.py", &packages) else { return };
    let place = place("hostile-python");
    let same = shown_names(str::to_owned);
    let cases = [
        ("hostile.arrow", written("arrow", None), same.clone()),
        ("hostile.csv", written("csv", None), shown_names(no_formula)),
        ("hostile.logs.otlp", written("otlp", Some("logs")), same.clone()),
        ("hostile.traces.otlp", written("otlp", None), same),
    ];
    let files: Vec<_> = cases.iter().map(|(name, ..)| place.join(name)).collect();
    cases.iter().zip(&files).for_each(|((_, out, _), file)| fs::write(file, out).unwrap());
    for ((name, _, expected), answer) in cases.iter().zip(script.ask(&files)) {
        assert!(names_of(&answer) == *expected, "{name}: {:#?}", crate::difference(&names_of(&answer), expected));
    }
}

#[test]
fn pprof_takes_them() {
    let place = place("hostile-pprof");
    for (name, out) in [("time", written("pprof", None)), ("allocations", written_memory("pprof", None))] {
        let file = place.join(format!("{name}.pb.gz"));
        fs::write(&file, out).unwrap();
        let tool = Command::new("go")
            .args(["tool", "pprof", "-raw", "-symbolize=none"])
            .arg(&file)
            .env("PPROF_TMPDIR", &place)
            .output();
        let Ok(tool) = tool else {
            traceloom_testkit::npm::skip("go tool pprof is not installed");
            return;
        };
        assert!(tool.status.success(), "{}", String::from_utf8_lossy(&tool.stderr));
        let text = String::from_utf8_lossy(&tool.stdout);
        for wanted in ["plain", "</script><script>alert(1)</script>", "=cmd|' /C calc'!A0", "größe😀\u{10ffff}"] {
            assert!(text.contains(&format!(" {wanted} ")), "{name}: {wanted:?} is not shown");
        }
        let samples = text.split("Locations").next().unwrap();
        assert_eq!(samples.lines().filter(|line| line.contains(" 50")).count(), NAMES.len(), "{name}");
    }
}

#[test]
fn callgrind_annotate_takes_them() {
    let file = place("hostile-callgrind").join("hostile.callgrind");
    fs::write(&file, written("callgrind", None)).unwrap();
    let Ok(tool) = Command::new("callgrind_annotate").args(["--threshold=100", "--auto=no"]).arg(&file).output() else {
        traceloom_testkit::npm::skip("callgrind_annotate is not installed");
        return;
    };
    let errors = String::from_utf8_lossy(&tool.stderr);
    assert!(tool.status.success() && errors.trim().is_empty(), "{errors}");
    let text = String::from_utf8(tool.stdout).unwrap();
    let total = (50 * NAMES.len()).to_string();
    let total = if total.len() > 3 { format!("{},{}", &total[..1], &total[1..]) } else { total };
    assert!(text.contains(&format!("{total} (100.0%)  PROGRAM TOTALS")), "{text:.2000}");
    for name in NAMES.iter().filter(|name| name.len() < 100) {
        assert!(text.contains(&format!(":{}", on_a_line(name))), "{name:?} is not shown");
    }
}

#[test]
fn speedscopes_schema_takes_them() {
    let place = place("hostile-speedscope");
    let files = [("spans.json", written("speedscope", None)), ("memory.json", written_memory("speedscope", None))];
    let files = files.map(|(name, out)| {
        fs::write(place.join(name), out).unwrap();
        place.join(name)
    });
    check_speedscope(&files);
}
