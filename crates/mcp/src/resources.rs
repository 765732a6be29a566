//! Pages that an assistant can read: tables, SQL, formats, codes of problems.

use std::fmt::Write;

use rmcp::model::{ReadResourceResult, Resource, ResourceContents};
use traceloom_open::FORMATS;

static PAGES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/pages.rs"));

struct Page {
    uri: String,
    title: String,
    text: String,
}

fn page(uri: &str, title: &str, text: impl Into<String>) -> Page {
    Page { uri: format!("traceloom://{uri}"), title: title.to_owned(), text: text.into() }
}

fn all() -> Vec<Page> {
    let mut pages = vec![
        page("docs/tables", "The tables that SQL sees", include_str!("../../../docs/tables.md")),
        page("docs/sql", "SQL: examples with answers", include_str!("../../../docs/sql.md")),
        page("docs/assistants", "Traceloom for assistants", include_str!("../../../docs/assistants.md")),
        page("findings", "The codes of problems", findings()),
    ];
    let format = |(id, text): &(&str, &str)| page(&format!("docs/formats/{id}"), &format!("The format {id}"), *text);
    pages.extend(PAGES.iter().map(format));
    pages
}

/// Every code with its severity, its sentence and its meaning.
fn findings() -> String {
    let mut text = String::from("# Codes of problems\n\n| code | severity | message | meaning |\n|---|---|---|---|\n");
    let mut rules: Vec<_> = FORMATS.iter().flat_map(|format| format.rules().iter()).collect();
    rules.sort_by_key(|rule| rule.code);
    rules.dedup_by_key(|rule| rule.code);
    for rule in rules {
        let meaning = traceloom_viewer_server::meaning(rule.code).unwrap_or_default();
        let (code, severity, message) = (rule.code, rule.severity, rule.message);
        writeln!(text, "| `{code}` | {severity} | {message} | {meaning} |").expect("memory takes it");
    }
    text
}

pub(crate) fn list() -> Vec<Resource> {
    let describe = |page: Page| {
        let name = page.uri.trim_start_matches("traceloom://").replace('/', "-");
        let size = page.text.len() as u64;
        Resource::new(page.uri, name).with_title(page.title).with_mime_type("text/markdown").with_size(size)
    };
    all().into_iter().map(describe).collect()
}

pub(crate) fn read(uri: &str) -> Option<ReadResourceResult> {
    let page = all().into_iter().find(|page| page.uri == uri)?;
    Some(ReadResourceResult::new(vec![ResourceContents::text(page.text, page.uri).with_mime_type("text/markdown")]))
}
