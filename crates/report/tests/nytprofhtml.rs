//! A report with source has every line, call and caller that nytprofhtml shows.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use traceloom_core::Source;
use traceloom_mapping::Trace;
use traceloom_report::Report;
use traceloom_testkit::{each_case, npm};

/// Profiles with opcodes and XSUBs, recursion, and `BEGIN`.
const PROFILES: [&str; 4] = ["xsops-c0", "recurse-calls2", "ops-slow2", "begins-c0"];

/// The facts on a page, sorted by file and line.
type Facts = BTreeSet<(String, String, String)>;

/// Texts between tags, with decoded references.
fn plain(markup: &str) -> String {
    let mut text = String::new();
    for part in markup.split('<') {
        text.push_str(part.split_once('>').map_or(part, |(_, after)| after));
        text.push(' ');
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&amp;", "&").replace('\u{202f}', "")
}

fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let from = text.find(before)? + before.len();
    Some(&text[from..from + text[from..].find(after)?])
}

/// Statements, calls, callees and callers of one row of a file.
fn row(facts: &mut Facts, file: &str, cells: &[&str]) {
    let texts: Vec<String> = cells.iter().map(|cell| plain(cell)).collect();
    let line = texts[0].trim().to_owned();
    for (what, number) in [("statements", 1), ("calls", 3)] {
        // nytprofhtml shows 1 for the remaining time of a statement that started elsewhere.
        let count = texts[number].trim();
        let count = if count == "0" { "1" } else { count };
        if !count.is_empty() {
            facts.insert((file.to_owned(), line.clone(), format!("{count} {what}")));
        }
    }
    for note in texts[texts.len() - 1].split('#').map(str::trim) {
        let words: Vec<&str> = note.split_whitespace().collect();
        if let Some(at) = words.iter().position(|word| *word == "making") {
            // Such as: spent 6 µs making 2 calls to List::Util::sum, avg 3 µs/call
            let name = words[at + 4].trim_end_matches(',');
            facts.insert((file.to_owned(), line.clone(), format!("{} to {name}", words[at + 1])));
        } else if let Some(at) = words.iter().position(|word| *word == "by") {
            // Such as: 2 times (5 µs + 7 µs) by main::RUNTIME at line 16, avg 3 µs/call
            let often = if words[0].starts_with("once") { "1" } else { words[0] };
            let place = words.get(at + 4).map_or("?", |line| line.trim_end_matches(','));
            facts.insert((file.to_owned(), String::new(), format!("{often} by {} at {place}", words[at + 1])));
        }
    }
}

fn of_nytprofhtml(folder: &Path) -> Facts {
    let mut facts = Facts::new();
    for entry in fs::read_dir(folder).expect("it wrote pages").flatten() {
        if !entry.file_name().to_string_lossy().ends_with("-line.html") {
            continue;
        }
        let page = String::from_utf8_lossy(&fs::read(entry.path()).expect("a page")).into_owned();
        let file = between(&page, "Filename</td>", "</td>").map(plain).expect("the name of the file");
        // nytprofhtml counts statements of string evals twice, in the file and in the eval.
        if page.contains("string eval") || file.contains("(eval ") {
            continue;
        }
        let page = page.replace("</table>", "<tr>");
        for part in page.split("<tr>").filter(|part| part.starts_with("<td class=\"h\">")) {
            let cells: Vec<&str> =
                part.split("<td ").skip(1).map(|cell| cell.split_once('>').map_or("", |(_, text)| text)).collect();
            // Lines between others may be omitted.
            if cells.len() >= 6 {
                row(&mut facts, file.trim(), &cells);
            }
        }
    }
    facts
}

fn of_report(page: &str) -> Facts {
    let mut facts = Facts::new();
    for listing in page.split("<details id=").skip(1) {
        let file = between(listing, "<summary>", " <span").map(plain).expect("the name of the file");
        let Some(table) = between(listing, "<table class=\"code\">", "</table>") else { continue };
        for part in table.split("<tr").skip(2) {
            let cells: Vec<&str> =
                part.split("<td").skip(1).map(|cell| cell.split_once('>').map_or("", |(_, text)| text)).collect();
            if cells.len() >= 6 {
                row(&mut facts, file.trim(), &cells);
            } else if let [.., code] = cells.as_slice() {
                row(&mut facts, file.trim(), &["", "", "", "", "", code]);
            }
        }
    }
    facts
}

#[test]
fn a_report_with_source_has_what_nytprofhtml_shows() {
    if !Command::new("nytprofhtml")
        .arg("--help")
        .output()
        .is_ok_and(|out| !out.stderr.is_empty() || !out.stdout.is_empty())
    {
        return npm::skip("nytprofhtml is not installed");
    }
    let folder = tempfile::tempdir().expect("there is room");
    each_case(|_, case, bytes| {
        let Some(name) = PROFILES.into_iter().find(|name| case.name.contains(name)) else { return };
        let (file, pages) = (folder.path().join(name), folder.path().join(format!("{name}.pages")));
        fs::write(&file, &bytes).expect("there is room");
        let out = Command::new("nytprofhtml")
            .args(["--minimal", "--no-flame"])
            .arg("--file")
            .arg(&file)
            .arg("--out")
            .arg(&pages)
            .output();
        let out = out.expect("it starts");
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
        let trace = Trace::new(name.as_ref(), Source::bytes(bytes), None, &Default::default()).expect("it opens");
        let mut report = Report::default();
        report.add_with_source(&trace, |_| Ok(())).expect("it has lines");
        let (theirs, ours) = (of_nytprofhtml(&pages), of_report(&report.to_html()));
        assert!(theirs.len() > 10, "{name}: {} facts", theirs.len());
        let lost: Vec<_> = theirs.difference(&ours).collect();
        assert!(lost.is_empty(), "{name}: {} of {} facts are lost: {lost:#?}", lost.len(), theirs.len());
    });
}
