//! Line patterns: the tokens of the library's text mode, and those of its decompressor.

/// A part of a pattern.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Token {
    /// `YYYY-MM-DD`
    Date,
    /// `YYYY-MM-DD HH:MM:SS.nnnnnnnnn`
    DateTime,
    /// Source file.
    File,
    /// Name of the level.
    Level,
    /// First letter of the level.
    LevelLetter,
    /// Source line.
    Line,
    /// Literal text of the pattern.
    Literal(Vec<u8>),
    /// The message.
    Message,
    /// Seconds since the start, nine digits.
    Relative,
    /// `HH:MM:SS.mmm`
    ShortTime,
    /// The timestamp as stored.
    Ticks,
    /// `HH:MM:SS`
    Time,
}

/// A parsed line pattern. Unknown tokens are literal text.
#[derive(Clone, Debug)]
pub struct Pattern(Vec<Token>);

impl Default for Pattern {
    /// The library's default.
    fn default() -> Self {
        Self::library(b"[%t] [%l] [%f:%n] %m")
    }
}

impl Pattern {
    /// Tokens of the library's text mode: `%t %T %d %D %l %L %f %F %n %m %%`, and the decompressor's `%r`.
    pub fn library(text: &[u8]) -> Self {
        Self::parse(text, |letter| {
            Some(match letter {
                b't' => Token::DateTime,
                b'T' => Token::ShortTime,
                b'd' => Token::Date,
                b'D' => Token::Time,
                b'l' => Token::Level,
                b'L' => Token::LevelLetter,
                b'f' | b'F' => Token::File,
                b'n' => Token::Line,
                b'm' => Token::Message,
                b'r' => Token::Relative,
                _ => return None,
            })
        })
    }

    /// Tokens of the decompressor's `-f`: `%t %T %r %l %f %L %m %%`.
    pub fn decompressor(text: &[u8]) -> Self {
        Self::parse(text, |letter| {
            Some(match letter {
                b't' => Token::DateTime,
                b'T' => Token::Ticks,
                b'r' => Token::Relative,
                b'l' => Token::Level,
                b'f' => Token::File,
                b'L' => Token::Line,
                b'm' => Token::Message,
                _ => return None,
            })
        })
    }

    /// The tokens in order.
    pub fn tokens(&self) -> &[Token] {
        &self.0
    }

    fn parse(text: &[u8], token: impl Fn(u8) -> Option<Token>) -> Self {
        let mut tokens = Vec::new();
        let mut literal = Vec::new();
        let mut bytes = text.iter().copied();
        while let Some(byte) = bytes.next() {
            if byte != b'%' {
                literal.push(byte);
                continue;
            }
            match bytes.next() {
                Some(b'%') | None => literal.push(b'%'),
                Some(letter) => match token(letter) {
                    Some(token) => {
                        if !literal.is_empty() {
                            tokens.push(Token::Literal(std::mem::take(&mut literal)));
                        }
                        tokens.push(token);
                    }
                    None => literal.extend_from_slice(&[b'%', letter]),
                },
            }
        }
        if !literal.is_empty() {
            tokens.push(Token::Literal(literal));
        }
        Self(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_sets_differ_in_two_letters() {
        assert_eq!(Pattern::library(b"%T%L").tokens(), [Token::ShortTime, Token::LevelLetter]);
        assert_eq!(Pattern::decompressor(b"%T%L").tokens(), [Token::Ticks, Token::Line]);
    }

    #[test]
    fn unknown_tokens_and_a_last_percent_stand_for_themselves() {
        for pattern in [Pattern::library(b"a%q%%%"), Pattern::decompressor(b"a%q%%%")] {
            assert_eq!(pattern.tokens(), [Token::Literal(b"a%q%%".to_vec())]);
        }
    }
}
