//! The subset of protobuf needed for counting.

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Bytes(_) => panic!("it is no number"),
        }
    }

    pub(crate) fn bytes(self) -> &'a [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Number(_) => panic!("it is a number"),
        }
    }
}

/// The fields of a message, in order.
pub(crate) fn fields(mut message: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let value = match tag & 7 {
            0 => Value::Number(varint(&mut message)),
            1 => Value::Number(u64::from_le_bytes(take(&mut message, 8).try_into().unwrap())),
            2 => {
                let len = varint(&mut message) as usize;
                Value::Bytes(take(&mut message, len))
            }
            kind => panic!("fields of kind {kind} are not written"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

/// Fields with one number.
pub(crate) fn all(message: &[u8], number: u64) -> impl Iterator<Item = Value<'_>> {
    fields(message).into_iter().filter(move |(of, _)| *of == number).map(|(_, value)| value)
}

/// The numbers of a packed field.
pub(crate) fn packed(mut bytes: &[u8]) -> Vec<u64> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        numbers.push(varint(&mut bytes));
    }
    numbers
}

/// A decompressed message.
pub(crate) fn unpacked(bytes: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    std::io::copy(&mut flate2::read::GzDecoder::new(bytes), &mut message).unwrap();
    message
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return number;
        }
    }
    panic!("a number is too long")
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(len);
    *bytes = rest;
    taken
}
