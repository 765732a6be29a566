//! The documentation page of every format matches its code.

use std::{collections::BTreeSet, fs, path::PathBuf};

use traceloom_core::Data;
use traceloom_open::{FORMATS, Format};

#[test]
fn every_rule_has_its_section_in_the_order_of_the_table() {
    each_page(|format, page| {
        let codes: Vec<&str> = rule_sections(format, page).map(|(code, _)| code).collect();
        let rules: Vec<&str> = format.rules().iter().map(|rule| rule.code).collect();
        assert_eq!(codes, rules);
    });
}

#[test]
fn every_section_begins_with_the_severity_of_its_rule() {
    each_page(|format, page| {
        for ((code, text), rule) in rule_sections(format, page).zip(format.rules()) {
            let expected = format!("**{}**", rule.severity);
            assert!(text.trim_start().starts_with(&expected), "{code} has to begin with {expected}");
        }
    });
}

#[test]
fn every_link_within_a_page_leads_to_a_heading() {
    each_page(|format, page| {
        let headings = page.lines().filter(|line| line.starts_with('#'));
        let anchors: BTreeSet<String> = headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect();
        let links: BTreeSet<&str> = page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert!(links.iter().any(|link| link.starts_with(format.descriptor().id)), "the page links to its findings");
        let dead: Vec<_> = links.iter().filter(|link| !anchors.contains(**link)).collect();
        assert!(dead.is_empty(), "{dead:?} lead nowhere");
    });
}

#[test]
fn the_bytes_of_every_example_are_those_of_its_fixture() {
    each_page(|format, page| {
        let mut rows_checked = 0;
        for example in fences(page, "hex") {
            let (path, rows) = example.split_once('\n').expect("an example begins with the name of its fixture");
            let fixture = read(path.trim());
            for row in rows.lines() {
                let (offset, bytes) = parse_row(row);
                assert_eq!(fixture.get(offset..offset + bytes.len()), Some(&bytes[..]), "{path}: {row}");
                rows_checked += 1;
            }
        }
        assert!(rows_checked >= 10, "{}: a page shows real bytes", format.descriptor().id);
    });
}

#[test]
fn the_reference_of_finding_codes_is_fresh() {
    let mut page = String::from(
        "# Finding codes\n\nEvery problem that `traceloom check` can list. Severity *error* means that the tool of the format refuses the file;\n\
         *missing* that data is lost. This page is generated: `cargo xtask bless -p traceloom-testkit --test pages`.\n",
    );
    for format in FORMATS {
        let descriptor = format.descriptor();
        page.push_str(&format!(
            "\n## {}\n\n| code | severity | data | message |\n|---|---|---|---|\n",
            descriptor.name
        ));
        for rule in format.rules() {
            let link = format!("../formats/{}.md#{}", descriptor.id, anchor(rule.code));
            let data = if rule.data == Data::Missing { "missing" } else { "" };
            let message = rule.message.replace('`', "'").replace('|', "\\|");
            page.push_str(&format!("| [{}]({link}) | {} | {data} | `{message}` |\n", rule.code, rule.severity));
        }
    }
    page.push_str("\n## Tables of any format\n\n| code | severity | data | message |\n|---|---|---|---|\n");
    for rule in traceloom_mapping::RULES {
        let data = if rule.data == Data::Missing { "missing" } else { "" };
        page.push_str(&format!("| {} | {} | {data} | `{}` |\n", rule.code, rule.severity, rule.message));
    }
    let name = "docs/reference/findings.md";
    if std::env::var_os("TRACELOOM_BLESS").is_some() {
        fs::write(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(name), &page)
            .expect("the page is written");
    }
    assert!(read(name) == page.as_bytes(), "{name} is not fresh");
}

fn each_page(check: impl Fn(&dyn Format, &str)) {
    for format in FORMATS {
        let path = format!("docs/formats/{}.md", format.descriptor().id);
        check(*format, &String::from_utf8(read(&path)).expect("a page is text"));
    }
}

fn read(path: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The code and text of each section that explains a rule.
fn rule_sections<'a>(format: &dyn Format, page: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let start = format!("{}.", format.descriptor().id);
    let sections = page.split("\n### ").skip(1).filter(move |section| section.starts_with(&start));
    sections.map(|section| section.split_once('\n').unwrap_or((section, "")))
}

/// The anchor that Markdown viewers generate for a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The contents of the code blocks of a language.
fn fences<'a>(page: &'a str, language: &str) -> impl Iterator<Item = &'a str> {
    let opening = format!("\n```{language}\n");
    let starts: Vec<usize> = page.match_indices(&opening).map(|(at, found)| at + found.len()).collect();
    starts.into_iter().filter_map(|at| page.get(at..)?.split("\n```").next())
}

/// A row is `OFFSET | BYTES | meaning`, offset and bytes in hexadecimal.
fn parse_row(row: &str) -> (usize, Vec<u8>) {
    let mut parts = row.split('|').map(str::trim);
    let offset = parts.next().and_then(|offset| usize::from_str_radix(offset, 16).ok());
    let bytes = parts.next().map(|bytes| bytes.split(' ').map(|byte| u8::from_str_radix(byte, 16)).collect());
    match (offset, bytes) {
        (Some(offset), Some(Ok(bytes))) => (offset, bytes),
        _ => panic!("not a row of an example: {row}"),
    }
}
