//! The format's page and the code say the same.

use std::{collections::BTreeSet, fs, path::PathBuf};

use traceloom_memlyze::findings::RULES;

#[test]
fn every_rule_has_its_section_in_the_order_of_the_table() {
    let page = page();
    let codes: Vec<&str> = rule_sections(&page).map(|(code, _)| code).collect();
    let rules: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
    assert_eq!(codes, rules);
}

#[test]
fn every_section_begins_with_the_severity_of_its_rule() {
    let page = page();
    for ((code, text), rule) in rule_sections(&page).zip(RULES) {
        let expected = format!("**{}**", rule.severity);
        assert!(text.trim_start().starts_with(&expected), "{code} has to begin with {expected}");
    }
}

#[test]
fn every_link_within_the_page_leads_to_a_heading() {
    let page = page();
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let anchors: BTreeSet<String> = headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect();
    let links: BTreeSet<&str> = page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    let dead: Vec<_> = links.iter().filter(|link| !anchors.contains(**link)).collect();
    assert!(!links.is_empty() && dead.is_empty(), "{dead:?} lead nowhere");
}

#[test]
fn the_bytes_of_every_example_are_those_of_its_fixture() {
    let page = page();
    let mut rows_checked = 0;
    for example in page.split("\n```hex\n").skip(1) {
        let example = example.split("\n```").next().unwrap();
        let (path, rows) = example.split_once('\n').expect("an example begins with the name of its fixture");
        let fixture = fs::read(root().join(path)).unwrap();
        for row in rows.lines() {
            let mut parts = row.split('|').map(str::trim);
            let offset = usize::from_str_radix(parts.next().unwrap(), 16).unwrap();
            let bytes = parts.next().unwrap().split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap());
            let bytes: Vec<u8> = bytes.collect();
            assert_eq!(fixture.get(offset..offset + bytes.len()), Some(&bytes[..]), "{path}: {row}");
            rows_checked += 1;
        }
    }
    assert!(rows_checked > 10);
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/formats/memlyze.md")).unwrap()
}

/// Code and text of each section that explains a rule.
fn rule_sections(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let sections = page.split("\n### ").skip(1).filter(|section| section.starts_with("memlyze."));
    sections.map(|section| section.split_once('\n').unwrap_or((section, "")))
}

/// The anchor that Markdown viewers make of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
