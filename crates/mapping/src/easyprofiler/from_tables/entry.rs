//! The contents of sections, in file order.

use hashbrown::HashMap;
use traceloom_core::{Arena, Error, Limits, Result, Sorter, Store, spill_row};
use traceloom_easyprofiler::raw::BlockType;
use traceloom_passes::NameId;

/// Context switches come first in a section, then blocks, events and values.
pub(super) const SWITCH: u8 = 0;
pub(super) const RECORD: u8 = 1;

/// The offset of an entry without a text.
pub(super) const NO_TEXT: u64 = u64::MAX;

spill_row! {
    /// A record to be written.
    #[derive(Debug, Eq, PartialEq)]
    pub(super) struct Entry {
        pub(super) section: u32,
        /// [`SWITCH`] or [`RECORD`].
        pub(super) part: u8,
        /// In output time, like `begin_ns`.
        pub(super) end_ns: u64,
        /// The order of entries that end at the same time.
        pub(super) order: u64,
        pub(super) begin_ns: u64,
        /// The descriptor; for a switch, its name.
        pub(super) kind: u32,
        /// The offset of its text or data, or [`NO_TEXT`].
        pub(super) text: u64,
        /// For a switch, the thread that ran instead; for a value, its id.
        pub(super) number: u64,
    } by (section, part, end_ns, order)
}

/// The contents of a descriptor.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Kind {
    pub(super) block_type: BlockType,
    pub(super) name: NameId,
    pub(super) file: Option<NameId>,
    pub(super) line: Option<u32>,
    pub(super) color: Option<u32>,
}

/// A bookmark of the user.
#[derive(Debug)]
pub(super) struct Bookmark {
    pub(super) ts_ns: u64,
    pub(super) color: Option<u32>,
    pub(super) name: NameId,
}

/// Everything that goes into the file.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) sorter: Sorter<Entry>,
    pub(super) texts: Store,
    pub(super) kinds: Vec<Kind>,
    pub(super) bookmarks: Vec<Bookmark>,
    pub(super) last_ns: u64,
    numbers: HashMap<Kind, u32>,
    most: usize,
}

impl Entries {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            sorter: Sorter::new(&Arena::new(limits.tree_bytes)),
            texts: Store::new(limits.tree_bytes / 4),
            kinds: Vec::new(),
            bookmarks: Vec::new(),
            last_ns: 0,
            numbers: HashMap::new(),
            most: limits.entries,
        }
    }

    /// The number of a descriptor.
    pub(super) fn kind(&mut self, kind: Kind) -> Result<u32> {
        let (kinds, most) = (&mut self.kinds, self.most);
        if kinds.len() >= most {
            return Err(Error::limit("descriptors", kinds.len() as u64 + 1, most as u64));
        }
        Ok(*self.numbers.entry(kind).or_insert_with(|| {
            kinds.push(kind);
            kinds.len() as u32 - 1
        }))
    }

    pub(super) fn push(&mut self, entry: Entry) -> Result<()> {
        self.last_ns = self.last_ns.max(entry.end_ns);
        self.sorter.push(entry)
    }

    /// Keeps bytes of a record; returns their offset.
    pub(super) fn keep(&mut self, bytes: &[u8]) -> Result<u64> {
        let place = self.texts.append(&(bytes.len() as u64).to_le_bytes())?;
        self.texts.append(bytes)?;
        Ok(place)
    }
}

/// Reads bytes that were kept.
pub(super) fn read(texts: &mut Store, place: u64, into: &mut Vec<u8>) -> Result<()> {
    let mut length = [0; 8];
    texts.read(place, &mut length)?;
    into.clear();
    into.resize(u64::from_le_bytes(length) as usize, 0);
    texts.read(place + 8, into)
}
