//! Records as a clean writer writes them: canonical sizes and names, no residue.

use traceloom_core::{Loss, Text};

use crate::{
    Block, Bookmark, Descriptor, Name, Record, Switch, Thread, Value,
    raw::{BLOCK_FIXED, BOOKMARK_FIXED, DESCRIPTOR_FIXED, VALUE_FIXED},
};

/// Sizes are stored in 16 bits.
const MAX_BYTES: usize = u16::MAX as usize;
/// Maximum size of a switch before its name.
const SWITCH_FIXED: usize = 24;

/// A record without oddities; `None` if it only describes the layout of the file, or if nothing of it can be kept.
pub(super) fn cleaned<'a>(record: Record<'a>, in_threads: bool, loss: &mut Loss) -> Option<Record<'a>> {
    Some(match record {
        Record::Mark(_) | Record::Blocks(_) => return None,
        // Its index must stay in use.
        Record::Malformed(bytes) | Record::Residue(bytes) if !in_threads => {
            loss.lose("descriptors too short for their fields", || shown(bytes));
            Record::Hole
        }
        Record::Malformed(bytes) => {
            loss.lose("records too short for their fields", || shown(bytes));
            return None;
        }
        Record::Residue(bytes) => {
            loss.lose("runs of unrecognized bytes", || shown(bytes));
            return None;
        }
        Record::Descriptor(descriptor) => {
            let room = MAX_BYTES - DESCRIPTOR_FIXED;
            let name = clean_name(descriptor.name, room - 1, loss);
            let file = clean_name(descriptor.file, room - name.len(), loss);
            Record::Descriptor(Descriptor { name, file, odd_size: None, odd_name_size: None, ..descriptor })
        }
        Record::Thread(thread) if !thread.name.is_empty() => {
            Record::Thread(Thread { name: clean_name(thread.name, MAX_BYTES, loss), ..thread })
        }
        Record::Switch(switch) => {
            let name = clean_name(switch.name, MAX_BYTES - SWITCH_FIXED, loss);
            Record::Switch(Switch { name, odd_size: None, ..switch })
        }
        Record::Block(block) => {
            let name = clean_name(block.name, MAX_BYTES - BLOCK_FIXED, loss);
            Record::Block(Block { name, odd_size: None, ..block })
        }
        Record::Value(value) => {
            if !value.surplus.is_empty() {
                loss.lose("bytes after the data of a value", || shown(value.surplus));
            }
            let value = Value { filler: [0, 0], surplus: &[], odd_data_size: None, odd_size: None, ..value };
            Record::Value(with_nul(value, loss))
        }
        Record::Bookmark(bookmark) => {
            let text = clean_name(bookmark.text, MAX_BYTES - BOOKMARK_FIXED, loss);
            Record::Bookmark(Bookmark { text, odd_size: None, ..bookmark })
        }
        record @ (Record::Hole | Record::Thread(_)) => record,
    })
}

/// The value; a text gets the NUL that it lacks, because easy_profiler reads on until it finds one.
fn with_nul<'a>(value: Value<'a>, loss: &mut Loss) -> Value<'a> {
    if value.text() != Some(value.data) {
        return value;
    }
    let data = without_end(value.data, MAX_BYTES - VALUE_FIXED - 1, loss);
    // The data are borrowed, so the NUL is written as surplus that counts as data.
    Value { data, surplus: b"\0", odd_data_size: Some(data.len() as u16 + 1), ..value }
}

/// Bytes for people: how many, and the first of them.
fn shown(bytes: &[u8]) -> String {
    let start = bytes.get(..bytes.len().min(16)).unwrap_or_default();
    format!("{} bytes, starting with \"{}\"", bytes.len(), Text(start))
}

/// The text with one NUL; it is shortened if a missing NUL no longer fits.
fn clean_name<'a>(name: Name<'a>, room: usize, loss: &mut Loss) -> Name<'a> {
    if name.tail.len() > 1 {
        loss.lose("bytes after the NUL of a string", || shown(name.tail));
    }
    Name::new(without_end(name.text, room - 1, loss))
}

/// The text, cut to `room` bytes.
fn without_end<'a>(text: &'a [u8], room: usize, loss: &mut Loss) -> &'a [u8] {
    let fits = text.get(..text.len().min(room)).unwrap_or_default();
    if fits.len() < text.len() {
        loss.lose("ends of strings that fill their record without a NUL", || Text(fits).to_string());
    }
    fits
}
