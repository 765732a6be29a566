//! Files with a compressed part, unpacked in another way than the readers do it.

use std::borrow::Cow;

use flate2::{Decompress, FlushDecompress, Status};
use traceloom_bytes::{Describe, Mode, Records, Source};

use crate::{Format, WIDE_WINDOW, options};

/// The file with its compressed part inflated in place, as far as that can be done.
pub(crate) fn unpacked<F: Format>(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Some((plain, packed)) = packed_at::<F>(bytes).and_then(|at| bytes.split_at_checked(at)) else {
        return bytes.into();
    };
    // An error takes the bytes of its own step with it, so that steps have to be small where there is one.
    let (content, rest) =
        inflate(packed, 4096).or_else(|_| inflate(packed, 1)).unwrap_or_else(|content| (content, &[]));
    [plain, &content, rest].concat().into()
}

/// Where the compressed part begins.
fn packed_at<F: Format>(bytes: &[u8]) -> Option<usize> {
    let mut reader = F::open(Source::bytes(bytes), &options(Mode::Lenient, WIDE_WINDOW)).ok()?;
    while let Ok(Some(located)) = reader.next() {
        if located.record.kind() == "start_deflate" {
            return usize::try_from(located.offset + located.len).ok();
        }
    }
    None
}

/// What comes out, and what follows in the file; of damaged data only what came out before.
fn inflate(packed: &[u8], step: usize) -> Result<(Vec<u8>, &[u8]), Vec<u8>> {
    let (mut inflate, mut data, trailer_bytes) = match packed {
        [0x1f, 0x8b, 8, ..] => (Decompress::new_gzip(15), packed, 0),
        [method, flags, data @ ..]
            if method & 0x0f == 8 && u16::from_be_bytes([*method, *flags]).is_multiple_of(31) =>
        {
            // No profile names a dictionary, or a window that zlib does not know.
            if flags & 0x20 != 0 || method >> 4 > 7 {
                return Ok((Vec::new(), &[]));
            }
            // A wrong checksum loses nothing that was read.
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
