//! The scopes of damaged files.

mod support;

use std::fs;

use support::traces;
use traceloom_bytes::{Options, Source};
use traceloom_wtf::derive::Tree;

#[test]
fn trees_of_damaged_files_are_survived() {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random as usize
    };
    for bytes in traces().into_values().map(|path| fs::read(path).unwrap()) {
        if bytes.is_empty() {
            continue;
        }
        for round in 0..150 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + round % 3 {
                let at = next() % damaged.len();
                damaged[at] = if round % 2 == 0 { next() as u8 } else { damaged[at] ^ 1 << (next() % 8) };
            }
            if round % 10 == 0 {
                let at = next() % damaged.len();
                damaged.drain(at..(at + 1 + next() % 40).min(bytes.len()));
            }
            let _ = Tree::build(&Source::bytes(damaged), &Options::default(), true);
        }
    }
}
