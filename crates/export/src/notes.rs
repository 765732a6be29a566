//! Notes by people, written as bookmarks of their trace.

use traceloom_core::Result;
use traceloom_mapping::{Trace, TraceSet, pour_in_turn};
use traceloom_model::{EventCategory, Filter, Flow, Halt, Table, TableSink, TableSource, Tables, events::Event};
use traceloom_passes::{Shifted, Target};

/// A person's note about a point in time of a trace.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Note {
    /// The point in time, on the clock of the trace.
    pub ts_ns: i64,
    /// The text of the note.
    pub text: String,
}

impl Note {
    /// Whether a target can hold notes: points in time with a text.
    pub fn fits(target: &Target) -> bool {
        target.needs.is_empty() || target.shows(Table::Events)
    }
}

/// A trace, and notes that become bookmarks after its other events.
#[derive(Clone, Copy, Debug)]
pub struct Noted<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// The notes on it.
    pub notes: &'t [Note],
}

impl TableSource for Noted<'_> {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        if pour_in_turn(std::iter::once(self.trace), filter, sink)? == Flow::Stop {
            return Ok(());
        }
        let mut tables = Tables::new(self.trace.id, filter.clone(), sink);
        // Ids from the trace are never negative, so a negative id cannot coincide with that of a span.
        let taken = self.notes.iter().zip(1..).filter(|(note, _)| filter.takes_time(note.ts_ns));
        let pushed = taken.map(|(note, number)| bookmark(note, -number)).try_for_each(|event| tables.push(event));
        pushed.and_then(|()| tables.finish()).or_else(Halt::into_result)
    }
}

fn bookmark(note: &Note, id: i64) -> Event<'_> {
    Event {
        id,
        ts_ns: note.ts_ns,
        name: note.text.as_str().into(),
        category: EventCategory::Bookmark.as_str().into(),
        ..Event::default()
    }
}

/// Traces on one axis, each with its notes.
#[derive(Debug)]
pub struct NotedSet<'s> {
    /// The traces.
    pub set: &'s TraceSet,
    /// The notes on each trace, by its number.
    pub notes: Vec<&'s [Note]>,
}

impl TableSource for NotedSet<'_> {
    fn pour(&self, filter: &Filter, sink: &mut dyn TableSink) -> Result<()> {
        let traces = self.set.traces().iter().zip(self.set.axis().placements()).zip(&self.notes);
        let placed = traces.map(|((trace, placement), notes)| {
            let source = Noted { trace, notes };
            Shifted { source, placement: *placement }
        });
        pour_in_turn(placed, filter, sink).map(drop)
    }
}
