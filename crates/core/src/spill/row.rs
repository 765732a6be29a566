//! The layout of a row outside memory.

use super::pack::{pack, unpack};
use crate::{Cursor, Result};

/// A value of fixed size that can be spilled and read back; [`spill_row!`](crate::spill_row) declares structs of such
/// values.
pub trait SpillRow: Copy {
    /// Bytes in the file.
    const BYTES: usize;

    /// Appends exactly [`SpillRow::BYTES`] bytes.
    fn put(&self, bytes: &mut Vec<u8>);

    /// Reads the bytes back.
    fn take(cursor: &mut Cursor<'_>) -> Result<Self>;

    /// Packs many rows together, in fewer bytes if they are similar.
    fn pack(rows: impl ExactSizeIterator<Item = Self> + Clone, bytes: &mut Vec<u8>) {
        rows.for_each(|row| row.put(bytes));
    }

    /// Unpacks the rows and stores each in a row of the caller, all of which hold the first one already.
    fn unpack<R>(
        rows: &mut [R],
        place: impl for<'r> Fn(&'r mut R) -> &'r mut Self,
        cursor: &mut Cursor<'_>,
    ) -> Result<()> {
        rows.iter_mut().try_for_each(|row| {
            *place(row) = Self::take(cursor)?;
            Ok(())
        })
    }
}

macro_rules! numbers {
    ($($number:ident $(($packed:ident))?)*) => {$(
        impl SpillRow for $number {
            const BYTES: usize = size_of::<$number>();

            #[inline]
            fn put(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
                cursor.$number("spilled number")
            }

            $(
                fn pack(rows: impl ExactSizeIterator<Item = Self> + Clone, bytes: &mut Vec<u8>) {
                    pack(rows.map(|row| row as $packed), bytes);
                }

                fn unpack<R>(
                    rows: &mut [R],
                    place: impl for<'r> Fn(&'r mut R) -> &'r mut Self,
                    cursor: &mut Cursor<'_>,
                ) -> Result<()> {
                    unpack(rows, |row, number| *place(row) = number as Self, cursor)
                }
            )?
        }
    )*};
}
numbers!(u8(i64) u16(i64) u32(i64) u64(i64) i32(i64) i64(i64) f64);

impl SpillRow for bool {
    const BYTES: usize = 1;

    fn put(&self, bytes: &mut Vec<u8>) {
        u8::from(*self).put(bytes);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        Ok(u8::take(cursor)? != 0)
    }

    fn pack(rows: impl ExactSizeIterator<Item = Self> + Clone, bytes: &mut Vec<u8>) {
        pack(rows.map(i64::from), bytes);
    }

    fn unpack<R>(
        rows: &mut [R],
        place: impl for<'r> Fn(&'r mut R) -> &'r mut Self,
        cursor: &mut Cursor<'_>,
    ) -> Result<()> {
        unpack(rows, |row, number| *place(row) = number != 0, cursor)
    }
}

impl<T: SpillRow + Default> SpillRow for Option<T> {
    const BYTES: usize = 1 + T::BYTES;

    fn put(&self, bytes: &mut Vec<u8>) {
        self.is_some().put(bytes);
        self.unwrap_or_default().put(bytes);
    }

    fn take(cursor: &mut Cursor<'_>) -> Result<Self> {
        let (is_some, value) = (bool::take(cursor)?, T::take(cursor)?);
        Ok(is_some.then_some(value))
    }
}

/// Declares a struct that can be spilled, if all its fields can.
///
/// `by (…)` names the fields to sort by, for a [`Sorter`](crate::Sorter).
///
/// ```
/// use traceloom_core::{Arena, Sorter, spill_row};
///
/// spill_row! {
///     /// Bytes of a log line, and their place in the order.
///     #[derive(Debug, Eq, PartialEq)]
///     struct Line {
///         offset: u64,
///         thread: u32,
///         ts_ns: i64,
///     } by (thread, ts_ns)
/// }
///
/// let mut lines = Sorter::new(&Arena::new(0));
/// lines.push(Line { offset: 0, thread: 2, ts_ns: 1 })?;
/// lines.push(Line { offset: 8, thread: 1, ts_ns: 5 })?;
/// let first = lines.finish()?.iter()?.next().transpose()?;
/// assert_eq!(first, Some(Line { offset: 8, thread: 1, ts_ns: 5 }));
/// # Ok::<_, traceloom_core::Error>(())
/// ```
#[macro_export]
macro_rules! spill_row {
    ($(#[$about:meta])* $visible:vis struct $type:ident {
        $($(#[$field_doc:meta])* $field_visible:vis $field:ident: $of:ty),* $(,)?
    } by ($($key:ident),+)) => {
        $crate::spill_row! {
            $(#[$about])* $visible struct $type { $($(#[$field_doc])* $field_visible $field: $of),* }
        }

        impl ::std::cmp::Ord for $type {
            #[inline]
            fn cmp(&self, other: &Self) -> ::std::cmp::Ordering {
                ($(&self.$key,)+).cmp(&($(&other.$key,)+))
            }
        }

        impl ::std::cmp::PartialOrd for $type {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<::std::cmp::Ordering> {
                Some(self.cmp(other))
            }

            // Sorting calls this most, and the derived one takes more steps.
            #[inline]
            fn lt(&self, other: &Self) -> bool {
                ($(self.$key,)+) < ($(other.$key,)+)
            }
        }
    };
    ($(#[$about:meta])* $visible:vis struct $type:ident {
        $($(#[$field_doc:meta])* $field_visible:vis $field:ident: $of:ty),* $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        $visible struct $type {
            $($(#[$field_doc])* $field_visible $field: $of,)*
        }

        impl $crate::SpillRow for $type {
            const BYTES: usize = 0 $(+ <$of as $crate::SpillRow>::BYTES)*;

            #[inline]
            fn put(&self, bytes: &mut Vec<u8>) {
                $($crate::SpillRow::put(&self.$field, bytes);)*
            }

            #[inline]
            fn take(cursor: &mut $crate::Cursor<'_>) -> $crate::Result<Self> {
                Ok(Self { $($field: $crate::SpillRow::take(cursor)?,)* })
            }

            fn pack(rows: impl ::std::iter::ExactSizeIterator<Item = Self> + Clone, bytes: &mut Vec<u8>) {
                $(<$of as $crate::SpillRow>::pack(rows.clone().map(|row| row.$field), bytes);)*
            }

            fn unpack<R>(
                rows: &mut [R],
                place: impl for<'r> Fn(&'r mut R) -> &'r mut Self,
                cursor: &mut $crate::Cursor<'_>,
            ) -> $crate::Result<()> {
                $(<$of as $crate::SpillRow>::unpack(rows, |row| &mut place(row).$field, cursor)?;)*
                Ok(())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ByteOrder;

    spill_row! {
        #[derive(Debug, PartialEq)]
        struct Inner { is_set: bool, ratio: Option<f64> }
    }

    spill_row! {
        #[derive(Debug, PartialEq)]
        struct Outer { id: i64, inner: Inner, kind: u8, thread: u16 }
    }

    #[test]
    fn a_row_of_rows_comes_back_as_it_was() {
        let row = Outer { id: -3, inner: Inner { is_set: true, ratio: Some(0.5) }, kind: 4, thread: 7 };
        let mut bytes = Vec::new();
        row.put(&mut bytes);
        assert_eq!(bytes.len(), Outer::BYTES);
        assert_eq!(Outer::take(&mut Cursor::new(&bytes, 0, ByteOrder::Little)).unwrap(), row);

        let rows = [row, Outer { id: i64::MAX, inner: Inner { is_set: false, ratio: None }, ..row }, row];
        bytes.clear();
        Outer::pack(rows.into_iter(), &mut bytes);
        let mut back = [row; 3];
        Outer::unpack(&mut back, |row| row, &mut Cursor::new(&bytes, 0, ByteOrder::Little)).unwrap();
        assert_eq!(back, rows);
    }
}
