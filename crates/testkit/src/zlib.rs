//! Unpacks files with a compressed part, independently of the readers.

use std::borrow::Cow;

use flate2::{Decompress, FlushDecompress, Status};
use traceloom_core::{Describe, Records, Result};

/// The file with its compressed part inflated in place, as far as possible; the unchanged file if `reader` finds no
/// such part.
pub(crate) fn unpacked<R: Records>(bytes: &[u8], reader: Result<R>) -> Cow<'_, [u8]> {
    let start = reader.ok().and_then(packed_at);
    let Some((plain, packed)) = start.and_then(|start| bytes.split_at_checked(start)) else { return bytes.into() };
    // An error loses the bytes of its whole step, so steps have to be small if there is one.
    let inflated = inflate(packed, 4096).or_else(|_| inflate(packed, 1));
    let (content, rest) = inflated.unwrap_or_else(|content| (content, &[]));
    [plain, &content, rest].concat().into()
}

/// Where the compressed part starts.
fn packed_at(mut reader: impl Records) -> Option<usize> {
    while let Ok(Some(located)) = reader.next() {
        if located.record.kind() == "start_deflate" {
            return usize::try_from(located.offset + located.len).ok();
        }
    }
    None
}

/// The inflated bytes, and the rest of the file; for damaged data, only the bytes inflated before the damage.
fn inflate(packed: &[u8], step: usize) -> Result<(Vec<u8>, &[u8]), Vec<u8>> {
    let (mut inflate, mut data, trailer_bytes) = match packed {
        [0x1f, 0x8b, 8, ..] => (Decompress::new_gzip(15), packed, 0),
        [method, flags, data @ ..]
            if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31) =>
        {
            // No profile uses a dictionary, or a window that zlib does not know.
            if flags & 0x20 != 0 || method >> 4 > 7 {
                return Ok((Vec::new(), &[]));
            }
            // A wrong checksum loses no data.
            (Decompress::new(false), data, 4)
        }
        _ => (Decompress::new(false), packed, 0),
    };
    let (mut content, mut buffer) = (Vec::new(), vec![0; step]);
    loop {
        let (read, written) = (inflate.total_in(), inflate.total_out());
        let Ok(status) = inflate.decompress(data, &mut buffer, FlushDecompress::None) else { return Err(content) };
        let (read, written) = (inflate.total_in() - read, inflate.total_out() - written);
        data = &data[read as usize..];
        content.extend_from_slice(&buffer[..written as usize]);
        match status {
            Status::StreamEnd => return Ok((content, data.get(trailer_bytes..).unwrap_or_default())),
            _ if read == 0 && written == 0 => return Ok((content, &[])),
            _ => {}
        }
    }
}
