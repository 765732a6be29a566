//! Makes data from a trace safe for an assistant: inert texts of limited size.

use std::borrow::Cow;

use serde_json::{Map, Value as Json, json};

/// Max number of characters of a text; a longer one is cut and ends with its length.
const MAX_TEXT_CHARS: usize = 600;
const NOTE_START: &str = "… (";
const NOTE_END: &str = " bytes in all)";
/// Max number of characters of a text in a result that would otherwise be too long.
const MIN_TEXT_CHARS: usize = 8;
/// Names of fields are not cut below this, because shorter ones would become equal.
const MIN_KEY_CHARS: usize = 64;
/// Max number of fields of a row in a result that would otherwise be too long, before it is halved.
const MAX_FIELDS: usize = 512;
/// Lists in which each position has a meaning, such as the runs before and after: they are rows without names.
const ROWS: &[&str] = &["lines.args", "self_ns", "runs", "sites.quarters_bytes"];

/// A text with control and invisible characters escaped, so that it cannot affect a terminal or hide content.
pub(crate) fn inert(text: &str) -> String {
    shortened(text, MAX_TEXT_CHARS)
}

/// A row whose texts are cut, so that many rows with long texts need little memory; a result still states the whole lengths.
pub(crate) fn kept_row(mut row: Json) -> Json {
    keep(&mut row);
    row
}

fn keep(value: &mut Json) {
    match value {
        Json::String(text) => {
            if let Cow::Owned(short) = kept(text) {
                *text = short;
            }
        }
        Json::Array(items) => items.iter_mut().for_each(keep),
        Json::Object(fields) => fields.values_mut().for_each(keep),
        _ => {}
    }
}

/// As much of a text as a result can show, with its length.
pub(crate) fn kept(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_TEXT_CHARS) {
        Some((end, _)) => Cow::Owned(format!("{}{}", &text[..end], note(whole_bytes(text)))),
        None => Cow::Borrowed(text),
    }
}

/// The end of a cut text.
fn note(bytes: usize) -> String {
    format!("{NOTE_START}{bytes}{NOTE_END}")
}

/// The length of a text, also if only a part of it was kept.
fn whole_bytes(text: &str) -> usize {
    let end = text.char_indices().nth(MAX_TEXT_CHARS).map_or(text.len(), |(end, _)| end);
    let note = text[end..].strip_prefix(NOTE_START).and_then(|note| note.strip_suffix(NOTE_END));
    note.and_then(|bytes| bytes.parse().ok()).unwrap_or(text.len())
}

/// The same with a limit.
fn shortened(text: &str, max_chars: usize) -> String {
    let mut shown = String::with_capacity(text.len().min(max_chars * 4));
    for (number, c) in text.chars().enumerate() {
        if number == max_chars {
            shown.push_str(&note(whole_bytes(text)));
            break;
        }
        if steers(c) { shown.extend(c.escape_unicode()) } else { shown.push(c) }
    }
    shown
}

/// Control characters, direction marks, and invisible characters, which can encode hidden text.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Limits of a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caps {
    /// Rows per list.
    rows: usize,
    /// Characters per text.
    chars: usize,
    /// Fields per row.
    fields: usize,
}

impl Caps {
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows, chars: MAX_TEXT_CHARS, fields: usize::MAX }
    }

    /// Halves a limit: of rows as long as there are several, then of texts, then of fields. False if all are at their
    /// minimum.
    pub(crate) fn tighten(&mut self) -> bool {
        if self.rows > 1 {
            self.rows /= 2;
        } else if self.chars > MIN_TEXT_CHARS {
            self.chars /= 2;
        } else if self.fields > 1 {
            self.fields = self.fields.min(MAX_FIELDS) / 2;
        } else {
            return false;
        }
        true
    }
}

/// A truncated list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Cut {
    list: String,
    shown: u64,
    total: u64,
}

impl Cut {
    pub(crate) fn new(list: impl Into<String>, shown: u64, total: u64) -> Self {
        Self { list: list.into(), shown, total }
    }

    /// `None` for a list of which everything is shown.
    pub(crate) fn if_less(list: &str, shown: usize, total: u64) -> Option<Self> {
        let shown = shown as u64;
        (shown < total).then(|| Self::new(list, shown, total))
    }

    /// All truncations of a result; a list that is truncated twice keeps its first total.
    pub(crate) fn merged(mut cuts: Vec<Self>, before: &[Self]) -> Vec<Self> {
        for first in before {
            match cuts.iter_mut().find(|cut| cut.list == first.list) {
                Some(cut) => cut.total = first.total,
                None => cuts.push(first.clone()),
            }
        }
        cuts
    }

    pub(crate) fn to_json(&self) -> Json {
        json!({ "list": self.list, "shown": self.shown, "total": self.total })
    }

    pub(crate) fn to_text(&self) -> String {
        format!("{}: {} of {} shown", self.list, self.shown, self.total)
    }
}

/// A result within its limits, with inert texts, and its truncations.
pub(crate) fn capped(value: &Json, caps: Caps) -> (Json, Vec<Cut>) {
    let mut cuts = Vec::new();
    let shown = cut(value, "", caps, &mut cuts);
    cuts.retain(|cut| cut.shown < cut.total);
    (shown, cuts)
}

fn cut(value: &Json, list: &str, caps: Caps, cuts: &mut Vec<Cut>) -> Json {
    match value {
        Json::String(text) => shortened(text, caps.chars).into(),
        Json::Array(fields) if ROWS.contains(&list) => cut_row(fields, list, caps, cuts),
        Json::Array(items) => {
            count(cuts, list, items.len().min(caps.rows), items.len());
            items.iter().take(caps.rows).map(|item| cut_item(item, list, caps, cuts)).collect()
        }
        Json::Object(fields) => {
            // The fields of the result itself are not data from the trace, and its schema requires them.
            let (is_outermost, mut shown) = (list.is_empty(), Map::new());
            for (key, field) in fields.iter().take(if is_outermost { usize::MAX } else { caps.fields }) {
                let key = shortened(key, caps.chars.max(MIN_KEY_CHARS));
                let below = if is_outermost { key.clone() } else { format!("{list}.{key}") };
                shown.insert(key, cut(field, &below, caps, cuts));
            }
            // Fewer if long names became equal.
            count_fields(cuts, list, shown.len(), fields.len());
            shown.into()
        }
        other => other.clone(),
    }
}

/// A list of plain values in a list is a row without names, too, such as the number and text of a line.
fn cut_item(item: &Json, list: &str, caps: Caps, cuts: &mut Vec<Cut>) -> Json {
    let is_plain = |value: &Json| !value.is_array() && !value.is_object();
    match item {
        Json::Array(fields) if fields.iter().all(is_plain) => cut_row(fields, list, caps, cuts),
        _ => cut(item, list, caps, cuts),
    }
}

fn cut_row(fields: &[Json], list: &str, caps: Caps, cuts: &mut Vec<Cut>) -> Json {
    let shown: Vec<Json> = fields.iter().take(caps.fields).map(|field| cut(field, list, caps, cuts)).collect();
    count_fields(cuts, list, shown.len(), fields.len());
    shown.into()
}

fn count_fields(cuts: &mut Vec<Cut>, list: &str, shown: usize, total: usize) {
    if shown < total {
        count(cuts, &format!("{list} (fields)"), shown, total);
    }
}

/// Adds the rows of a list to those of the lists with the same name.
fn count(cuts: &mut Vec<Cut>, list: &str, shown: usize, total: usize) {
    let (shown, total) = (shown as u64, total as u64);
    match cuts.iter_mut().find(|cut| cut.list == list) {
        Some(cut) => (cut.shown, cut.total) = (cut.shown + shown, cut.total + total),
        None => cuts.push(Cut::new(list, shown, total)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_steer_nothing() {
        assert_eq!(inert("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\u{a}");
        assert_eq!(inert("user\u{202e}gpj\u{200b}\u{e0041}"), "user\\u{202e}gpj\\u{200b}\\u{e0041}");
        assert_eq!(inert("Größe → 東京 👍"), "Größe → 東京 👍");
        let long = inert(&"x".repeat(1 << 20));
        assert!(long.len() < 1000 && long.ends_with("(1048576 bytes in all)"), "{}", long.len());
    }

    #[test]
    fn a_text_that_was_kept_states_its_whole_length() {
        let text = format!("{}\u{1b}{}", "é".repeat(599), "x".repeat(1 << 20));
        let row = kept_row(json!({ "name": text, "args": [{ "value": text }], "id": 7 }));
        assert!(row.to_string().len() < 3000, "{}", row.to_string().len());
        assert_eq!(kept_row(row.clone()), row);
        for text in [&row["name"], &row["args"][0]["value"]] {
            let shown = inert(text.as_str().unwrap());
            assert!(shown.ends_with("\\u{1b}… (1049775 bytes in all)"), "{shown}");
        }
        assert!(shortened(row["name"].as_str().unwrap(), 8).ends_with("é… (1049775 bytes in all)"));
    }

    #[test]
    fn cuts_have_their_totals() {
        let value = json!({"spans": [{"args": [1, 2, 3]}, {"args": [4, 5]}, {"args": []}], "names": ["a"]});
        let (shown, cuts) = capped(&value, Caps::new(2));
        assert_eq!(shown, json!({"spans": [{"args": [1, 2]}, {"args": [4, 5]}], "names": ["a"]}));
        assert_eq!(cuts, [Cut::new("spans", 2, 3), Cut::new("spans.args", 4, 5)]);
    }

    #[test]
    fn lists_whose_positions_have_a_meaning_stay_whole() {
        let lines = json!([{"args": [1, "a\u{1b}"]}]);
        let value = json!({"files": [{"source": [[1, "a"], [2, "b"]]}], "runs": [2, 3], "lines": lines});
        let (shown, cuts) = capped(&value, Caps::new(1));
        let lines = json!([{"args": [1, "a\\u{1b}"]}]);
        assert_eq!(shown, json!({"files": [{"source": [[1, "a"]]}], "runs": [2, 3], "lines": lines}));
        assert_eq!(cuts, [Cut::new("files.source", 1, 2)]);
        // A long row without names is cut like one with names.
        let mut caps = Caps::new(1);
        while caps.tighten() {}
        let (shown, cuts) = capped(&json!({"rows": [{"matrix": [vec![7; 100_000], vec![8; 100_000]]}]}), caps);
        assert_eq!(shown, json!({"rows": [{"matrix": [[7]]}]}));
        assert_eq!(cuts, [Cut::new("rows.matrix", 1, 2), Cut::new("rows.matrix (fields)", 1, 100_000)]);
    }

    #[test]
    fn rows_are_cut_before_texts_and_texts_before_fields() {
        let mut caps = Caps::new(2);
        let row: Map<_, _> = (0..600).map(|n| (format!("column{n}"), "x".repeat(50).into())).collect();
        let value = json!({ "rows": [row.clone(), row], "columns": 600 });
        assert!(caps.tighten());
        let (shown, cuts) = capped(&value, caps);
        assert_eq!(shown["rows"][0]["column7"], "x".repeat(50));
        assert_eq!(cuts, [Cut::new("rows", 1, 2)]);
        while caps.fields == usize::MAX {
            assert!(caps.tighten());
        }
        let (shown, cuts) = capped(&value, caps);
        assert_eq!(shown["rows"][0]["column7"], format!("{}… (50 bytes in all)", "x".repeat(4)));
        assert_eq!(cuts, [Cut::new("rows", 1, 2), Cut::new("rows (fields)", 256, 600)]);
        assert_eq!(shown["columns"], 600);
    }

    #[test]
    fn a_field_whose_name_becomes_equal_to_another_is_counted() {
        let name = |end: &str| format!("{}{end}", "x".repeat(700));
        let (shown, cuts) = capped(&json!({ "rows": [{ name("a"): 1, name("b"): 2 }] }), Caps::new(20));
        assert_eq!(shown["rows"][0].as_object().map(Map::len), Some(1));
        assert_eq!(cuts, [Cut::new("rows (fields)", 1, 2)]);
    }
}
