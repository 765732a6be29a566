//! Follows how WTF reads events of a name with two signatures: it keeps the first.

use std::collections::HashMap;

use traceloom_core::{Limits, Result, Window};

use super::{
    Reader,
    damage::SEARCH_BYTES,
    events::{Ready, WORDS_HEAD, shown},
};
use crate::{
    Argument, Encoding,
    event::{measure, parse_arguments},
    findings::SAME_NAME_FATAL,
    raw::{ArgumentType, DEFINE_WIRE_ID},
};

impl Reader {
    /// WTF reads this event with another signature; determines whether it gets through its buffer.
    #[cold]
    pub(super) fn follow_original(&mut self, ready: Ready, end: u64) -> Result<()> {
        let offset = self.body.offset();
        let mut window = Window::new(self.body.source().clone(), &Limits::default());
        window.seek(offset);
        self.shadowed_until = end;
        let mut defined = HashMap::new();
        while window.offset() < end {
            let left = usize::try_from(end - window.offset()).unwrap_or(usize::MAX);
            let Some(word) = window.fill(4)?.first_chunk::<4>() else { break };
            let wire_id = u32::from_le_bytes(*word);
            let known = self.types.by_wire(wire_id).and_then(|kind| self.types.get(kind.original));
            let signature = match defined.get(&wire_id) {
                Some(signature) => Some(signature),
                None => known.and_then(|kind| kind.args.as_ref()),
            };
            let Some(signature) = signature else {
                let name = self.types.get(ready.kind).map(|kind| shown(&kind.name)).unwrap_or_default();
                return self.report(&SAME_NAME_FATAL, offset, |odd| odd.with("name", name).with("wire", wire_id));
            };
            let Some(len) = shadow_size(signature, &mut window, left)? else { break };
            if wire_id == DEFINE_WIRE_ID
                && let Some((wire_id, signature)) =
                    self.shadow_definition(window.fill(len)?.get(..len).unwrap_or_default())
            {
                defined.insert(wire_id, signature);
            }
            // Not all of it needs to be in the window.
            window.seek(window.offset().saturating_add(len as u64));
        }
        Ok(())
    }

    /// What WTF takes from a definition: the first signature of the name, wherever it was given.
    fn shadow_definition(&self, bytes: &[u8]) -> Option<(u32, Box<[Argument]>)> {
        let word = |place: usize| bytes.get(place * 4..)?.first_chunk().copied().map(u32::from_le_bytes);
        let text = |place| self.strings.get(word(place)?).map(String::from_utf8_lossy);
        let known = self.types.first_by_name(&text(5)?).and_then(|kind| kind.args.clone());
        let args = known.or_else(|| parse_arguments(&text(6).unwrap_or_default()).ok())?;
        Some((word(2)? & 0xffff, args))
    }
}

/// Number of bytes that WTF reads for an event with this signature, if they are available.
fn shadow_size(signature: &[Argument], window: &mut Window, left: usize) -> Result<Option<usize>> {
    if !has_array(signature) {
        return Ok(Some(WORDS_HEAD + 4 * signature.len()).filter(|len| *len <= left));
    }
    let wanted = left.min(SEARCH_BYTES);
    let bytes = window.fill(wanted)?;
    let args = bytes.get(..wanted).unwrap_or(bytes).get(WORDS_HEAD..).unwrap_or_default();
    Ok(measure(signature, args, Encoding::Words).ok().map(|len| WORDS_HEAD + len))
}

fn has_array(signature: &[Argument]) -> bool {
    signature.iter().any(|argument| matches!(argument.kind, ArgumentType::Array(_)))
}
