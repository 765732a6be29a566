//! Finds where a sized record ends.

use traceloom_core::Result;

use crate::{
    Reader,
    raw::{BLOCK_FIXED, BOOKMARK_FIXED, DESCRIPTOR_FIXED, SizeRule, VALUE_FIXED},
};

/// How far to search for the NULs of a record, beyond which SIZE is more reliable: the recorder's texts are shorter.
pub(super) const MEASURED_BYTES: usize = 4 << 10;

/// The section that contains a record.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Section {
    Block,
    Bookmark,
    Descriptor,
    Switch,
}

/// A record's extent; its bytes are in the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// Number of bytes after the prefix.
    pub(super) payload: usize,
    /// SIZE, if it disagrees with `payload`.
    pub(super) odd_size: Option<u16>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    Whole(Extent),
    Cut(Cut),
}

/// A record that is cut off by the end of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Size of the record, including its prefix.
    pub(super) needed: usize,
    /// Number of bytes that are left.
    pub(super) left: usize,
    /// SIZE, as far as it is stored.
    pub(super) size: u16,
}

impl Reader {
    /// Brings the next record into the window.
    #[inline(always)]
    pub(super) fn frame(&mut self, section: Section) -> Result<Frame> {
        let layout = self.header.layout;
        let ahead = self.window.fill(2)?;
        let Some(prefix) = ahead.first_chunk::<2>() else {
            let size = ahead.first().copied().unwrap_or(0).into();
            return Ok(Frame::Cut(Cut { needed: 2, left: ahead.len(), size }));
        };
        let size = layout.order.u16(*prefix);
        let extent = match layout.size {
            SizeRule::Payload => Extent { payload: size.into(), odd_size: None },
            SizeRule::WithPrefix | SizeRule::Unreliable => self.document_extent(section, size)?,
        };
        let needed = 2 + extent.payload;
        Ok(if self.window.has(needed)? {
            Frame::Whole(extent)
        } else {
            Frame::Cut(Cut { needed, left: self.window.bytes().len(), size })
        })
    }

    #[cold]
    fn document_extent(&mut self, section: Section, size: u16) -> Result<Extent> {
        let layout = self.header.layout;
        let payload = match layout.size {
            SizeRule::Unreliable if size == 0 => 0,
            SizeRule::Unreliable => self.measure(section, size)?.unwrap_or(size.into()),
            SizeRule::Payload | SizeRule::WithPrefix => usize::from(size).saturating_sub(2),
        };
        let odd_size = (layout.size_of_payload(payload) != size.into()).then_some(size);
        Ok(Extent { payload, odd_size })
    }

    /// The payload's length from its fixed part and its NULs, if SIZE is unreliable.
    fn measure(&mut self, section: Section, size: u16) -> Result<Option<usize>> {
        let (fixed, strings) = match section {
            Section::Block => (BLOCK_FIXED, 1),
            Section::Bookmark => (BOOKMARK_FIXED, 1),
            Section::Descriptor => (DESCRIPTOR_FIXED, 2),
            Section::Switch => (self.header.layout.switch_fixed(), 1),
        };
        let order = self.header.layout.order;
        if section == Section::Block && self.next_is_value()? {
            let ahead = self.window.fill(2 + VALUE_FIXED)?;
            let data = ahead.get(24..26).and_then(|bytes| bytes.first_chunk::<2>());
            return Ok(data.map(|bytes| VALUE_FIXED + usize::from(order.u16(*bytes))));
        }
        let reach = usize::from(size).max(MEASURED_BYTES);
        let payload = self.window.fill(2 + reach)?.get(2..).unwrap_or_default();
        let nuls = payload.iter().take(reach).enumerate().skip(fixed).filter(|(_, byte)| **byte == 0);
        Ok(nuls.map(|(index, _)| index + 1).nth(strings - 1))
    }
}
