//! Spans as two entries: one for the start, with the arguments, and one for the end, with the duration.

use hashbrown::HashMap;
use traceloom_core::Result;

use super::{
    entry::{ENDS, Entries, OTHERS, When, site},
    values::{Line, MAX_TEXTS, push_escaped},
};
use traceloom_passes::{Layer, LookId, NameId, NamePool, Pass};

/// The entry formats of a look.
#[derive(Clone, Copy, Debug)]
struct Formats {
    begin: NameId,
    end: NameId,
}

/// Pushes all spans.
pub(super) fn push(pass: &mut Pass<'_>, entries: &mut Entries) -> Result<()> {
    if pass.spans.is_empty() {
        return Ok(());
    }
    let Pass { roster, names, looks, spans, args, loss, .. } = pass;
    let (begin_level, end_level) = (names.intern("BEGIN")?, names.intern("END")?);
    let begin_level = entries.levels.number(begin_level, -1, names, loss)?;
    let end_level = entries.levels.number(end_level, -1, names, loss)?;
    let (mut line, mut format) = (Line::new(entries.is_document), String::new());
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
        line.values.clear(MAX_TEXTS);
        line.values.push_text(label.as_bytes());
        line.format.clear();
        line.put_args(span.owner(trace), args, names, loss)?;
        let mut begin = formats.begin;
        if !line.format.is_empty() {
            format.clear();
            format.push_str(names.get(begin)?);
            format.push_str(&line.format);
            begin = names.intern(&format)?;
        }
        let values = &mut line.values;
        let number = entries.next();
        let place = (look.file, look.line);
        let when = |ts_ns, phase, number| When { ts_ns: Some(ts_ns), first_ns: 0, phase, number };
        let (begin_ns, end_ns) = (entries.at(span.ts_ns), entries.at(span.end_ns));
        entries.push(site(begin_level, begin, place, values), values, when(begin_ns, OTHERS, number), loss)?;
        let Some(dur_ns) = span.dur_ns else { continue };
        values.clear(MAX_TEXTS);
        values.push_text(label.as_bytes());
        values.push_unsigned(dur_ns.unsigned_abs());
        // Of spans that end together, the innermost comes first; a span of zero length ends after its start.
        let end = match dur_ns {
            0 => when(end_ns, OTHERS, entries.next()),
            _ => when(end_ns, ENDS, u64::MAX - number),
        };
        entries.push(site(end_level, formats.end, place, values), values, end, loss)?;
    }
    Ok(())
}

/// Maximum number of looks that are cached; others are built again.
const MAX_KNOWN: usize = 1 << 18;

fn remember(known: &mut HashMap<usize, Formats>, look: LookId, formats: Formats) {
    if known.len() < MAX_KNOWN {
        known.insert(look.index(), formats);
    }
}

fn formats(name: NameId, format: &mut String, names: &mut NamePool) -> Result<Formats> {
    format.clear();
    format.push_str("[%s] ");
    push_escaped(format, names.get(name)?);
    let begin = names.intern(format)?;
    format.push_str(" took %u ns");
    Ok(Formats { begin, end: names.intern(format)? })
}
