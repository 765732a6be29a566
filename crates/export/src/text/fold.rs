//! Frames of folded stacks.

use traceloom_core::Loss;

/// Appends a frame; characters that would end it are replaced, and counted as lost.
pub fn push_frame(out: &mut Vec<u8>, name: &str, loss: &mut Loss) {
    if name.is_empty() {
        out.extend_from_slice(b"(no name)");
        return;
    }
    if !name.contains(|letter: char| letter == ';' || letter.is_control()) {
        out.extend_from_slice(name.as_bytes());
        return;
    }
    loss.lose("frames with characters that separate", || name.escape_debug().to_string());
    let replaced = name.chars().map(|letter| match letter {
        ';' => ':',
        letter if letter.is_control() => ' ',
        letter => letter,
    });
    let mut buffer = [0; 4];
    replaced.for_each(|letter| out.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes()));
}
