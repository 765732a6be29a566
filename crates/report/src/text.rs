//! Makes text of a trace safe to show.

use traceloom_core::visible;

/// Text without hidden content: control characters and direction marks are escaped, and text longer than `max`
/// characters is cut.
pub(crate) fn shown(text: &str, max: usize) -> String {
    let mut shown = String::new();
    for (number, c) in text.chars().enumerate() {
        if number >= max {
            shown.push('…');
            break;
        }
        // Neither HTML nor XML can hold these, not even as references.
        if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{feff}' | '\u{200b}'..='\u{200d}') {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    visible(&shown)
}

/// The same for Markdown: nothing in it becomes markup, a link, a mention, or the end of a cell.
pub(crate) fn markdown(text: &str, max: usize) -> String {
    let mut escaped = String::new();
    for c in shown(text, max).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '@' => escaped.push_str("&#64;"),
            '#' => escaped.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' | '(' | ')' => escaped.extend(['\\', c]),
            _ => escaped.push(c),
        }
    }
    // Text that looks like a URL would become a link.
    escaped.replace("://", "&#58;//").replace("www.", "www&#46;")
}

/// A count with thin spaces between the thousands.
pub(crate) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (number, digit) in digits.chars().enumerate() {
        if number > 0 && (digits.len() - number).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden() {
        assert_eq!(shown("a\u{202e}b\u{1b}[31m\n", 80), "a\\u{202e}b\\u{1b}[31m\\u{a}");
        assert_eq!(shown("abcdef", 3), "abc…");
        assert_eq!(markdown("<b> @me #1 [x](y) a|b", 80), "&lt;b&gt; &#64;me &#35;1 \\[x\\]\\(y\\) a\\|b");
        assert_eq!(markdown("a: http://x", 80), "a: http&#58;//x");
        assert_eq!([thousands(999), thousands(1_234_567)], ["999", "1\u{202f}234\u{202f}567"]);
    }
}
