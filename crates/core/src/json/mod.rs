//! Reads JSON: a pull parser with bounded memory and depth that returns one token per call, however long the text is.
//!
//! [`crate::text::json`] writes it.

mod input;
mod parser;
mod string;

pub use self::{
    input::{Input, Memory},
    parser::{Fault, MAX_LEVELS, Parser, Token},
};

/// Whether the text is exactly one JSON value, as `JSON.parse` requires.
pub fn is_value(text: &[u8]) -> bool {
    // `JSON.parse` has no depth limit, and a level takes no more memory here than it does in the text.
    let mut parser = Parser::of(text, 0).with_max_levels(text.len());
    let whole = parser.next().and_then(|token| {
        if token == Token::End {
            return Ok(false);
        }
        parser.skip(token)?;
        Ok(parser.next()? == Token::End)
    });
    matches!(whole, Ok(true))
}

/// Whether JSON allows this byte between tokens.
pub const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Source, Window};

    type Told = Result<Vec<(Token, String)>, (u64, &'static str)>;

    fn tokens<I: Input>(mut parser: Parser<I>) -> Told {
        let mut tokens = Vec::new();
        loop {
            match parser.next() {
                Ok(Token::End) => return Ok(tokens),
                Ok(token @ (Token::Key | Token::String | Token::Number)) => {
                    tokens.push((token, String::from_utf8_lossy(parser.text()).into_owned()));
                }
                Ok(token) => tokens.push((token, String::new())),
                Err(Fault::Syntax { offset, what }) => return Err((offset, what)),
                Err(Fault::Fetch(error)) => panic!("{error}"),
            }
        }
    }

    fn windowed(text: &str, window_bytes: usize) -> Told {
        let limits = Limits::with(|limits| limits.window_bytes = window_bytes);
        let mut window = Window::new(Source::bytes(text.as_bytes()), &limits);
        tokens(Parser::new(&mut window, limits.record_bytes))
    }

    #[test]
    fn all_tokens_at_every_window_size() {
        let text = " { \"a\\u00e9\\n\" : [ 1 , -2.5e+3 , true,false , null, {} , [] ] ,\n\"b\":\"\\ud83e\\udd80 \\\"q\\\" \u{2603}\"} 7\n";
        let whole = tokens(Parser::of(text.as_bytes(), 0)).unwrap();
        assert_eq!(whole.len(), 17);
        assert_eq!(whole[1], (Token::Key, "a\u{e9}\n".to_owned()));
        assert_eq!(whole[4], (Token::Number, "-2.5e+3".to_owned()));
        assert_eq!(whole[5].0, Token::Bool(true));
        assert_eq!(whole[14], (Token::String, "\u{1f980} \"q\" \u{2603}".to_owned()));
        assert_eq!(whole[16], (Token::Number, "7".to_owned()), "another document follows");
        for window_bytes in 1..8 {
            assert_eq!(windowed(text, window_bytes).unwrap(), whole);
        }
    }

    #[test]
    fn text_that_is_not_json_stops_at_its_offset() {
        let cases = [
            ("{", 1),
            ("{]", 1),
            ("{a:1}", 1),
            ("{\"a\" 1}", 5),
            ("{\"a\":1,}", 7),
            ("{\"a\":}", 5),
            ("{\"a\":1]", 6),
            ("[1 2]", 3),
            ("[1,]", 3),
            ("[1,", 3),
            ("[01]", 2),
            ("[1.]", 3),
            ("[-]", 2),
            ("[1e+]", 4),
            ("[\"\\x\"]", 2),
            ("[\"\\u12g4\"]", 2),
            ("[\"\\", 2),
            ("[\"a\nb\"]", 3),
            ("[tru]", 1),
            ("NaN", 0),
            ("\"abc", 4),
            ("[1}", 2),
        ];
        for (text, offset) in cases {
            assert_eq!(windowed(text, 3).map_err(|fault| fault.0), Err(offset), "{text}");
            assert!(!is_value(text.as_bytes()), "{text}");
        }
        for text in ["", " ", "1 2"] {
            assert!(!is_value(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn depth_is_bounded_except_where_only_the_form_matters() {
        let deep = "[".repeat(MAX_LEVELS + 1);
        assert_eq!(windowed(&deep, 64).map_err(|fault| fault.0), Err(MAX_LEVELS as u64));
        assert!(!is_value(deep.as_bytes()));
        assert!(is_value([deep.clone(), "]".repeat(deep.len())].concat().as_bytes()));
    }

    #[test]
    fn surrogates_alone_are_replaced_or_kept() {
        let read = |text: &[u8], keeps: bool| {
            let mut parser = Parser::of(text, 0);
            if keeps {
                parser = parser.keep_surrogates();
            }
            assert_eq!(parser.next().unwrap(), Token::String);
            (parser.text().to_vec(), parser.not_utf8())
        };
        let halves = b" \"\\ud83d\\ude00\\ud800\\ud800\\u0041\\udc00\"";
        assert_eq!(read(halves, false), ("\u{1f600}\u{fffd}\u{fffd}A\u{fffd}".into(), None));
        let kept = b"\xf0\x9f\x98\x80\xed\xa0\x80\xed\xa0\x80A\xed\xb0\x80".to_vec();
        assert_eq!(read(halves, true), (kept, None));
        assert_eq!(read(b"  \"\xe9\"", true), (b"\xe9".to_vec(), Some(2)));
        assert_eq!(read(b"\"\xed\xa0\x80\"", true).1, None);
    }

    #[test]
    fn relaxed_text_may_end_early_and_have_a_comma_too_many() {
        let relaxed = |text: &str| {
            let mut parser = Parser::of(text.as_bytes(), 0);
            parser.relax();
            let mut count = 0;
            while parser.next().ok()? != Token::End {
                count += 1;
            }
            Some((count, parser.was_relaxed()))
        };
        assert_eq!(relaxed("[1,{\"a\":2,},"), Some((7, true)));
        assert_eq!(relaxed("[1"), Some((3, true)));
        assert_eq!(relaxed("[1,"), Some((3, true)));
        assert_eq!(relaxed("[1]"), Some((3, false)));
        assert_eq!(relaxed("[1 2]"), None);
    }

    #[test]
    fn values_are_skipped_whole() {
        let mut parser = Parser::of(b"[{\"a\":[1,{}]},2]", 100);
        assert_eq!((parser.next().unwrap(), parser.depth()), (Token::ArrayStart, 1));
        let object = parser.next().unwrap();
        parser.skip(object).unwrap();
        assert_eq!((parser.offset(), parser.depth()), (113, 1));
        assert_eq!((parser.next().unwrap(), parser.token_start()), (Token::Number, 114));
    }

    #[test]
    fn a_text_above_the_limit_is_an_error() {
        for text in ["\"abcd\"", "\"\\n\\n\\n\\n\"", "\"a\\ud83d\\ude00\"", "1234"] {
            for (max_text_bytes, fits) in [(3, false), (5, true)] {
                let mut parser = Parser::new(Memory::new(text.as_bytes(), 0), max_text_bytes);
                assert_eq!(parser.next().is_ok(), fits, "{text}");
            }
        }
    }
}
