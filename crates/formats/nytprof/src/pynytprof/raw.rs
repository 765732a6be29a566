//! Numbers and layouts of the dialect, shared by reading and writing. All numbers are little-endian.

/// Bytes of the process record: tag, two numbers, a time.
pub const PROCESS_BYTES: usize = 17;
/// The same with a length behind the tag, as the last C writer has it.
pub const LENGTH_PROCESS_BYTES: usize = 21;
/// Bytes of a chunk's tag and length.
pub const CHUNK_HEAD: usize = 5;
/// Bytes of a line's or an edge's figures.
pub const FIGURES_BYTES: usize = 28;
/// Bytes of a visit in a list of statements.
pub const VISIT_BYTES: usize = 17;
/// The unit of time that the document fixes.
pub const TICKS_PER_SEC: u32 = 10_000_000;

/// Attributes that the document asks for, in its order.
pub const ATTRIBUTES: [&str; 8] =
    ["basetime", "application", "perl_version", "nv_size", "clock_mod", "ticks_per_sec", "osname", "hz"];

/// Options with the values that the tool always writes. The document names the first and the last.
pub const OPTIONS: [(&str, &str); 17] = [
    ("subs", "1"),
    ("blocks", "0"),
    ("leave", "1"),
    ("expand", "0"),
    ("trace", "0"),
    ("use_db_sub", "0"),
    ("compress", "0"),
    ("clock", "1"),
    ("stmts", "1"),
    ("slowops", "2"),
    ("findcaller", "0"),
    ("forkdepth", "-1"),
    ("perldb", "0"),
    ("nameevals", "1"),
    ("nameanonsubs", "1"),
    ("calls", "1"),
    ("evals", "0"),
];

traceloom_core::named_number! {
    /// The first byte of a chunk.
    pub Tag(u8, |tag, f| if tag.is_ascii_graphic() { write!(f, "{}", char::from(tag)) } else { write!(f, "{tag:#04x}") }) {
        /// Attributes, in early files.
        A = b'A',
        /// Reserved; never written.
        B = b'B',
        /// Call-graph edges.
        C = b'C',
        /// Subs.
        D = b'D',
        /// The end.
        E = b'E',
        /// Files.
        F = b'F',
        /// Version, in the binary ancestor.
        H = b'H',
        /// The process, where it has a length.
        P = b'P',
        /// Figures of lines.
        S = b'S',
        /// Strings, in early files.
        T = b'T',
    }
}

impl Tag {
    /// Whether any version of the tool wrote such a chunk, or reserved it.
    pub const fn is_known(self) -> bool {
        self.name().is_some()
    }

    /// Its place in the document's order, if it has one.
    pub const fn rank(self) -> Option<u8> {
        match self {
            Self::S => Some(1),
            Self::D => Some(2),
            Self::C => Some(3),
            Self::E => Some(4),
            _ => None,
        }
    }
}

/// What a chunk holds.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// Bytes.
    Raw,
    /// `S`: file, line, calls in 4 bytes, two times in 8.
    Lines,
    /// `S` with integers of variable length.
    VarintLines,
    /// `D`: number, flags in 4 bytes, name up to a NUL.
    Subs,
    /// `D`: number, file, first and last line in 4 bytes, name up to a NUL.
    Ranges,
    /// `D`: a list of visited lines with times in nanoseconds.
    Visits,
    /// The same with integers of variable length.
    VarintVisits,
    /// `C`: caller, callee, calls in 4 bytes, two times in 8.
    Edges,
    /// `C`: file, line, callee in 4 bytes, two times in 8; goes with [`Form::Ranges`].
    SiteCalls,
    /// `C` with integers of variable length.
    VarintEdges,
    /// `F`: file, flags, size, time of change in 4 bytes, path up to a NUL.
    Files,
    /// The same with integers of variable length.
    VarintFiles,
    /// `F`: file and the number of a string that is not stored.
    IndexedFiles,
    /// `A`: `key=value` up to a NUL.
    Properties,
}

impl Form {
    /// A few words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Raw => "raw",
            Self::Lines => "lines",
            Self::VarintLines => "varint lines",
            Self::Subs => "subs",
            Self::Ranges => "subs with line ranges",
            Self::Visits => "visits",
            Self::VarintVisits => "varint visits",
            Self::Edges => "edges",
            Self::SiteCalls => "calls by place",
            Self::VarintEdges => "varint edges",
            Self::Files => "files",
            Self::VarintFiles => "varint files",
            Self::IndexedFiles => "indexed files",
            Self::Properties => "properties",
        }
    }

    /// Whether its integers have a variable length.
    pub const fn is_varint(self) -> bool {
        matches!(self, Self::VarintLines | Self::VarintVisits | Self::VarintEdges | Self::VarintFiles)
    }
}
