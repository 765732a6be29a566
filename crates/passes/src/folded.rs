//! Folded stacks: one line per stack, `outer;inner cost`.

use traceloom_core::{Loss, text::number::push_u64};

/// Appends a frame of a stack, the outermost first; characters that would end it are replaced, and counted as lost.
pub fn push_folded_frame(line: &mut Vec<u8>, name: &str, loss: &mut Loss) {
    if name.is_empty() {
        line.extend_from_slice(b"(no name);");
        return;
    }
    if name.contains(|letter: char| letter == ';' || letter.is_control()) {
        loss.lose("separators in names of frames", || name.escape_debug().to_string());
        let replaced = name.chars().map(|letter| match letter {
            ';' => ':',
            letter if letter.is_control() => ' ',
            letter => letter,
        });
        let mut buffer = [0; 4];
        replaced.for_each(|letter| line.extend_from_slice(letter.encode_utf8(&mut buffer).as_bytes()));
    } else {
        line.extend_from_slice(name.as_bytes());
    }
    line.push(b';');
}

/// Ends the line of a stack with its cost.
pub fn push_folded_cost(line: &mut Vec<u8>, cost: u64) {
    line.pop();
    line.push(b' ');
    push_u64(line, cost);
    line.push(b'\n');
}
