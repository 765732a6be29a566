//! The format's page and the code say the same.

use std::{collections::BTreeSet, fs, path::PathBuf};

use traceloom_cnanolog::findings::RULES;

/// The fixture that the page explains byte by byte.
const EXPLAINED: &str = "fixtures/cnanolog/seed_example_le_native.clog";

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
    assert!(links.contains("cnanologarguments"), "the page links to its findings");
    let dead: Vec<_> = links.iter().filter(|link| !anchors.contains(**link)).collect();
    assert!(dead.is_empty(), "{dead:?} lead nowhere");
}

#[test]
fn the_bytes_of_every_example_are_those_of_its_fixture() {
    let page = page();
    let mut explained = Vec::new();
    for example in fences(&page, "hex") {
        let (path, rows) = example.split_once('\n').expect("an example begins with the name of its fixture");
        let fixture = read(path.trim());
        for row in rows.lines() {
            let (offset, bytes) = parse_row(row);
            let stored = fixture.get(offset..offset + bytes.len());
            assert_eq!(stored, Some(&bytes[..]), "{path}: {row}");
            if path.trim() == EXPLAINED {
                assert_eq!(offset, explained.len(), "{path}: {row} leaves a gap");
                explained.extend(bytes);
            }
        }
    }
    assert_eq!(explained, read(EXPLAINED), "{EXPLAINED} is explained to its end");
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

fn read(path: &str) -> Vec<u8> {
    fs::read(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn page() -> String {
    String::from_utf8(read("docs/formats/cnanolog.md")).expect("the page is text")
}

/// Code and text of each section that explains a rule.
fn rule_sections(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let sections = page.split("\n### ").skip(1).filter(|section| section.starts_with("cnanolog."));
    sections.map(|section| section.split_once('\n').unwrap_or((section, "")))
}

/// The anchor that Markdown viewers make of a heading.
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
