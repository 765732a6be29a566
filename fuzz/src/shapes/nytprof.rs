//! NYTProf: the first line of the real stream, and of Pynytprof's dialect.

pub(super) fn restore_magic(bytes: &mut [u8], _seed: u32) {
    restore(bytes, b"NYTProf 5 0\n");
}

pub(super) fn restore_pynytprof_magic(bytes: &mut [u8], seed: u32) {
    // The older magic is short; one input in eight uses it.
    let magic: &[u8] = if seed.is_multiple_of(8) { b"NYTPROF\0" } else { b"NYTProf 5 0\n" };
    restore(bytes, magic);
}

fn restore(bytes: &mut [u8], magic: &[u8]) {
    if let Some(head) = bytes.get_mut(..magic.len()) {
        head.copy_from_slice(magic);
    }
}
