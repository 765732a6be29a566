//! A pull parser for JSON over a window: one token at a time, whatever the size of the text.

use traceloom_core::{Error, Limits, Result, Window};

/// A piece of JSON. The text of a key, string or number is [`Json::text`] until the next token.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Token {
    BeginObject,
    EndObject,
    BeginArray,
    EndArray,
    Key,
    String,
    Number,
    True,
    False,
    Null,
    /// The outermost value is complete; what follows it has not been looked at.
    End,
}

impl Token {
    /// What a value that begins so is called.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::BeginObject | Self::EndObject => "an object",
            Self::BeginArray | Self::EndArray => "an array",
            Self::Key | Self::String => "a string",
            Self::Number => "a number",
            Self::True | Self::False => "a yes or no",
            Self::Null => "null",
            Self::End => "nothing",
        }
    }
}

/// Why parsing stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The text is not JSON from this offset on.
    Bad { offset: u64, reason: &'static str },
    /// Reading failed, or a limit stands in the way.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Deeper nesting than any metadata has; Python's parser gives up earlier than this costs anything.
const MOST_DEPTH: usize = 512;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Expect {
    Value,
    FirstItem,
    FirstKey,
    Key,
    CommaOrEnd,
    Nothing,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Container {
    Object,
    Array,
}

/// Parses one JSON value from where the window stands.
#[derive(Debug)]
pub(crate) struct Json<'a> {
    window: &'a mut Window,
    expect: Expect,
    open: Vec<Container>,
    text: Vec<u8>,
    longest: usize,
    bad_utf8: Option<u64>,
}

impl<'a> Json<'a> {
    pub(crate) fn new(window: &'a mut Window, limits: &Limits) -> Self {
        let longest = limits.record_bytes;
        Self { window, expect: Expect::Value, open: Vec::new(), text: Vec::new(), longest, bad_utf8: None }
    }

    /// The text of the last key, string or number, unescaped. Surrogates without a partner keep their three bytes.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where in the file the next byte lies.
    pub(crate) fn offset(&self) -> u64 {
        self.window.offset()
    }

    /// The first string that is not UTF-8, if there is one.
    pub(crate) fn bad_utf8(&self) -> Option<u64> {
        self.bad_utf8
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Result<Token, Stop> {
        loop {
            if self.expect == Expect::Nothing {
                return Ok(Token::End);
            }
            let byte = self.skip_space()?;
            match (self.expect, byte) {
                (Expect::CommaOrEnd, b',') => {
                    self.window.consume(1);
                    let in_object = self.open.last() == Some(&Container::Object);
                    self.expect = if in_object { Expect::Key } else { Expect::Value };
                }
                (Expect::FirstKey | Expect::CommaOrEnd, b'}') => return self.close(Container::Object),
                (Expect::FirstItem | Expect::CommaOrEnd, b']') => return self.close(Container::Array),
                (Expect::CommaOrEnd, _) => return self.bad("a comma or an end is missing"),
                (Expect::FirstKey | Expect::Key, b'"') => return self.key(),
                (Expect::FirstKey | Expect::Key, _) => return self.bad("a key is missing"),
                (Expect::Value | Expect::FirstItem, _) => return self.value(byte),
                (Expect::Nothing, _) => return Ok(Token::End),
            }
        }
    }

    /// Passes the rest of a value whose first token was `token`.
    pub(crate) fn skip(&mut self, token: Token) -> Result<(), Stop> {
        let mut depth = 0usize;
        let mut token = token;
        loop {
            match token {
                Token::BeginObject | Token::BeginArray => depth += 1,
                Token::EndObject | Token::EndArray => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return Ok(());
            }
            token = self.next()?;
        }
    }

    fn value(&mut self, first: u8) -> Result<Token, Stop> {
        let token = match first {
            b'{' => return self.enter(Container::Object),
            b'[' => return self.enter(Container::Array),
            b'"' => {
                self.string()?;
                Token::String
            }
            b'-' | b'0'..=b'9' => {
                self.number()?;
                Token::Number
            }
            b't' => self.word(b"true", Token::True)?,
            b'f' => self.word(b"false", Token::False)?,
            b'n' => self.word(b"null", Token::Null)?,
            _ => return self.bad("a value is missing"),
        };
        self.after_value();
        Ok(token)
    }

    fn after_value(&mut self) {
        self.expect = if self.open.is_empty() { Expect::Nothing } else { Expect::CommaOrEnd };
    }

    fn enter(&mut self, container: Container) -> Result<Token, Stop> {
        if self.open.len() == MOST_DEPTH {
            return self.bad("it is nested too deeply");
        }
        self.window.consume(1);
        self.open.push(container);
        match container {
            Container::Object => {
                self.expect = Expect::FirstKey;
                Ok(Token::BeginObject)
            }
            Container::Array => {
                self.expect = Expect::FirstItem;
                Ok(Token::BeginArray)
            }
        }
    }

    fn close(&mut self, container: Container) -> Result<Token, Stop> {
        if self.open.last() != Some(&container) {
            return self.bad("an end does not match its begin");
        }
        self.window.consume(1);
        self.open.pop();
        self.after_value();
        Ok(if container == Container::Object { Token::EndObject } else { Token::EndArray })
    }

    fn key(&mut self) -> Result<Token, Stop> {
        self.string()?;
        if self.skip_space()? != b':' {
            return self.bad("a colon is missing");
        }
        self.window.consume(1);
        self.expect = Expect::Value;
        Ok(Token::Key)
    }

    fn word(&mut self, word: &[u8], token: Token) -> Result<Token, Stop> {
        if !self.window.fill(word.len())?.starts_with(word) {
            return self.bad("a word is unknown");
        }
        self.window.consume(word.len());
        Ok(token)
    }

    fn number(&mut self) -> Result<(), Stop> {
        self.text.clear();
        let begin = self.offset();
        loop {
            let bytes = self.window.fill(1)?;
            let in_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
            let run = bytes.iter().position(|byte| !in_number(byte)).unwrap_or(bytes.len());
            if run == 0 {
                break;
            }
            self.take_run(run)?;
        }
        if is_number(&self.text) { Ok(()) } else { Err(Stop::Bad { offset: begin, reason: "a number is malformed" }) }
    }

    /// Reads from the opening quote to the closing one.
    fn string(&mut self) -> Result<(), Stop> {
        let begin = self.offset();
        self.window.consume(1);
        self.text.clear();
        loop {
            let bytes = self.window.fill(1)?;
            let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
            let run = bytes.iter().position(|byte| !is_plain(*byte)).unwrap_or(bytes.len());
            let stop = bytes.get(run).copied();
            if bytes.is_empty() {
                return self.bad("it ends inside a string");
            }
            self.take_run(run)?;
            match stop {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return self.bad("a control character stands in a string"),
                None => {}
            }
        }
        self.window.consume(1);
        if self.bad_utf8.is_none() && !self.text.is_ascii() && !is_utf8(&self.text) {
            self.bad_utf8 = Some(begin);
        }
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Stop> {
        let Some(letter) = self.window.fill(2)?.get(1).copied() else {
            return self.bad("it ends inside an escape");
        };
        let byte = match letter {
            b'"' | b'\\' | b'/' => letter,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode_escape(),
            _ => return self.bad("an escape is unknown"),
        };
        self.window.consume(2);
        self.text.push(byte);
        Ok(())
    }

    fn unicode_escape(&mut self) -> Result<(), Stop> {
        let Some(unit) = hex_unit(self.window.fill(6)?) else {
            return self.bad("an escape has no four hexadecimal digits");
        };
        self.window.consume(6);
        if !(0xd800..0xdc00).contains(&unit) {
            self.push_code_point(unit);
            return Ok(());
        }
        let low = hex_unit(self.window.fill(6)?).filter(|low| (0xdc00..0xe000).contains(low));
        match low {
            Some(low) => {
                self.window.consume(6);
                self.push_code_point(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
            }
            None => self.push_code_point(unit),
        }
        Ok(())
    }

    /// Also takes surrogates: Python escapes file names that are not UTF-8 with them.
    fn push_code_point(&mut self, code_point: u32) {
        match char::from_u32(code_point) {
            Some(c) => self.text.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            None => {
                let (middle, last) = (code_point >> 6 & 0x3f, code_point & 0x3f);
                self.text.extend_from_slice(&[0xed, 0x80 | middle as u8, 0x80 | last as u8]);
            }
        }
    }

    fn take_run(&mut self, len: usize) -> Result<()> {
        let wanted = self.text.len().saturating_add(len);
        if wanted > self.longest {
            return Err(Error::limit("text in the metadata", wanted as u64, self.longest as u64));
        }
        self.text.extend_from_slice(self.window.take(len));
        Ok(())
    }

    /// The first byte that is not white space.
    fn skip_space(&mut self) -> Result<u8, Stop> {
        loop {
            let bytes = self.window.fill(1)?;
            let space = bytes.iter().position(|byte| !is_space(*byte)).unwrap_or(bytes.len());
            match bytes.get(space).copied() {
                Some(byte) => {
                    self.window.consume(space);
                    return Ok(byte);
                }
                None if bytes.is_empty() => return self.bad("it ends too early"),
                None => self.window.consume(space),
            }
        }
    }

    fn bad<T>(&self, reason: &'static str) -> Result<T, Stop> {
        Err(Stop::Bad { offset: self.offset(), reason })
    }
}

/// Whether JSON lets this byte stand between tokens.
pub(crate) const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// The number of `\uXXXX` at the front.
fn hex_unit(bytes: &[u8]) -> Option<u32> {
    let [b'\\', b'u', digits @ ..] = bytes else { return None };
    let digits = digits.first_chunk::<4>()?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

/// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
fn is_number(text: &[u8]) -> bool {
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.first() == Some(&b'0')) {
        return false;
    }
    let mut rest = rest.get(whole..).unwrap_or_default();
    if let [b'.', fraction @ ..] = rest {
        let len = digits(fraction);
        if len == 0 {
            return false;
        }
        rest = fraction.get(len..).unwrap_or_default();
    }
    if let [b'e' | b'E', exponent @ ..] = rest {
        let exponent = match exponent {
            [b'+' | b'-', exponent @ ..] => exponent,
            exponent => exponent,
        };
        return !exponent.is_empty() && digits(exponent) == exponent.len();
    }
    rest.is_empty()
}

/// Whether text is UTF-8 apart from surrogates, which come from escapes.
fn is_utf8(text: &[u8]) -> bool {
    let mut rest = text;
    while let Err(error) = std::str::from_utf8(rest) {
        match rest.get(error.valid_up_to()..) {
            Some([0xed, 0xa0..=0xbf, 0x80..=0xbf, tail @ ..]) => rest = tail,
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use traceloom_core::Source;

    use super::*;

    fn tokens(json: &str, window_bytes: usize) -> Result<Vec<(Token, String)>, (u64, &'static str)> {
        let limits = Limits::with(|limits| limits.window_bytes = window_bytes);
        let mut window = Window::new(Source::bytes(json.as_bytes()), &limits);
        let mut parser = Json::new(&mut window, &limits);
        let mut tokens = Vec::new();
        loop {
            match parser.next() {
                Ok(Token::End) => return Ok(tokens),
                Ok(token @ (Token::Key | Token::String | Token::Number)) => {
                    tokens.push((token, String::from_utf8_lossy(parser.text()).into_owned()));
                }
                Ok(token) => tokens.push((token, String::new())),
                Err(Stop::Bad { offset, reason }) => return Err((offset, reason)),
                Err(Stop::Failed(error)) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn all_tokens_at_every_window_size() {
        let json = " { \"a\\u00e9\\n\" : [ 1 , -2.5e+3 , true,false , null, {} , [] ] ,\n\"b\":\"\\ud83e\\udd80 \\\"q\\\" \u{2603}\"} x";
        let whole = tokens(json, 4096).unwrap();
        assert_eq!(whole.len(), 16);
        assert_eq!(whole.get(1), Some(&(Token::Key, "a\u{e9}\n".to_owned())));
        assert_eq!(whole.get(14), Some(&(Token::String, "\u{1f980} \"q\" \u{2603}".to_owned())));
        for window_bytes in 1..8 {
            assert_eq!(tokens(json, window_bytes).unwrap(), whole);
        }
    }

    #[test]
    fn bad_text_stops_with_its_offset() {
        let cases = [
            ("", 0),
            ("{", 1),
            ("{]", 1),
            ("{\"a\" 1}", 5),
            ("{\"a\":1,}", 7),
            ("[1 2]", 3),
            ("[01]", 1),
            ("[1.]", 1),
            ("[-]", 1),
            ("[\"\\x\"]", 2),
            ("[\"\\u12g4\"]", 2),
            ("[\"a\nb\"]", 3),
            ("[tru]", 1),
            ("\"abc", 4),
            ("[1}", 2),
        ];
        for (json, offset) in cases {
            assert_eq!(tokens(json, 3).map_err(|bad| bad.0), Err(offset), "{json}");
        }
        let deep = "[".repeat(MOST_DEPTH + 1);
        assert_eq!(tokens(&deep, 64), Err((MOST_DEPTH as u64, "it is nested too deeply")));
    }

    #[test]
    fn surrogates_alone_are_kept_and_other_bytes_noticed() {
        for (json, bad) in [(&b"\"\\udce9\\ud800x\""[..], false), (b"\"\xe9\"", true), (b"\"\xed\xa0\x80\"", false)] {
            let limits = Limits::default();
            let mut window = Window::new(Source::bytes(json), &limits);
            let mut parser = Json::new(&mut window, &limits);
            assert!(matches!(parser.next(), Ok(Token::String)));
            assert_eq!(parser.bad_utf8().is_some(), bad);
        }
    }
}
