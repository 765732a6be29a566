//! Records as a clean writer writes them: canonical sizes and names, no residue.

use traceloom_core::{Loss, Text};

use crate::{
    Block, Bookmark, Descriptor, Name, Record, Switch, Thread, Value,
    raw::{BLOCK_FIXED, BOOKMARK_FIXED, DESCRIPTOR_FIXED},
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
            Record::Value(Value { filler: [0, 0], surplus: &[], odd_data_size: None, odd_size: None, ..value })
        }
        Record::Bookmark(bookmark) => {
            let text = clean_name(bookmark.text, MAX_BYTES - BOOKMARK_FIXED, loss);
            Record::Bookmark(Bookmark { text, odd_size: None, ..bookmark })
        }
        record @ (Record::Hole | Record::Thread(_)) => record,
    })
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
    let fits = name.text.get(..name.text.len().min(room - 1)).unwrap_or_default();
    if fits.len() < name.text.len() {
        loss.lose("ends of strings that fill their record without a NUL", || Text(fits).to_string());
    }
    Name::new(fits)
}
