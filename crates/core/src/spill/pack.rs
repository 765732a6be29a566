//! Columns of numbers, packed into as few bytes as the numbers of one segment need.

use crate::{Cursor, Error, Result};

/// Packs a column: the number of bytes per number, the smallest number, and the difference of each number from it.
///
/// The column must not be empty.
pub(super) fn pack(numbers: impl ExactSizeIterator<Item = i64> + Clone, bytes: &mut Vec<u8>) {
    let (least, greatest) = numbers
        .clone()
        .fold((i64::MAX, i64::MIN), |(least, greatest), number| (least.min(number), greatest.max(number)));
    let above = numbers.map(|number| number.wrapping_sub(least) as u64);
    let width = match greatest.wrapping_sub(least) as u64 {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    bytes.push(width);
    bytes.extend_from_slice(&least.to_le_bytes());
    match width {
        0 => {}
        1 => put(above, bytes, |above| [above as u8]),
        2 => put(above, bytes, |above| (above as u16).to_le_bytes()),
        4 => put(above, bytes, |above| (above as u32).to_le_bytes()),
        _ => put(above, bytes, u64::to_le_bytes),
    }
}

#[inline]
fn put<const N: usize>(
    above: impl ExactSizeIterator<Item = u64>,
    bytes: &mut Vec<u8>,
    lay_out: impl Fn(u64) -> [u8; N],
) {
    let begin = bytes.len();
    bytes.resize(begin + N * above.len(), 0);
    let (places, _) = bytes[begin..].as_chunks_mut();
    places.iter_mut().zip(above).for_each(|(place, above)| *place = lay_out(above));
}

/// Unpacks a column: calls `set` with each row and its number, unless all numbers are equal; the rows hold it already.
pub(super) fn unpack<R>(rows: &mut [R], set: impl Fn(&mut R, i64), cursor: &mut Cursor<'_>) -> Result<()> {
    let (width, least) = (cursor.u8("width")?, cursor.i64("least number")?);
    let bytes = cursor.take(usize::from(width) * rows.len(), "column")?;
    let set = |row: &mut R, above: u64| set(row, least.wrapping_add(above as i64));
    match width {
        0 => {}
        1 => rows.iter_mut().zip(bytes).for_each(|(row, byte)| set(row, (*byte).into())),
        2 => take(rows, bytes, |row, above| set(row, u16::from_le_bytes(above).into())),
        4 => take(rows, bytes, |row, above| set(row, u32::from_le_bytes(above).into())),
        8 => take(rows, bytes, |row, above| set(row, u64::from_le_bytes(above))),
        _ => return Err(Error::internal(format!("a column whose numbers take {width} bytes"))),
    }
    Ok(())
}

#[inline]
fn take<R, const N: usize>(rows: &mut [R], bytes: &[u8], set: impl Fn(&mut R, [u8; N])) {
    let (places, _) = bytes.as_chunks();
    rows.iter_mut().zip(places).for_each(|(row, above)| set(row, *above));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ByteOrder;

    #[test]
    fn every_column_comes_back_in_as_few_bytes_as_it_needs() {
        for (column, width) in [
            (vec![i64::MIN; 3], 0),
            (vec![-5, 250, 0], 1),
            (vec![-5, 251, 0], 2),
            (vec![7, 7 + 0xffff], 2),
            (vec![7, 8 + 0xffff], 4),
            (vec![-1, 0xffff_fffe], 4),
            (vec![-1, 0xffff_ffff], 8),
            (vec![i64::MAX, 0, i64::MIN], 8),
        ] {
            let mut bytes = Vec::new();
            pack(column.iter().copied(), &mut bytes);
            assert_eq!(bytes.len(), 9 + width * column.len(), "{column:?}");
            let mut back = vec![column[0]; column.len()];
            unpack(&mut back, |to, number| *to = number, &mut Cursor::new(&bytes, 0, ByteOrder::Little)).unwrap();
            assert_eq!(back, column);
            bytes.pop();
            assert!(unpack(&mut back, |_, _| {}, &mut Cursor::new(&bytes, 0, ByteOrder::Little)).is_err());
        }
    }
}
