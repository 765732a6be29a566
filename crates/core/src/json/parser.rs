//! The parser: which token may come next, and which one does.

use super::{Input, Memory, is_space};
use crate::{Error, Result};

/// Maximum nesting depth, unless [`Parser::with_max_levels`] sets another.
pub const MAX_LEVELS: usize = 512;

/// One step through the text; keys, strings and numbers are in [`Parser::text`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Token {
    /// `{`
    ObjectStart,
    /// `}`
    ObjectEnd,
    /// `[`
    ArrayStart,
    /// `]`
    ArrayEnd,
    /// The name of a member; its value follows.
    Key,
    /// A string, without its escapes.
    String,
    /// A number, as spelled in the text.
    Number,
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
    /// No further value follows.
    End,
}

impl Token {
    /// The kind of value that this token starts, for messages.
    pub const fn noun(self) -> &'static str {
        match self {
            Self::ObjectStart | Self::ObjectEnd => "an object",
            Self::ArrayStart | Self::ArrayEnd => "an array",
            Self::Key | Self::String => "a string",
            Self::Number => "a number",
            Self::Bool(_) => "a boolean",
            Self::Null => "null",
            Self::End => "nothing",
        }
    }
}

/// Why parsing cannot continue.
#[derive(Debug)]
pub enum Fault {
    /// The text cannot be read, or a limit would be exceeded.
    Fetch(Error),
    /// It is not JSON from this byte on.
    Syntax {
        /// The offset of the byte.
        offset: u64,
        /// The problem.
        what: &'static str,
    },
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Fetch(error)
    }
}

/// What may come next inside an open array or object.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Expect {
    FirstElement,
    Element,
    FirstKey,
    Key,
    Value,
}

/// Reads one document after another, starting at the current position of the input.
#[derive(Debug)]
pub struct Parser<I> {
    pub(super) input: I,
    open: Vec<Expect>,
    pub(super) text: Vec<u8>,
    token_start: u64,
    max_text_bytes: usize,
    max_levels: usize,
    pub(super) keeps_surrogates: bool,
    pub(super) not_utf8: Option<u64>,
    is_relaxed: bool,
    was_relaxed: bool,
}

impl<'a> Parser<Memory<'a>> {
    /// Reads text in memory that starts at `offset` in its file.
    pub fn of(text: &'a [u8], offset: u64) -> Self {
        Self::new(Memory::new(text, offset), text.len())
    }
}

impl<I: Input> Parser<I> {
    /// Reads from the current position of the input; a string or number longer than `max_text_bytes` is an error.
    pub fn new(input: I, max_text_bytes: usize) -> Self {
        Self {
            input,
            open: Vec::new(),
            text: Vec::new(),
            token_start: 0,
            max_text_bytes,
            max_levels: MAX_LEVELS,
            keeps_surrogates: false,
            not_utf8: None,
            is_relaxed: false,
            was_relaxed: false,
        }
    }

    /// Keeps unpaired surrogates as three bytes instead of replacing them: Python uses them to escape file names that
    /// are not UTF-8.
    #[must_use]
    pub fn keep_surrogates(self) -> Self {
        Self { keeps_surrogates: true, ..self }
    }

    /// Sets the maximum nesting depth.
    #[must_use]
    pub fn with_max_levels(self, max_levels: usize) -> Self {
        Self { max_levels, ..self }
    }

    /// Accepts trailing commas and a missing end from here on.
    pub fn relax(&mut self) {
        self.is_relaxed = true;
    }

    /// Whether [`Parser::relax`] was needed.
    pub fn was_relaxed(&self) -> bool {
        self.was_relaxed
    }

    /// The last key, string or number.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The offset at which the last token starts.
    pub fn token_start(&self) -> u64 {
        self.token_start
    }

    /// The offset of the next byte.
    pub fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// How many arrays and objects are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// The offset of the first string that is not UTF-8, if there is one.
    pub fn not_utf8(&self) -> Option<u64> {
        self.not_utf8
    }

    /// The next token.
    #[expect(clippy::should_implement_trait, reason = "it may fail, and the end is a token")]
    pub fn next(&mut self) -> Result<Token, Fault> {
        let byte = self.skip_space()?;
        self.token_start = self.offset();
        match (self.open.last().copied(), byte) {
            (None, None) => Ok(Token::End),
            (None, byte) => self.value(byte),
            (Some(Expect::FirstElement), Some(b']')) => self.close(Token::ArrayEnd),
            (Some(Expect::FirstElement), byte) => {
                self.expect(Expect::Element);
                self.value(byte)
            }
            (Some(Expect::Element), byte) => self.after_element(byte),
            (Some(Expect::FirstKey), Some(b'}')) => self.close(Token::ObjectEnd),
            (Some(Expect::FirstKey), byte) => self.key(byte),
            (Some(Expect::Key), byte) => self.after_member(byte),
            (Some(Expect::Value), byte) => {
                self.expect(Expect::Key);
                self.value(byte)
            }
        }
    }

    /// Skips the value that the last token started; does nothing after a plain value.
    pub fn skip(&mut self, token: Token) -> Result<(), Fault> {
        if matches!(token, Token::ObjectStart | Token::ArrayStart) {
            let outside = self.open.len().saturating_sub(1);
            while self.open.len() > outside {
                self.next()?;
            }
        }
        Ok(())
    }

    /// The text is not JSON from here on.
    pub fn fault(&self, what: &'static str) -> Fault {
        Fault::Syntax { offset: self.offset(), what }
    }

    fn after_element(&mut self, byte: Option<u8>) -> Result<Token, Fault> {
        match byte {
            Some(b']') => self.close(Token::ArrayEnd),
            Some(b',') => match self.after_comma()? {
                Some(b']') | None if self.is_relaxed => self.close_early(Token::ArrayEnd),
                byte => self.value(byte),
            },
            None if self.is_relaxed => self.close_early(Token::ArrayEnd),
            _ => Err(self.fault("expected a comma or ]")),
        }
    }

    fn after_member(&mut self, byte: Option<u8>) -> Result<Token, Fault> {
        match byte {
            Some(b'}') => self.close(Token::ObjectEnd),
            Some(b',') => match self.after_comma()? {
                Some(b'}') | None if self.is_relaxed => self.close_early(Token::ObjectEnd),
                byte => self.key(byte),
            },
            None if self.is_relaxed => self.close_early(Token::ObjectEnd),
            _ => Err(self.fault("expected a comma or }")),
        }
    }

    fn after_comma(&mut self) -> Result<Option<u8>> {
        self.input.take(1);
        let byte = self.skip_space()?;
        self.token_start = self.offset();
        Ok(byte)
    }

    fn key(&mut self, byte: Option<u8>) -> Result<Token, Fault> {
        if byte != Some(b'"') {
            return Err(self.fault("expected a name in quotes"));
        }
        self.string()?;
        if self.skip_space()? != Some(b':') {
            return Err(self.fault("expected a colon"));
        }
        self.input.take(1);
        self.expect(Expect::Value);
        Ok(Token::Key)
    }

    fn value(&mut self, first: Option<u8>) -> Result<Token, Fault> {
        match first {
            Some(b'{') => self.enter(Expect::FirstKey, Token::ObjectStart),
            Some(b'[') => self.enter(Expect::FirstElement, Token::ArrayStart),
            Some(b'"') => self.string().map(|()| Token::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(|()| Token::Number),
            Some(b't') => self.word(b"true", Token::Bool(true)),
            Some(b'f') => self.word(b"false", Token::Bool(false)),
            Some(b'n') => self.word(b"null", Token::Null),
            Some(_) => Err(self.fault("expected a value")),
            None => Err(self.fault("the text ends inside a value")),
        }
    }

    fn enter(&mut self, expect: Expect, token: Token) -> Result<Token, Fault> {
        if self.open.len() >= self.max_levels {
            return Err(self.fault("values are nested too deep"));
        }
        self.input.take(1);
        self.open.push(expect);
        Ok(token)
    }

    fn close(&mut self, token: Token) -> Result<Token, Fault> {
        self.input.take(1);
        self.open.pop();
        Ok(token)
    }

    fn close_early(&mut self, token: Token) -> Result<Token, Fault> {
        self.was_relaxed = true;
        self.close(token)
    }

    fn expect(&mut self, expect: Expect) {
        if let Some(top) = self.open.last_mut() {
            *top = expect;
        }
    }

    fn word(&mut self, word: &[u8], token: Token) -> Result<Token, Fault> {
        if !self.input.ahead(word.len())?.starts_with(word) {
            return Err(self.fault("expected true, false or null"));
        }
        self.input.take(word.len());
        Ok(token)
    }

    /// `-? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?`
    fn number(&mut self) -> Result<(), Fault> {
        self.text.clear();
        self.keep_one(|byte| byte == b'-')?;
        if !self.keep_one(|byte| byte == b'0')? {
            self.digits()?;
        }
        if self.keep_one(|byte| byte == b'.')? {
            self.digits()?;
        }
        if self.keep_one(|byte| matches!(byte, b'e' | b'E'))? {
            self.keep_one(|byte| matches!(byte, b'+' | b'-'))?;
            self.digits()?;
        }
        Ok(())
    }

    /// Keeps the next byte if `is_wanted` accepts it.
    fn keep_one(&mut self, is_wanted: impl Fn(u8) -> bool) -> Result<bool> {
        let is_there = self.input.ahead(1)?.first().is_some_and(|byte| is_wanted(*byte));
        if is_there {
            self.keep(1)?;
        }
        Ok(is_there)
    }

    fn digits(&mut self) -> Result<(), Fault> {
        let before = self.text.len();
        while self.keep_while(|byte| byte.is_ascii_digit())? {}
        if self.text.len() == before { Err(self.fault("expected a digit")) } else { Ok(()) }
    }

    /// Keeps the available bytes while they match; returns whether more may follow.
    pub(super) fn keep_while(&mut self, is_like: impl Fn(&u8) -> bool) -> Result<bool> {
        let bytes = self.input.ahead(1)?;
        let run = bytes.iter().position(|byte| !is_like(byte)).unwrap_or(bytes.len());
        let may_follow = run > 0 && run == bytes.len();
        self.keep(run)?;
        Ok(may_follow)
    }

    fn keep(&mut self, len: usize) -> Result<()> {
        self.check_room(len)?;
        self.text.extend_from_slice(self.input.take(len));
        Ok(())
    }

    /// Adds bytes that are spelled differently in the input.
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_room(bytes.len())?;
        self.text.extend_from_slice(bytes);
        Ok(())
    }

    fn check_room(&self, more: usize) -> Result<()> {
        let wanted = self.text.len().saturating_add(more);
        if wanted > self.max_text_bytes {
            return Err(Error::limit("bytes in one string", wanted as u64, self.max_text_bytes as u64));
        }
        Ok(())
    }

    /// The first byte that is not white space, if there is one.
    fn skip_space(&mut self) -> Result<Option<u8>> {
        loop {
            let bytes = self.input.ahead(1)?;
            let space = bytes.iter().position(|byte| !is_space(*byte)).unwrap_or(bytes.len());
            let (first, is_end) = (bytes.get(space).copied(), bytes.is_empty());
            if space > 0 {
                self.input.take(space);
            }
            if first.is_some() || is_end {
                return Ok(first);
            }
        }
    }
}
