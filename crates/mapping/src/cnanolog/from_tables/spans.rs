//! Spans as two entries: one when they begin, with their arguments, and one when they end, with how long they took.

use hashbrown::HashMap;
use traceloom_core::{Loss, Result};
use traceloom_model::Table;

use super::{
    entry::{ENDS, Entries, OTHERS, When, site},
    points::{push_escaped, put_args},
    values::{MOST_TEXTS, Values},
};
use traceloom_passes::{Gathered, Layer, LookId, NameId};

/// The formats of the entries of a look.
#[derive(Clone, Copy, Debug)]
struct Formats {
    begin: NameId,
    end: NameId,
}

/// Pushes all spans.
pub(super) fn push(gathered: &mut Gathered, entries: &mut Entries, loss: &mut Loss) -> Result<()> {
    if gathered.spans.is_empty() {
        return Ok(());
    }
    let Gathered { roster, names, looks, spans, args, .. } = gathered;
    let (begin_level, end_level) = (names.intern("BEGIN")?, names.intern("END")?);
    let begin_level = entries.levels.number(begin_level, -1, names, loss)?;
    let end_level = entries.levels.number(end_level, -1, names, loss)?;
    let (mut values, mut format, mut shown) = (Values::default(), String::new(), String::new());
    let mut known = HashMap::<usize, Formats>::new();
    let (mut current, mut label, mut trace) = (None, String::new(), 0);
    for span in spans.iter(roster)? {
        let span = span?;
        if span.layer == Layer::Switches {
            continue;
        }
        if current.replace(span.thread) != Some(span.thread) {
            let thread = roster.thread(span.thread);
            (label, trace) = (thread.label(), thread.trace);
        }
        let look = looks.get(span.look)?;
        if let Some(id) = look.definition_id {
            entries.defined.insert((trace, id));
        }
        let formats = match known.get(&span.look.index()) {
            Some(formats) => *formats,
            None => {
                let formats = formats(look.name, &mut format, names)?;
                remember(&mut known, span.look, formats);
                formats
            }
        };
        values.clear(MOST_TEXTS);
        values.push_text(label.as_bytes());
        shown.clear();
        let how = (entries.is_document, entries.slots());
        put_args(args, names, (Table::Spans, trace, span.id), &mut values, &mut shown, how, loss)?;
        let begin = match shown.is_empty() {
            true => formats.begin,
            false => {
                format.clear();
                format.push_str(names.get(formats.begin)?);
                format.push_str(&shown);
                names.intern(&format)?
            }
        };
        let number = entries.next();
        let place = (look.file, look.line);
        let when = |ts_ns, phase, number| When { ts_ns: Some(ts_ns), first_ns: 0, phase, number };
        let (begin_ns, end_ns) = (entries.at(trace, span.ts_ns), entries.at(trace, span.end_ns));
        entries.push(site(begin_level, begin, place, &values), &values, when(begin_ns, OTHERS, number), loss)?;
        let Some(dur_ns) = span.dur_ns else { continue };
        values.clear(MOST_TEXTS);
        values.push_text(label.as_bytes());
        values.push_unsigned(dur_ns.unsigned_abs());
        // The innermost of those that end together comes first; one that took no time ends after it began.
        let end = match dur_ns {
            0 => when(end_ns, OTHERS, entries.next()),
            _ => when(end_ns, ENDS, u64::MAX - number),
        };
        entries.push(site(end_level, formats.end, place, &values), &values, end, loss)?;
    }
    Ok(())
}

/// Looks that are remembered; further ones are put together anew.
const MOST_KNOWN: usize = 1 << 18;

fn remember(known: &mut HashMap<usize, Formats>, look: LookId, formats: Formats) {
    if known.len() < MOST_KNOWN {
        known.insert(look.index(), formats);
    }
}

fn formats(name: NameId, format: &mut String, names: &mut traceloom_passes::NamePool) -> Result<Formats> {
    format.clear();
    format.push_str("[%s] ");
    push_escaped(format, names.get(name)?);
    let begin = names.intern(format)?;
    format.push_str(" took %u ns");
    Ok(Formats { begin, end: names.intern(format)? })
}
