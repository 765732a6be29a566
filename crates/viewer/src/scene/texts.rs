//! Many texts, compressed in blocks.

use lz4_flex::block::{compress, decompress_into};

/// Max bytes of the texts in a block; a longer text gets a separate block. Small enough to be decompressed for a single
/// line.
const BLOCK: usize = 32 << 10;

/// Texts by number.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// The end of each text in its block.
    ends: Vec<u32>,
    blocks: Vec<Block>,
    /// The texts that are not in a block yet.
    tail: String,
    /// Number of the first of them.
    tail_first: usize,
}

#[derive(Debug)]
struct Block {
    first: usize,
    /// Decompressed size.
    long: usize,
    packed: Box<[u8]>,
}

impl Texts {
    pub(crate) fn push(&mut self, text: &str) {
        if !self.tail.is_empty() && self.tail.len() + text.len() > BLOCK {
            self.seal();
        }
        self.tail.push_str(text);
        self.ends.push(u32::try_from(self.tail.len()).unwrap_or(u32::MAX));
    }

    /// Frees reserved memory; call after the last push.
    pub(crate) fn close(&mut self) {
        self.ends.shrink_to_fit();
        self.blocks.shrink_to_fit();
        self.tail.shrink_to_fit();
    }

    /// Approximate bytes of texts.
    pub(crate) fn resident_bytes(&self) -> usize {
        self.ends.capacity() * 4 + self.blocks.iter().map(|block| block.packed.len()).sum::<usize>()
    }

    pub(crate) fn reader(&self) -> TextReader<'_> {
        TextReader { texts: self, block: None, text: String::new() }
    }

    fn seal(&mut self) {
        let packed = compress(self.tail.as_bytes()).into_boxed_slice();
        self.blocks.push(Block { first: self.tail_first, long: self.tail.len(), packed });
        self.tail.clear();
        self.tail_first = self.ends.len();
    }
}

/// Reads texts; consecutive texts of one block are decompressed once.
pub(crate) struct TextReader<'t> {
    texts: &'t Texts,
    /// The decompressed block.
    block: Option<usize>,
    text: String,
}

impl TextReader<'_> {
    /// A text; empty if there is none with this number.
    pub(crate) fn get(&mut self, number: usize) -> &str {
        let texts = self.texts;
        let Some(end) = texts.ends.get(number).copied() else { return "" };
        let (first, whole) = if number >= texts.tail_first {
            (texts.tail_first, texts.tail.as_str())
        } else {
            let block = texts.blocks.partition_point(|block| block.first <= number) - 1;
            self.unpack(block);
            (texts.blocks[block].first, self.text.as_str())
        };
        let begin = if number == first { 0 } else { texts.ends[number - 1] };
        whole.get(begin as usize..end as usize).unwrap_or("")
    }

    fn unpack(&mut self, number: usize) {
        if self.block == Some(number) {
            return;
        }
        let block = &self.texts.blocks[number];
        let mut bytes = std::mem::take(&mut self.text).into_bytes();
        bytes.resize(block.long, 0);
        // We compressed it from a text ourselves.
        let unpacked = decompress_into(&block.packed, &mut bytes).ok().and_then(|_| String::from_utf8(bytes).ok());
        self.text = unpacked.unwrap_or_default();
        self.block = Some(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_comes_back_in_any_order() {
        let long = "ö".repeat(3 * BLOCK);
        let text = |number: usize| match number {
            0 | 17 => String::new(),
            500 => long.clone(),
            _ => format!("request {number} took {} µs", number * 7 % 1_000),
        };
        let mut texts = Texts::default();
        (0..5_000).for_each(|number| texts.push(&text(number)));
        texts.close();
        assert!(texts.blocks.len() > 3, "there are blocks");
        let packed: usize = texts.blocks.iter().map(|block| block.packed.len()).sum();
        let plain: usize = texts.blocks.iter().map(|block| block.long).sum();
        assert!(packed * 2 < plain, "{packed} of {plain} bytes");
        let mut reader = texts.reader();
        for number in (0..5_000).chain((0..5_000).rev().step_by(7)).chain([500, 0, 4_999, 499, 501]) {
            assert_eq!(reader.get(number), text(number), "{number}");
        }
        assert_eq!(reader.get(5_000), "");
    }
}
