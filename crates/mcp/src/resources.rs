//! Pages that an assistant can read: tables, SQL, formats, finding codes.

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
    let title = |id: &str| match id {
        "tables" => "The SQL tables".to_owned(),
        "sql" => "SQL examples with results".to_owned(),
        "assistants" => "Traceloom for assistants".to_owned(),
        _ => format!("The format {}", id.trim_start_matches("formats/")),
    };
    let guide = PAGES.iter().map(|(id, text)| page(&format!("docs/{id}"), &title(id), *text));
    guide.chain([page("findings", "Finding codes", findings())]).collect()
}

/// Every code with its severity, message and meaning.
fn findings() -> String {
    let mut text = String::from("# Finding codes\n\n| code | severity | message | meaning |\n|---|---|---|---|\n");
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
