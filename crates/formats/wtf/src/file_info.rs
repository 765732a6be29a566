//! The file header, which describes the whole file.

use traceloom_core::{
    Rule,
    json::{self, Fault, Memory, Parser, Token},
    text::json::Writer,
};

use crate::{
    findings::{HEADER_CONTEXT, HEADER_FLAGS, HEADER_JSON, HEADER_METADATA, HEADER_TIMEBASE, TIMEBASE_ODD},
    write::with_member,
};

/// Set if times come from a clock with a resolution finer than a millisecond.
pub const HAS_HIGH_RESOLUTION_TIMES: u32 = 1;
/// Set if times count calls or bytes instead of microseconds.
pub const TIMES_AS_COUNT: u32 = 2;

const FLAG_WORDS: [(&str, u32); 2] =
    [("has_high_resolution_times", HAS_HIGH_RESOLUTION_TIMES), ("times_as_count", TIMES_AS_COUNT)];

/// The contents of a file header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileInfo {
    /// [`HAS_HIGH_RESOLUTION_TIMES`] and [`TIMES_AS_COUNT`].
    pub flags: u32,
    /// Time 0 on the producer's clock, in milliseconds: wall-clock time in browsers, time since boot in plain Node, 0
    /// from C++.
    pub timebase_ms: f64,
    /// Where it was recorded, as paths into the JSON and texts: `userAgent.platform`, `args.0`.
    pub context: Vec<(String, String)>,
    /// Other information from the producer, in the same form.
    pub metadata: Vec<(String, String)>,
    /// The JSON text as stored; empty if the file has none.
    pub json: Vec<u8>,
}

/// A problem of a file header.
pub(crate) type Problem = (&'static Rule, String);

impl FileInfo {
    /// Whether times are counts.
    pub fn times_as_count(&self) -> bool {
        self.flags & TIMES_AS_COUNT != 0
    }

    /// Reads the JSON of a file header; parts that cannot be interpreted keep their defaults.
    pub(crate) fn parse(text: &[u8]) -> (Self, Vec<Problem>) {
        let mut info = Self { json: text.to_vec(), ..Self::default() };
        let mut problems = Vec::new();
        // An empty part counts as an empty object.
        let text = if text.is_empty() { b"{}" } else { text };
        if let Err(what) = info.read(text, &mut problems) {
            problems = vec![(&HEADER_JSON, what)];
        }
        (info, problems)
    }

    fn read(&mut self, text: &[u8], problems: &mut Vec<Problem>) -> Result<(), String> {
        if !json::is_value(text) {
            return Err(fault_text(text));
        }
        let mut parser = Parser::of(text, 0);
        match parser.next() {
            Ok(Token::ObjectStart) => {}
            // To WTF, an array is an object without a timebase.
            Ok(Token::ArrayStart) => {
                problems.push((&HEADER_TIMEBASE, String::new()));
                return Ok(());
            }
            _ => return Err("not an object".to_owned()),
        }
        let mut has_timebase = false;
        while let Ok(Token::Key) = parser.next() {
            let key = parser.text().to_vec();
            let Ok(value) = parser.next() else { break };
            match key.as_slice() {
                b"flags" => self.read_flags(value, &mut parser, problems),
                b"timebase" => {
                    has_timebase = true;
                    self.read_timebase(value, &parser, problems);
                }
                b"contextInfo" => self.read_context(value, &mut parser, problems),
                b"metadata" => self.read_metadata(value, &mut parser, problems),
                _ => {}
            }
            let before = parser.depth();
            if before > 1 {
                let _ = parser.skip(value);
            }
        }
        if !has_timebase {
            problems.push((&HEADER_TIMEBASE, String::new()));
        }
        Ok(())
    }

    fn read_flags(&mut self, value: Token, parser: &mut Parser<Memory<'_>>, problems: &mut Vec<Problem>) {
        if value != Token::ArrayStart {
            if is_truthy(value, parser.text()) {
                problems.push((&HEADER_FLAGS, String::new()));
            }
            return;
        }
        self.flags = 0;
        while let Ok(token) = parser.next() {
            match token {
                Token::ArrayEnd | Token::End => break,
                Token::String => {
                    let word = FLAG_WORDS.iter().find(|(word, _)| word.as_bytes() == parser.text());
                    self.flags |= word.map_or(0, |(_, flag)| *flag);
                }
                other => {
                    let _ = parser.skip(other);
                }
            }
        }
    }

    fn read_timebase(&mut self, value: Token, parser: &Parser<Memory<'_>>, problems: &mut Vec<Problem>) {
        let number = match value {
            Token::Number | Token::String => std::str::from_utf8(parser.text()).ok().and_then(|text| text.parse().ok()),
            _ => None,
        };
        self.timebase_ms = number.filter(|number: &f64| number.is_finite()).unwrap_or(0.0);
        if value != Token::Number {
            problems.push((&TIMEBASE_ODD, String::new()));
        }
    }

    fn read_context(&mut self, value: Token, parser: &mut Parser<Memory<'_>>, problems: &mut Vec<Problem>) {
        self.context.clear();
        if value == Token::ObjectStart || value == Token::ArrayStart {
            flatten(value, parser, &mut String::new(), &mut self.context);
            let kind = self.context.iter().find(|(key, _)| key == "contextType");
            if kind.is_none_or(|(_, kind)| kind != "script") {
                let kind = kind.map_or_else(|| "missing".to_owned(), |(_, kind)| kind.clone());
                problems.push((&HEADER_CONTEXT, kind));
            }
        } else if is_truthy(value, parser.text()) {
            problems.push((&HEADER_CONTEXT, "not an object".to_owned()));
        }
    }

    fn read_metadata(&mut self, value: Token, parser: &mut Parser<Memory<'_>>, problems: &mut Vec<Problem>) {
        self.metadata.clear();
        if value == Token::ObjectStart || value == Token::ArrayStart {
            flatten(value, parser, &mut String::new(), &mut self.metadata);
        } else if is_truthy(value, parser.text()) {
            problems.push((&HEADER_METADATA, String::new()));
        }
    }

    /// The same header with another timebase.
    pub fn with_timebase(&self, timebase_ms: f64) -> Self {
        let mut info = Self { timebase_ms, ..self.clone() };
        if !info.json.is_empty() {
            info.json = with_member(&info.json, "timebase", timebase_ms.to_string().as_bytes());
        }
        info
    }

    /// The JSON that our writer stores: as read, or built from the fields.
    pub fn to_json(&self) -> Vec<u8> {
        if !self.json.is_empty() {
            return self.json.clone();
        }
        let mut json = Writer::default();
        json.begin_object().key("type").string("file_header").key("flags").begin_array();
        for (word, _) in FLAG_WORDS.iter().filter(|(_, flag)| self.flags & flag != 0) {
            json.string(word);
        }
        json.end_array().key("timebase").raw(self.timebase_ms.to_string().as_bytes());
        let given = self.context.iter().filter(|(key, _)| key != "contextType");
        let given = given.map(|(key, value)| (&**key, &**value));
        let context: Vec<_> = [("contextType", "script")].into_iter().chain(given).collect();
        let metadata: Vec<_> = self.metadata.iter().map(|(key, value)| (&**key, &**value)).collect();
        put_object(json.key("contextInfo"), &context);
        put_object(json.key("metadata"), &metadata);
        json.end_object();
        json.out
    }
}

/// An object from paths and values; neighbors with the same first name belong together.
fn put_object(json: &mut Writer, members: &[(&str, &str)]) {
    let is_list = members.first().is_some_and(|(path, _)| path.starts_with(|c: char| c.is_ascii_digit()));
    if is_list {
        json.begin_array()
    } else {
        json.begin_object()
    };
    let head = |path: &str| path.split_once('.').map_or(path.len(), |(head, _)| head.len());
    let same = |(a, _): &(&str, &str), (b, _): &(&str, &str)| a.get(..head(a)) == b.get(..head(b));
    for group in members.chunk_by(same) {
        let Some((path, value)) = group.first() else { continue };
        if !is_list {
            json.key(path.get(..head(path)).unwrap_or_default());
        }
        if path.contains('.') {
            let inner = group.iter().filter_map(|(path, value)| Some((path.split_once('.')?.1, *value)));
            put_object(json, &inner.collect::<Vec<_>>());
        } else {
            json.string(value);
        }
    }
    if is_list {
        json.end_array()
    } else {
        json.end_object()
    };
}

/// Whether a header has a problem that makes WTF refuse it.
pub(crate) fn is_fatal(problems: &[Problem]) -> bool {
    problems.iter().any(|(rule, _)| rule.severity == traceloom_core::Severity::Error)
}

/// Whether JavaScript considers a plain value true.
pub(crate) fn is_truthy(value: Token, text: &[u8]) -> bool {
    match value {
        Token::Null | Token::Bool(false) => false,
        Token::String => !text.is_empty(),
        Token::Number => std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok()) != Some(0.0),
        _ => true,
    }
}

/// Maximum length of a path into a header that is kept; deeper values are useless as attributes.
const MAX_PATH: usize = 1 << 8;
/// Maximum number of values of a header that are kept as attributes.
const MAX_VALUES: usize = 1 << 12;

/// Collects all plain values below the one that `value` started, under their paths; null is left out.
pub(crate) fn flatten(
    value: Token,
    parser: &mut Parser<Memory<'_>>,
    path: &mut String,
    into: &mut Vec<(String, String)>,
) {
    let mut frames: Vec<(usize, Option<usize>)> = Vec::new();
    let mut token = value;
    loop {
        match token {
            Token::ObjectStart => frames.push((path.len(), None)),
            Token::ArrayStart => frames.push((path.len(), Some(0))),
            Token::ObjectEnd | Token::ArrayEnd => {
                let Some((len, _)) = frames.pop() else { return };
                path.truncate(len);
            }
            Token::Key => {
                let key = String::from_utf8_lossy(parser.text()).into_owned();
                descend(path, frames.last().map_or(0, |(len, _)| *len), &key);
            }
            Token::String | Token::Number if path.len() <= MAX_PATH && into.len() < MAX_VALUES => {
                into.push((path.clone(), String::from_utf8_lossy(parser.text()).into_owned()));
            }
            Token::Bool(flag) if path.len() <= MAX_PATH && into.len() < MAX_VALUES => {
                into.push((path.clone(), flag.to_string()));
            }
            Token::End => return,
            _ => {}
        }
        if frames.is_empty() {
            return;
        }
        let Ok(next) = parser.next() else { return };
        token = next;
        let is_element = !matches!(token, Token::Key | Token::ArrayEnd | Token::ObjectEnd);
        if let Some((len, Some(index))) = frames.last_mut().filter(|_| is_element) {
            let (len, place) = (*len, *index);
            *index += 1;
            descend(path, len, &place.to_string());
        }
    }
}

fn descend(path: &mut String, len: usize, name: &str) {
    path.truncate(len);
    if path.len() > MAX_PATH {
        return;
    }
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

fn fault_text(text: &[u8]) -> String {
    let mut parser = Parser::of(text, 0);
    loop {
        match parser.next() {
            Ok(Token::End) => return "not one value".to_owned(),
            Ok(_) => {}
            Err(Fault::Syntax { what, .. }) => return what.to_owned(),
            Err(Fault::Fetch(error)) => return error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<&'static str> {
        FileInfo::parse(text.as_bytes()).1.iter().map(|(rule, _)| rule.code).collect()
    }

    #[test]
    fn a_header_is_taken_apart() {
        let text = r#"{"type":"file_header","flags":["has_high_resolution_times","x"],"timebase":12.5,
            "contextInfo":{"contextType":"script","args":["a","b"],"icon":null,"userAgent":{"type":"nodejs"}},
            "metadata":{"nowTimeNs":3,"deep":[[1],{"x":true}]},"more":[{}]}"#;
        let (info, problems) = FileInfo::parse(text.as_bytes());
        assert!(problems.is_empty());
        assert_eq!((info.flags, info.timebase_ms), (1, 12.5));
        let context: Vec<_> = info.context.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(context, ["contextType=script", "args.0=a", "args.1=b", "userAgent.type=nodejs"]);
        let metadata: Vec<_> = info.metadata.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(metadata, ["nowTimeNs=3", "deep.0.0=1", "deep.1.x=true"]);
    }

    #[test]
    fn what_the_original_refuses_is_found() {
        assert_eq!(codes(""), ["wtf.header-timebase"]);
        assert_eq!(codes("[]"), ["wtf.header-timebase"]);
        assert_eq!(codes("{nope"), ["wtf.header-json"]);
        assert_eq!(codes("7"), ["wtf.header-json"]);
        assert_eq!(codes(r#"{"timebase":1,"flags":"x"}"#), ["wtf.header-flags"]);
        assert_eq!(codes(r#"{"timebase":1,"flags":0,"metadata":0,"contextInfo":null}"#), [""; 0]);
        assert_eq!(codes(r#"{"timebase":"5","contextInfo":{"a":1}}"#), ["wtf.timebase-odd", "wtf.header-context"]);
        assert_eq!(codes(r#"{"timebase":1,"metadata":"x"}"#), ["wtf.header-metadata"]);
    }

    #[test]
    fn fields_make_a_header_that_reads_back() {
        let info = FileInfo {
            flags: 3,
            timebase_ms: 1.25,
            context: vec![("contextType".into(), "script".into()), ("title".into(), "t".into())],
            metadata: vec![("k".into(), "v".into())],
            json: Vec::new(),
        };
        let (back, problems) = FileInfo::parse(&info.to_json());
        assert!(problems.is_empty());
        assert_eq!(FileInfo { json: Vec::new(), ..back }, info);
    }
}
