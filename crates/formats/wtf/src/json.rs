//! A small pull parser for JSON: bounded memory, bounded depth, one token per call.

use traceloom_core::{Error, Result, Window};

/// Where the text comes from.
pub(crate) trait Text {
    fn peek(&mut self) -> Result<Option<u8>>;
    fn bump(&mut self);
    fn offset(&self) -> u64;
}

impl Text for Window {
    #[inline]
    fn peek(&mut self) -> Result<Option<u8>> {
        Ok(self.fill(1)?.first().copied())
    }

    #[inline]
    fn bump(&mut self) {
        self.consume(1);
    }

    #[inline]
    fn offset(&self) -> u64 {
        Window::offset(self)
    }
}

/// Text in memory.
#[derive(Debug)]
pub(crate) struct Slice<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl Text for Slice<'_> {
    #[inline]
    fn peek(&mut self) -> Result<Option<u8>> {
        Ok(self.rest.first().copied())
    }

    #[inline]
    fn bump(&mut self) {
        if let Some((_, rest)) = self.rest.split_first() {
            self.rest = rest;
            self.offset += 1;
        }
    }

    #[inline]
    fn offset(&self) -> u64 {
        self.offset
    }
}

/// Levels of nesting that are read where somebody has to make something of them.
pub(crate) const MOST_LEVELS: usize = 512;

/// One step through the text; strings and numbers are in [`Parser::text`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Token {
    ObjectStart,
    ObjectEnd,
    ArrayStart,
    ArrayEnd,
    /// The name of a member; its value follows.
    Key,
    String,
    Number,
    Bool(bool),
    Null,
    /// No further value.
    End,
}

/// Why a text cannot be read.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It cannot be fetched.
    Fetch(Error),
    /// It is not JSON, from this byte on.
    Syntax { offset: u64, what: &'static str },
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Fetch(error)
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Place {
    FirstElement,
    Element,
    FirstKey,
    Key,
    Value,
}

/// Reads one document after another.
#[derive(Debug)]
pub(crate) struct Parser<T> {
    source: T,
    open: Vec<Place>,
    scratch: Vec<u8>,
    token_start: u64,
    longest: usize,
    most_levels: usize,
    relaxed: bool,
    was_relaxed: bool,
}

impl<'a> Parser<Slice<'a>> {
    /// Text in memory that begins at `offset` of the file.
    pub(crate) fn of(bytes: &'a [u8], offset: u64) -> Self {
        Self::new(Slice { rest: bytes, offset }, bytes.len())
    }
}

impl<T: Text> Parser<T> {
    pub(crate) fn new(source: T, longest: usize) -> Self {
        Self {
            source,
            open: Vec::new(),
            scratch: Vec::new(),
            token_start: 0,
            longest,
            most_levels: MOST_LEVELS,
            relaxed: false,
            was_relaxed: false,
        }
    }

    /// Trailing commas and a missing end are accepted, as the version 2 text format allows.
    pub(crate) fn relax(&mut self) {
        self.relaxed = true;
    }

    /// Whether the last call of [`Parser::relax`] was needed.
    pub(crate) fn was_relaxed(&self) -> bool {
        self.was_relaxed
    }

    /// The last key, string or number.
    pub(crate) fn text(&self) -> &[u8] {
        &self.scratch
    }

    /// Where the last token begins.
    pub(crate) fn token_start(&self) -> u64 {
        self.token_start
    }

    /// Where the next byte lies.
    pub(crate) fn offset(&self) -> u64 {
        self.source.offset()
    }

    /// How many arrays and objects are open.
    pub(crate) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn next(&mut self) -> Result<Token, Fault> {
        self.skip_space()?;
        self.token_start = self.source.offset();
        let byte = self.source.peek()?;
        match self.open.last().copied() {
            None => match byte {
                None => Ok(Token::End),
                Some(byte) => self.value(byte),
            },
            Some(Place::FirstElement) if byte == Some(b']') => self.close(Token::ArrayEnd),
            Some(Place::Element) => self.after_element(byte),
            Some(Place::FirstElement) => {
                self.set_place(Place::Element);
                self.expect_value(byte)
            }
            Some(Place::FirstKey) if byte == Some(b'}') => self.close(Token::ObjectEnd),
            Some(Place::FirstKey) => self.key(byte),
            Some(Place::Key) => self.after_member(byte),
            Some(Place::Value) => {
                self.set_place(Place::Key);
                self.expect_value(byte)
            }
        }
    }

    /// Moves over the value that the last token began; a plain value is over already.
    pub(crate) fn skip(&mut self, token: Token) -> Result<(), Fault> {
        if !matches!(token, Token::ObjectStart | Token::ArrayStart) {
            return Ok(());
        }
        let outside = self.open.len().saturating_sub(1);
        while self.open.len() > outside {
            if self.next()? == Token::End {
                return Err(self.fault("the text ends inside a value"));
            }
        }
        Ok(())
    }

    fn after_element(&mut self, byte: Option<u8>) -> Result<Token, Fault> {
        match byte {
            Some(b']') => self.close(Token::ArrayEnd),
            Some(b',') => {
                self.source.bump();
                self.skip_space()?;
                self.token_start = self.source.offset();
                let byte = self.source.peek()?;
                if self.relaxed && matches!(byte, Some(b']') | None) {
                    self.was_relaxed = true;
                    return self.close(Token::ArrayEnd);
                }
                self.expect_value(byte)
            }
            None if self.relaxed => {
                self.was_relaxed = true;
                self.close(Token::ArrayEnd)
            }
            _ => Err(self.fault("a comma or ] is missing")),
        }
    }

    fn after_member(&mut self, byte: Option<u8>) -> Result<Token, Fault> {
        match byte {
            Some(b'}') => self.close(Token::ObjectEnd),
            Some(b',') => {
                self.source.bump();
                self.skip_space()?;
                self.token_start = self.source.offset();
                let byte = self.source.peek()?;
                if self.relaxed && matches!(byte, Some(b'}') | None) {
                    self.was_relaxed = true;
                    return self.close(Token::ObjectEnd);
                }
                self.key(byte)
            }
            None if self.relaxed => {
                self.was_relaxed = true;
                self.close(Token::ObjectEnd)
            }
            _ => Err(self.fault("a comma or } is missing")),
        }
    }

    fn key(&mut self, byte: Option<u8>) -> Result<Token, Fault> {
        if byte != Some(b'"') {
            return Err(self.fault("a name in quotes is missing"));
        }
        self.string()?;
        self.skip_space()?;
        if self.source.peek()? != Some(b':') {
            return Err(self.fault("a colon is missing"));
        }
        self.source.bump();
        self.set_place(Place::Value);
        Ok(Token::Key)
    }

    fn expect_value(&mut self, byte: Option<u8>) -> Result<Token, Fault> {
        match byte {
            Some(byte) => self.value(byte),
            None => Err(self.fault("the text ends inside a value")),
        }
    }

    fn value(&mut self, byte: u8) -> Result<Token, Fault> {
        match byte {
            b'{' => self.begin(Place::FirstKey, Token::ObjectStart),
            b'[' => self.begin(Place::FirstElement, Token::ArrayStart),
            b'"' => {
                self.string()?;
                Ok(Token::String)
            }
            b't' => self.word(b"true", Token::Bool(true)),
            b'f' => self.word(b"false", Token::Bool(false)),
            b'n' => self.word(b"null", Token::Null),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(self.fault("no value begins like this")),
        }
    }

    fn begin(&mut self, place: Place, token: Token) -> Result<Token, Fault> {
        if self.open.len() >= self.most_levels {
            return Err(self.fault("values are nested too deep"));
        }
        self.source.bump();
        self.open.push(place);
        Ok(token)
    }

    fn close(&mut self, token: Token) -> Result<Token, Fault> {
        self.source.bump();
        self.open.pop();
        Ok(token)
    }

    fn set_place(&mut self, place: Place) {
        if let Some(top) = self.open.last_mut() {
            *top = place;
        }
    }

    fn word(&mut self, word: &[u8], token: Token) -> Result<Token, Fault> {
        for expected in word {
            if self.source.peek()? != Some(*expected) {
                return Err(self.fault("no value is spelled like this"));
            }
            self.source.bump();
        }
        Ok(token)
    }

    fn number(&mut self) -> Result<Token, Fault> {
        self.scratch.clear();
        if self.source.peek()? == Some(b'-') {
            self.keep(b'-')?;
        }
        match self.source.peek()? {
            Some(b'0') => self.keep(b'0')?,
            _ => self.digits()?,
        }
        if self.source.peek()? == Some(b'.') {
            self.keep(b'.')?;
            self.digits()?;
        }
        if let Some(letter @ (b'e' | b'E')) = self.source.peek()? {
            self.keep(letter)?;
            if let Some(sign @ (b'+' | b'-')) = self.source.peek()? {
                self.keep(sign)?;
            }
            self.digits()?;
        }
        Ok(Token::Number)
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let before = self.scratch.len();
        while let Some(digit @ b'0'..=b'9') = self.source.peek()? {
            self.keep(digit)?;
        }
        if self.scratch.len() == before {
            return Err(self.fault("a digit is missing"));
        }
        Ok(())
    }

    fn keep(&mut self, byte: u8) -> Result<(), Fault> {
        self.source.bump();
        self.push(byte)
    }

    fn push(&mut self, byte: u8) -> Result<(), Fault> {
        if self.scratch.len() >= self.longest {
            return Err(Error::limit("bytes in one string", self.scratch.len() as u64 + 1, self.longest as u64).into());
        }
        self.scratch.push(byte);
        Ok(())
    }

    fn string(&mut self) -> Result<(), Fault> {
        self.source.bump();
        self.scratch.clear();
        loop {
            match self.source.peek()? {
                Some(b'"') => break,
                Some(b'\\') => {
                    self.source.bump();
                    self.escape()?;
                }
                Some(0..=0x1f) | None => return Err(self.fault("a string does not end")),
                Some(byte) => self.keep(byte)?,
            }
        }
        self.source.bump();
        Ok(())
    }

    fn escape(&mut self) -> Result<(), Fault> {
        let byte = match self.source.peek()? {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.source.bump();
                let unit = self.hex()?;
                return self.unit(unit);
            }
            _ => return Err(self.fault("no escape is spelled like this")),
        };
        self.keep(byte)
    }

    fn hex(&mut self) -> Result<u32, Fault> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.source.peek()?.and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else { return Err(self.fault("four hexadecimal digits are missing")) };
            value = value * 16 + digit;
            self.source.bump();
        }
        Ok(value)
    }

    /// A UTF-16 unit; the second half of a pair must follow at once, a half alone is replaced.
    fn unit(&mut self, mut unit: u32) -> Result<(), Fault> {
        loop {
            if !(0xd800..0xdc00).contains(&unit) {
                return self.push_char(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            if self.source.peek()? != Some(b'\\') {
                return self.push_char(char::REPLACEMENT_CHARACTER);
            }
            self.source.bump();
            if self.source.peek()? != Some(b'u') {
                self.push_char(char::REPLACEMENT_CHARACTER)?;
                return self.escape();
            }
            self.source.bump();
            let low = self.hex()?;
            if (0xdc00..0xe000).contains(&low) {
                let both = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                return self.push_char(char::from_u32(both).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.push_char(char::REPLACEMENT_CHARACTER)?;
            unit = low;
        }
    }

    fn push_char(&mut self, c: char) -> Result<(), Fault> {
        let mut buffer = [0; 4];
        c.encode_utf8(&mut buffer).bytes().try_for_each(|byte| self.push(byte))
    }

    fn skip_space(&mut self) -> Result<()> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.source.peek()? {
            self.source.bump();
        }
        Ok(())
    }

    pub(crate) fn fault(&self, what: &'static str) -> Fault {
        Fault::Syntax { offset: self.source.offset(), what }
    }
}

/// Whether a text is exactly one JSON value, as `JSON.parse` asks for.
pub(crate) fn is_value(text: &[u8]) -> bool {
    let mut parser = Parser::of(text, 0);
    // No depth is too deep for `JSON.parse`, and a level costs no more here than in the text.
    parser.most_levels = text.len();
    let whole = parser.next().and_then(|token| {
        if token == Token::End {
            return Err(parser.fault("there is no value"));
        }
        parser.skip(token)?;
        parser.next()
    });
    matches!(whole, Ok(Token::End))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &[u8], relaxed: bool) -> Option<Vec<(Token, String)>> {
        let mut parser = Parser::of(text, 0);
        if relaxed {
            parser.relax();
        }
        let mut all = Vec::new();
        loop {
            match parser.next().ok()? {
                Token::End => return Some(all),
                token => all.push((token, String::from_utf8_lossy(parser.text()).into_owned())),
            }
        }
    }

    #[test]
    fn values_are_told_apart() {
        let all = tokens(br#"{"a":[1,-2.5e3,"x\u0041\ud83d\ude00\ud800"],"b":{},"c":null} true"#, false).unwrap();
        let text: Vec<_> =
            all.iter().filter(|(token, _)| *token == Token::String).map(|(_, text)| text.as_str()).collect();
        assert_eq!(text, ["xA😀\u{fffd}"]);
        assert_eq!(all.len(), 14);
        assert_eq!(all.last().unwrap().0, Token::Bool(true));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        let bad: [&[u8]; 17] = [
            b"{",
            b"[1",
            b"[1,]",
            b"{\"a\"}",
            b"{\"a\":}",
            b"{a:1}",
            b"01",
            b"1.",
            b"-",
            b"nul",
            b"\"\x01\"",
            b"\"\\x\"",
            b"NaN",
            b"\"a",
            b"[1 2]",
            b"",
            b"1 2",
        ];
        for text in bad {
            assert!(!is_value(text), "{}", String::from_utf8_lossy(text));
        }
        assert!(!is_value(&[b'['; MOST_LEVELS + 1]));
        let deep = ["[".repeat(3000), "]".repeat(3000)].concat();
        assert!(is_value(deep.as_bytes()), "a program may record it, and the original loads it");
        assert!(tokens(deep.as_bytes(), false).is_none());
    }

    #[test]
    fn relaxed_text_may_end_early() {
        assert_eq!(tokens(b"[1,{\"a\":2,},", true).unwrap().len(), 7);
        assert_eq!(tokens(b"[1,", true).unwrap().len(), 3);
        assert!(tokens(b"[1,", false).is_none());
    }
}
