//! The meaning of each finding and what to do about it, from the pages of the formats.
//!
//! `meanings.txt` contains the sentences of `docs/formats`, one code per line, so that the program does not need the
//! pages.

static MEANINGS: &str = include_str!("meanings.txt");

/// The meaning of a code, if its page explains it.
pub(crate) fn of(code: &str) -> Option<&'static str> {
    MEANINGS.lines().find_map(|line| line.strip_prefix(code)?.strip_prefix('\t'))
}

#[cfg(test)]
mod tests {
    use std::{env, fs, path::Path};

    use super::*;

    /// The sections of all pages that explain a code, each as one line.
    fn from_pages() -> String {
        let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats");
        let mut lines = Vec::new();
        for entry in fs::read_dir(&pages).expect("the pages are there") {
            let path = entry.expect("the folder can be read").path();
            let format = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let page = fs::read_to_string(&path).expect("a page is text");
            for section in page.split("\n### ").skip(1).filter(|section| section.starts_with(&format!("{format}."))) {
                let (code, text) = section.split_once('\n').expect("a section has a text");
                let text = text.split("\n## ").next().unwrap_or_default();
                lines.push(format!("{code}\t{}\n", plain(text)));
            }
        }
        lines.sort();
        lines.concat()
    }

    /// Removes the severity, which the finding has itself, and links, which do not work outside the page.
    fn plain(text: &str) -> String {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = text.split_once(" – ").filter(|(head, _)| head.ends_with("**")).map_or(&*text, |(_, rest)| rest);
        let mut shown = String::new();
        for (number, part) in text.split('[').enumerate() {
            match part.split_once("](") {
                Some((linked, rest)) if number > 0 => {
                    shown.push_str(linked);
                    shown.push_str(rest.split_once(')').map_or("", |(_, behind)| behind));
                }
                _ => {
                    shown.push_str(if number > 0 { "[" } else { "" });
                    shown.push_str(part);
                }
            }
        }
        shown.replace("**", "")
    }

    #[test]
    fn they_are_those_of_the_pages() {
        let (path, expected) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api/meanings.txt"), from_pages());
        if env::var_os("TRACELOOM_BLESS").is_some() {
            fs::write(&path, &expected).expect("the file can be written");
        }
        let stored = fs::read_to_string(&path).expect("it was built in");
        assert!(stored == expected, "run the test with TRACELOOM_BLESS=1 to renew {}", path.display());
    }

    #[test]
    fn a_code_has_its_own_meaning() {
        let meaning = of("easyprofiler.big-endian").expect("the page explains it");
        assert!(meaning.starts_with("The signature and the version make sense in big-endian order only."));
        assert_eq!((of("easyprofiler.big"), of("")), (None, None));
    }
}
