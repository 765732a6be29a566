//! Arguments of log entries, decoded from the words of a ring.

use traceloom_cnanolog::{Arg, raw::ArgType};

use super::Rec;
use crate::record::Words;

/// Arguments as stored in a ring; their texts have been gathered before.
#[derive(Clone)]
pub(crate) struct RingArgs<'a> {
    types: std::slice::Iter<'a, u8>,
    words: Words<'a>,
    texts: &'a [u8],
    /// Max bytes of a text.
    max: usize,
}

impl<'a> RingArgs<'a> {
    pub(crate) fn new(rec: &Rec<'a>, texts: &'a [u8]) -> Self {
        Self { types: rec.site.types.iter(), words: rec.words, texts, max: usize::MAX }
    }

    /// These arguments with texts cut to this length.
    pub(crate) fn with_max(self, max: usize) -> Self {
        Self { max, ..self }
    }
}

impl<'a> Iterator for RingArgs<'a> {
    type Item = Arg<'a>;

    fn next(&mut self) -> Option<Arg<'a>> {
        let code = ArgType(*self.types.next()?);
        let word = self.words.next();
        Some(match code {
            ArgType::INT32 => Arg::Int32(word as i32),
            ArgType::INT64 => Arg::Int64(word as i64),
            ArgType::UINT32 => Arg::Uint32(word as u32),
            ArgType::DOUBLE => Arg::Double(f64::from_bits(word)),
            ArgType::POINTER => Arg::Pointer(word),
            ArgType::CHAR => Arg::Char(word as u8),
            ArgType::STRING => {
                let (text, rest) = self.texts.split_at_checked(word as usize).unwrap_or((self.texts, &[]));
                self.texts = rest;
                self.words.skip(word.div_ceil(8) as usize);
                Arg::String(text.get(..self.max).unwrap_or(text))
            }
            _ => Arg::Uint64(word),
        })
    }
}

/// Appends the texts among the arguments, up to the size of an entry.
pub(crate) fn gather_texts(types: &[u8], mut words: Words<'_>, out: &mut Vec<u8>) {
    for code in types {
        if ArgType(*code) == ArgType::STRING {
            words.bytes(out);
        } else {
            words.next();
        }
    }
}
