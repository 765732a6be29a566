//! Makes data from a trace safe for an assistant: inert texts of limited size.

use serde_json::{Map, Value as Json, json};

/// Max number of characters of a text; a longer one is cut and ends with its length.
const MAX_TEXT_CHARS: usize = 600;

/// A text with control and invisible characters escaped, so that it cannot affect a terminal or hide content.
pub(crate) fn inert(text: &str) -> String {
    let mut shown = String::with_capacity(text.len().min(MAX_TEXT_CHARS * 4));
    for (number, c) in text.chars().enumerate() {
        if number == MAX_TEXT_CHARS {
            shown.push_str(&format!("… ({} bytes in all)", text.len()));
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
    pub(crate) rows: usize,
    /// Total bytes, as JSON.
    pub(crate) bytes: usize,
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

    /// All truncations of a result; a list that is truncated twice keeps its first total.
    pub(crate) fn merged(mut cuts: Vec<Self>, before: Vec<Self>) -> Vec<Self> {
        for first in before {
            match cuts.iter_mut().find(|cut| cut.list == first.list) {
                Some(cut) => cut.total = first.total,
                None => cuts.push(first),
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

/// A result within its limits, and its truncations. If a result is too long, it gets fewer rows.
pub(crate) fn capped(value: Json, caps: Caps) -> (Json, Vec<Cut>) {
    let mut rows = caps.rows;
    loop {
        let mut cuts = Vec::new();
        let shown = cut(&value, "", rows, &mut cuts);
        if rows <= 1 || shown.to_string().len() <= caps.bytes {
            cuts.retain(|cut| cut.shown < cut.total);
            return (shown, cuts);
        }
        rows /= 2;
    }
}

/// The value with inert texts and short lists.
fn cut(value: &Json, list: &str, rows: usize, cuts: &mut Vec<Cut>) -> Json {
    match value {
        Json::String(text) => inert(text).into(),
        Json::Array(items) => {
            let shown = items.len().min(rows);
            match cuts.iter_mut().find(|cut| cut.list == list) {
                Some(cut) => (cut.shown, cut.total) = (cut.shown + shown as u64, cut.total + items.len() as u64),
                None => cuts.push(Cut::new(list, shown as u64, items.len() as u64)),
            }
            items.iter().take(rows).map(|item| cut(item, list, rows, cuts)).collect()
        }
        Json::Object(fields) => {
            let below = |key: &str| if list.is_empty() { inert(key) } else { format!("{list}.{}", inert(key)) };
            let shown = fields.iter().map(|(key, field)| (inert(key), cut(field, &below(key), rows, cuts)));
            shown.collect::<Map<_, _>>().into()
        }
        other => other.clone(),
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
    fn cuts_have_their_totals() {
        let value = json!({"spans": [{"args": [1, 2, 3]}, {"args": [4, 5]}, {"args": []}], "names": ["a"]});
        let (shown, cuts) = capped(value, Caps { rows: 2, bytes: 10_000 });
        assert_eq!(shown, json!({"spans": [{"args": [1, 2]}, {"args": [4, 5]}], "names": ["a"]}));
        assert_eq!(cuts, [Cut::new("spans", 2, 3), Cut::new("spans.args", 4, 5)]);
    }

    #[test]
    fn an_answer_stays_below_its_bytes() {
        let value = json!({"rows": (0..1000).map(|_| "x".repeat(100)).collect::<Vec<_>>()});
        let (shown, cuts) = capped(value, Caps { rows: 1000, bytes: 10_000 });
        assert!(shown.to_string().len() <= 10_000);
        assert_eq!(cuts.len(), 1);
    }
}
