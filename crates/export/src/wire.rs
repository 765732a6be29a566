//! The subset of protobuf that targets need.

use traceloom_passes::LookId;

/// Declares a module per message with the numbers of its fields; numbers after `;` are values of fields.
macro_rules! messages {
    ($($(#[$about:meta])* $message:ident {
        $($(#[$field_about:meta])* $field:ident = $number:literal),* $(; $($value:ident = $held:literal),*)?
    })*) => {$(
        $(#[$about])*
        pub(super) mod $message {
            $($(#[$field_about])* pub(crate) const $field: u32 = $number;)*
            $($(pub(crate) const $value: u64 = $held;)*)?
        }
    )*};
}
pub(crate) use messages;

/// A message under construction.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    pub(crate) bytes: Vec<u8>,
}

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;

impl Wire {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(crate) fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    #[inline]
    fn tag(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    #[inline]
    pub(crate) fn uint(&mut self, field: u32, number: u64) {
        self.tag(field, VARINT);
        self.varint(number);
    }

    pub(crate) fn int(&mut self, field: u32, number: i64) {
        self.uint(field, number as u64);
    }

    pub(crate) fn fixed64(&mut self, field: u32, number: u64) {
        self.tag(field, FIXED64);
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn double(&mut self, field: u32, number: f64) {
        self.fixed64(field, number.to_bits());
    }

    /// The head of a message whose bytes follow.
    #[inline]
    pub(crate) fn length(&mut self, field: u32, len: usize) {
        self.tag(field, BYTES);
        self.varint(len as u64);
    }

    /// A text, or a complete message.
    #[inline]
    pub(crate) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.length(field, bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn text(&mut self, field: u32, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    /// A nested message.
    #[inline]
    pub(crate) fn message<R>(&mut self, field: u32, fill: impl FnOnce(&mut Self) -> R) -> R {
        self.tag(field, BYTES);
        // Nearly all lengths take one byte; for a longer one, the message is moved.
        let begin = self.bytes.len();
        self.bytes.push(0);
        let result = fill(self);
        let len = self.bytes.len() - begin - 1;
        if len < 0x80 {
            self.bytes[begin] = len as u8;
        } else {
            let mut length = Self::default();
            length.varint(len as u64);
            self.bytes.splice(begin..=begin, length.bytes);
        }
        result
    }
}

/// Fields that many spans share, encoded once per look.
#[derive(Debug)]
pub(crate) struct LookBytes {
    /// Where the bytes of each look start and end.
    ranges: Vec<Option<(u32, u32)>>,
    /// Ends with [`QUICK_BYTES`] zeros.
    bytes: Vec<u8>,
    max_look_bytes: usize,
}

/// Number of bytes that are copied at once.
const QUICK_BYTES: usize = 32;

/// As many looks as [`traceloom_passes::Looks`] keeps in memory; further looks usually occur only once.
const MAX_LOOKS: usize = 1 << 18;

impl LookBytes {
    /// An empty cache that does not keep looks larger than this.
    pub(crate) fn new(max_look_bytes: usize) -> Self {
        Self { ranges: Vec::new(), bytes: vec![0; QUICK_BYTES], max_look_bytes }
    }

    /// The bytes of a look, if they are known.
    #[inline]
    pub(crate) fn get(&self, id: LookId) -> Option<&[u8]> {
        let (start, end) = self.range(id)?;
        self.bytes.get(start..end)
    }

    #[inline]
    fn range(&self, id: LookId) -> Option<(usize, usize)> {
        let (start, end) = self.ranges.get(id.index()).copied().flatten()?;
        Some((start as usize, end as usize))
    }

    /// Appends the bytes of a look; returns false if they are not known.
    #[inline]
    pub(crate) fn put(&self, id: LookId, out: &mut Vec<u8>) -> bool {
        let Some((start, end)) = self.range(id) else { return false };
        let (chunks, _) = self.bytes.get(start..).unwrap_or_default().as_chunks::<QUICK_BYTES>();
        let whole = out.len() + end - start;
        // Copying a constant number of bytes is much faster than copying the exact number.
        chunks.iter().take((end - start).div_ceil(QUICK_BYTES)).for_each(|chunk| out.extend_from_slice(chunk));
        out.truncate(whole);
        true
    }

    /// Keeps the bytes of a look.
    pub(crate) fn keep(&mut self, id: LookId, bytes: &[u8]) {
        if id.index() >= MAX_LOOKS || bytes.len() > self.max_look_bytes {
            return;
        }
        if self.ranges.len() <= id.index() {
            self.ranges.resize(id.index() + 1, None);
        }
        let start = self.bytes.len() - QUICK_BYTES;
        self.bytes.truncate(start);
        self.bytes.extend_from_slice(bytes);
        self.ranges[id.index()] = Some((start as u32, self.bytes.len() as u32));
        self.bytes.extend_from_slice(&[0; QUICK_BYTES]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_messages_are_laid_out_as_the_format_says() {
        let mut wire = Wire::default();
        wire.uint(1, 300);
        wire.int(2, -1);
        wire.message(3, |wire| wire.text(16, "ab"));
        assert_eq!(
            wire.bytes,
            [
                [8, 0xac, 2].as_slice(),
                &[16, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
                &[0x1a, 5, 0x82, 1, 2, b'a', b'b']
            ]
            .concat()
        );
    }

    #[test]
    fn looks_of_every_length_come_back_as_they_were_kept() {
        let mut looks = LookBytes::new(3 * QUICK_BYTES);
        let look = |id: usize| vec![id as u8 + 1; id];
        (0..=4 * QUICK_BYTES).for_each(|id| looks.keep(LookId(id as u32), &look(id)));
        for id in 0..=4 * QUICK_BYTES {
            let mut out = vec![7];
            assert_eq!(looks.put(LookId(id as u32), &mut out), id <= 3 * QUICK_BYTES);
            let kept = if id <= 3 * QUICK_BYTES { look(id) } else { Vec::new() };
            assert_eq!(out, [vec![7], kept].concat());
        }
    }

    #[test]
    fn a_long_message_has_a_long_length() {
        let mut wire = Wire::default();
        wire.message(1, |wire| wire.bytes(1, &[7; 300]));
        assert_eq!(wire.bytes[..6], [0x0a, 0xaf, 2, 0x0a, 0xac, 2]);
        assert_eq!(wire.bytes.len(), 306);
    }
}
