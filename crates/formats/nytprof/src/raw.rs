//! Numbers and layouts of the real stream, shared by the reader and the writer.

/// The magic at the start of the first line.
pub const MAGIC: &[u8] = b"NYTProf ";
/// The only major version that Devel::NYTProf reads and writes since 2013.
pub const NYTP_FILE_MAJOR_VERSION: u32 = 5;
/// The minor version; no other was ever released.
pub const NYTP_FILE_MINOR_VERSION: u32 = 0;
/// Ticks per second if a file does not state them: the resolution that the profiler uses for `clock_gettime`.
pub const DEFAULT_TICKS_PER_SEC: u32 = 10_000_000;
/// Size of the decompressed data that Devel::NYTProf holds at once; it loses a text line across such a boundary.
pub const ORIGINAL_BUFFER: u64 = 163_840;
/// Devel::NYTProf garbles a longer text line inside the compressed part.
pub const ORIGINAL_LINE: usize = 8192;
/// Devel::NYTProf makes an array of all lines of a file; above this number, it runs out of memory sooner or later.
pub const ORIGINAL_LINES: u32 = 16 << 20;

traceloom_core::named_number! {
    /// The first byte of a record.
    pub Tag(u8, |tag, f| write!(f, "{tag:#04x} ({})", tag.escape_ascii())) {
        /// A line `key=value` about the run.
        ATTRIBUTE = b':',
        /// A line `key=value` of the profiler's options.
        OPTION = b'!',
        /// A line of text.
        COMMENT = b'#',
        /// A statement with the lines of its block and sub.
        TIME_BLOCK = b'*',
        /// A statement.
        TIME_LINE = b'+',
        /// The next statement was already counted.
        DISCOUNT = b'-',
        /// A file or string eval.
        NEW_FID = b'@',
        /// A line of source.
        SRC_LINE = b'S',
        /// The source range of a sub.
        SUB_INFO = b's',
        /// Calls to a sub from one line.
        SUB_CALLERS = b'c',
        /// A process starts.
        PID_START = b'P',
        /// A process ends.
        PID_END = b'p',
        /// A string of bytes.
        STRING = b'\'',
        /// A string in UTF-8.
        STRING_UTF8 = b'"',
        /// A zlib stream follows.
        START_DEFLATE = b'z',
        /// A sub is entered.
        SUB_ENTRY = b'>',
        /// A sub is left.
        SUB_RETURN = b'<',
    }
}

impl Tag {
    /// Whether a record may start with it.
    #[inline]
    pub const fn is_record(self) -> bool {
        self.name().is_some() && !matches!(self, Self::STRING | Self::STRING_UTF8)
    }
}

traceloom_core::named_flags! {
    /// The flags of a file.
    pub FidFlags(u32, ",") {
        /// Compiled from a `.pmc`.
        IS_PMC = 0x1 "pmc",
        /// First seen in a statement.
        VIA_STMT = 0x2 "viastmt",
        /// First seen in a sub call.
        VIA_SUB = 0x4 "viasub",
        /// Part of an autosplit file.
        IS_AUTOSPLIT = 0x8 "autosplit",
        /// Perl has the source.
        HAS_SRC = 0x10 "hassrc",
        /// The source is stored.
        SAVE_SRC = 0x20 "savesrc",
        /// Another name of a file.
        IS_ALIAS = 0x40 "alias",
        /// Not a file: it represents something unknown.
        IS_FAKE = 0x80 "fake",
        /// `-e`, `-`, or first seen as the parent of an eval; not set on evals.
        IS_EVAL = 0x100 "eval",
    }
}

/// Maximum size of a stored integer.
pub const MAX_INTEGER_BYTES: usize = 5;

/// An integer as stored.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Integer {
    /// Its value.
    pub value: u32,
    /// Size in bytes.
    pub len: usize,
    /// Whether a writer would write different bytes.
    pub is_padded: bool,
}

/// Reads an integer: one to five bytes, the most significant first; `None` if the bytes end early.
#[inline]
pub fn get_integer(bytes: &[u8]) -> Option<Integer> {
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        return Some(Integer { value: first.into(), len: 1, is_padded: false });
    }
    get_long_integer(first, rest)
}

#[inline]
fn get_long_integer(first: u8, rest: &[u8]) -> Option<Integer> {
    let first_bits = u32::from(first);
    let (value, len, least) = match (first, rest) {
        (..0xc0, [a, ..]) => ((first_bits & 0x7f) << 8 | u32::from(*a), 2, 0x80),
        (0xc0..0xe0, [a, b, ..]) => (u32::from_be_bytes([0, first & 0x1f, *a, *b]), 3, 0x4000),
        (0xe0..0xff, [a, b, c, ..]) => (u32::from_be_bytes([first & 0x0f, *a, *b, *c]), 4, 0x20_0000),
        (0xff, [a, b, c, d, ..]) => (u32::from_be_bytes([*a, *b, *c, *d]), 5, 0x1000_0000),
        _ => return None,
    };
    // The prefixes f0 to fe act like e0 to ee, and no writer uses them.
    let is_padded = value < least || (0xf0..0xff).contains(&first);
    Some(Integer { value, len, is_padded })
}

/// Writes an integer in its shortest form.
#[inline]
pub fn put_integer(value: u32, out: &mut Vec<u8>) {
    let [a, b, c, d] = value.to_be_bytes();
    match value {
        ..0x80 => out.push(d),
        0x80..0x4000 => out.extend_from_slice(&[c | 0x80, d]),
        0x4000..0x20_0000 => out.extend_from_slice(&[b | 0xc0, c, d]),
        0x20_0000..0x1000_0000 => out.extend_from_slice(&[a | 0xe0, b, c, d]),
        _ => out.extend_from_slice(&[0xff, a, b, c, d]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_an_integer_is_read_and_the_shortest_written() {
        let edges = [0, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, 0xfff_ffff, 0x1000_0000, u32::MAX];
        for (value, len) in edges.into_iter().zip([1, 1, 2, 2, 3, 3, 4, 4, 5, 5]) {
            let mut bytes = Vec::new();
            put_integer(value, &mut bytes);
            assert_eq!(bytes.len(), len);
            assert_eq!(get_integer(&bytes), Some(Integer { value, len, is_padded: false }));
            assert_eq!(get_integer(&bytes[..len - 1]), None);
        }
        for padded in [&[0x80, 5][..], &[0xc0, 0, 5], &[0xe0, 0, 0, 5], &[0xf0, 0, 0, 5], &[0xff, 0, 0, 0, 5]] {
            assert_eq!(get_integer(padded), Some(Integer { value: 5, len: padded.len(), is_padded: true }));
        }
        assert_eq!(get_integer(&[0xfe, 1, 2, 3]).map(|integer| integer.value), Some(0x0e01_0203));
    }

    #[test]
    fn numbers_print_their_names() {
        assert_eq!(Tag(b'z').to_string(), "START_DEFLATE");
        assert_eq!(Tag(b'\n').to_string(), "0x0a (\\n)");
        assert_eq!(FidFlags(0x12).to_string(), "viastmt,hassrc");
        assert_eq!(FidFlags(0x1002).to_string(), "viastmt,0x1000");
    }
}
