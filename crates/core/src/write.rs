//! Buffers the bytes of records, so that the output gets few, large writes.

use std::io::Write;

use crate::{ByteOrder, Result};

/// Bytes buffered before they are passed on.
const FLUSH_BYTES: usize = 64 << 10;

/// An output that records write their fields to; the counterpart of [`Cursor`](crate::Cursor).
///
/// Call order: `(put* end_record)* (flush out_mut)* finish`. Without `finish`, bytes may never be written.
#[derive(Debug)]
pub struct Output<W> {
    out: W,
    order: ByteOrder,
    buffer: Vec<u8>,
}

impl<W: Write> Output<W> {
    /// An empty output; numbers are written in this byte order.
    pub fn new(out: W, order: ByteOrder) -> Self {
        Self { out, order, buffer: Vec::new() }
    }

    /// The byte order of numbers.
    #[inline]
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// The buffered bytes, to append to.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Appends bytes.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Appends a byte.
    #[inline]
    pub fn put_u8(&mut self, byte: u8) {
        self.buffer.push(byte);
    }

    /// Passes the bytes on if there are many; called after each record, so that a record stays whole until then.
    #[inline]
    pub fn end_record(&mut self) -> Result<()> {
        if self.buffer.len() >= FLUSH_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Passes all bytes on.
    pub fn flush(&mut self) -> Result<()> {
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// The underlying output; buffered bytes come after anything written to it directly.
    pub fn out_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Passes all bytes on and returns the output.
    pub fn finish(mut self) -> Result<W> {
        self.flush()?;
        self.out.flush()?;
        Ok(self.out)
    }
}

macro_rules! put_numbers {
    ($($put:ident $type:ty),*) => {
        impl<W: Write> Output<W> {
            $(
                #[doc = concat!("Appends a `", stringify!($type), "`.")]
                #[inline]
                pub fn $put(&mut self, value: $type) {
                    self.buffer.extend_from_slice(&self.order.$put(value));
                }
            )*
        }
    };
}
put_numbers!(
    put_u16 u16, put_u32 u32, put_u64 u64, put_i16 i16, put_i32 i32, put_i64 i64, put_f32 f32, put_f64 f64
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_out_in_order_and_in_few_writes() {
        struct Counting(Vec<usize>);
        impl Write for Counting {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                self.0.push(bytes.len());
                Ok(bytes.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut output = Output::new(Counting(Vec::new()), ByteOrder::Big);
        for number in 0..20_000 {
            output.put_u64(number);
            output.end_record().unwrap();
        }
        assert_eq!(output.finish().unwrap().0, [FLUSH_BYTES, FLUSH_BYTES, 160_000 - 2 * FLUSH_BYTES]);

        let mut output = Output::new(Vec::new(), ByteOrder::Big);
        output.put_u8(1);
        output.put_u16(2);
        output.put(b"ab");
        output.buffer().push(3);
        assert_eq!(output.finish().unwrap(), [1, 0, 2, b'a', b'b', 3]);
    }
}
