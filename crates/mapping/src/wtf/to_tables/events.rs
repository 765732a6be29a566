//! Converts events to rows of `spans`, `events`, `logs`, `counters`, `links` and `args`.

use std::borrow::Cow;

use traceloom_core::{Limits, Result};
use traceloom_model::{
    Filter, Halt, Named, SpanCategory, Table, Tables, Wanted,
    counters::Counter,
    events,
    links::Link,
    logs::Log,
    spans::Span,
    trackers::{Clock, Extent},
};
use traceloom_wtf::{
    Event, Role, Value,
    derive::{Flows, Frame, Frames, Nested, Range, Ranges, Tree, Walk},
};

use super::{
    args::{Arguments, Label, Owner},
    growing::{OpenScope, OpenScopes},
    kinds::{Kind, Kinds},
};

/// The first id of a frame; the tree numbers fewer scopes than this.
const FIRST_FRAME: i64 = 1 << 32;
/// The first id of a time range; there are fewer frames than [`Limits::entries`] allows.
const FIRST_RANGE: i64 = 2 << 32;
/// The built-in levels of Traceloom's recorder; their indices are their numbers.
const LEVELS: [&str; 4] = ["INFO", "WARN", "ERROR", "DEBUG"];
/// The number of all other levels.
const NO_LEVEL: i64 = -1;

/// What has to be made of the events.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wants {
    args: bool,
    counters: bool,
    events: bool,
    event_names: bool,
    logs: bool,
    links: bool,
    spans: bool,
    span_names: bool,
    /// Anything at all, even if only times.
    pub(super) anything: bool,
}

/// Whether the scopes are needed before the first event.
pub(super) fn needs_tree(wanted: &Wanted) -> bool {
    // Appended data belongs to the scope around it, and only the scopes show which leave is an event.
    [Table::Args, Table::Events].into_iter().any(|table| !wanted.columns(table).is_empty())
        || wanted.has_any(Table::Links, &["from_span_id", "to_span_id"])
        || wanted.has_any(Table::Spans, &["parent_id", "depth", "dur_ns", "self_ns"])
}

impl Wants {
    pub(super) fn new(tables: &Tables<'_>) -> Self {
        let [args, counters, events, links, logs, spans] =
            [Table::Args, Table::Counters, Table::Events, Table::Links, Table::Logs, Table::Spans]
                .map(|table| tables.wants(table));
        // A time that does not fit is a finding.
        let times = tables.wants_any(Table::Traces, &["first_ts_ns", "last_ts_ns"]) || tables.wants(Table::Findings);
        Self {
            args,
            counters,
            events,
            event_names: tables.wants_any(Table::Events, &["name"]),
            links,
            logs,
            spans,
            span_names: tables.wants_any(Table::Spans, &["name"]),
            anything: args || counters || events || links || logs || spans || times,
        }
    }
}

/// Converts events, in file order, to rows.
#[derive(Debug)]
pub(super) struct Mapper<'t> {
    wants: Wants,
    filter: Filter,
    unit_ns: i64,
    pub(super) clock: Clock,
    pub(super) extent: Extent,
    walk: Option<Walk<'t>>,
    /// For a growing file, where no tree can know when a scope ends.
    open: Option<OpenScopes>,
    kinds: Kinds,
    arguments: Arguments,
    flows: Flows,
    /// Collected if spans or their arguments are wanted, as are `ranges`.
    frames: Option<Frames>,
    ranges: Option<Ranges>,
    /// Which zones the filter selects.
    zones: Vec<bool>,
    next_event: i64,
    next_scope: i64,
}

/// An event with what the mapper has determined about it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    id: i64,
    ts_ns: i64,
    /// The scope around it.
    parent: Option<i64>,
    is_kept: bool,
}

impl<'t> Mapper<'t> {
    pub(super) fn new(
        wants: Wants,
        unit_ns: i64,
        tree: Option<&'t Tree>,
        limits: &Limits,
        tables: &Tables<'_>,
    ) -> Self {
        Self {
            wants,
            filter: tables.filter().clone(),
            unit_ns,
            // Events count from the timebase, which is the origin.
            clock: Clock::new(0),
            extent: Extent::default(),
            walk: tree.map(Tree::walk),
            open: None,
            kinds: Kinds::default(),
            arguments: Arguments::default(),
            flows: Flows::new(limits),
            frames: (wants.spans || wants.args).then(|| Frames::new(limits)),
            ranges: (wants.spans || wants.args).then(|| Ranges::new(limits)),
            zones: Vec::new(),
            next_event: 0,
            next_scope: 0,
        }
    }

    /// For a growing file: scopes become rows when they end, frames and ranges when the file is complete.
    pub(super) fn growing(wants: Wants, unit_ns: i64, limits: &Limits, tables: &Tables<'_>) -> Self {
        // The arguments of a scope would come before the scope.
        let wants = Wants { args: false, ..wants };
        Self { open: Some(OpenScopes::default()), ..Self::new(wants, unit_ns, None, limits, tables) }
    }

    /// Processes the next event of the file.
    #[inline]
    pub(super) fn push(&mut self, event: &Event<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let id = self.next_event;
        self.next_event += 1;
        if event.kind.is_structural() {
            return Ok(());
        }
        let place = match &mut self.walk {
            Some(walk) => walk.nested(event)?,
            None => None,
        };
        let ts_ns = self.clock.ts_ns(i128::from(event.time_us) * i128::from(self.unit_ns));
        self.extent.add(ts_ns);
        let is_kept = self.is_zone_kept(event.zone) && self.filter.takes_time(ts_ns);
        let parent = match &mut self.open {
            Some(open) => open.of(event.zone).last().map(|scope| scope.id),
            None => place.and_then(|place| place.parent).map(i64::from),
        };
        let seen = Seen { id, ts_ns, parent, is_kept };
        match event.kind.role {
            Role::ScopeLeave => self.push_leave(event, seen, tables),
            _ if event.kind.is_scope() => self.push_scope(event, seen, place, tables),
            _ => self.push_instance(event, seen, tables),
        }
    }

    fn push_scope(
        &mut self,
        event: &Event<'_>,
        seen: Seen,
        place: Option<Nested>,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let id = self.next_scope;
        self.next_scope += 1;
        self.collect(event)?;
        let kind = self.kinds.get(event.kind, tables);
        if let Some(open) = &mut self.open {
            let name =
                if event.kind.role == Role::ScopeEnter { tables.strings.intern(&event.name()) } else { kind.name };
            let (category, definition_id) = (kind.category, event.kind.index.into());
            let scope = OpenScope { id, ts_ns: seen.ts_ns, children_ns: 0, name, category, definition_id };
            open.of(event.zone).push(scope);
        } else if self.wants.spans && seen.is_kept {
            let scope = place.and_then(|place| place.scope);
            let dur_us = scope.and_then(|scope| scope.end_us).map(|end| end.saturating_sub(event.time_us).max(0));
            let children_us = scope.map_or(0, |scope| i64::try_from(scope.children_us).unwrap_or(i64::MAX));
            let given = (event.kind.role == Role::ScopeEnter && self.wants.span_names).then(|| event.name());
            tables.push(Span {
                parent_id: seen.parent,
                depth: place.map_or(0, |place| place.depth),
                dur_ns: dur_us.map(|us| self.nanoseconds(us)),
                self_ns: dur_us.map(|us| self.nanoseconds(us.saturating_sub(children_us).max(0))),
                name: named(kind, given.as_ref()),
                category: kind.category.into(),
                definition_id: Some(event.kind.index.into()),
                ..bare_span(id, event.zone, seen.ts_ns)
            })?;
        }
        if self.wants.links && kind.is_flow {
            self.push_link(event, seen, tables)?;
        }
        if self.wants.args {
            let owner = Owner { table: Table::Spans, id, is_kept: seen.is_kept };
            self.arguments.push(event, owner, self.kinds.arguments(kind), tables)?;
        }
        Ok(())
    }

    /// Leaving a scope becomes its duration; only a leave without a scope is an event.
    fn push_leave(&mut self, event: &Event<'_>, seen: Seen, tables: &mut Tables<'_>) -> Result<(), Halt> {
        if let Some(open) = &mut self.open
            && let Some(span) = open.close(event.zone, Some(seen.ts_ns))
        {
            return tables.push(span);
        }
        if seen.parent.is_some() {
            return Ok(());
        }
        self.push_instance(event, seen, tables)
    }

    fn push_instance(&mut self, event: &Event<'_>, seen: Seen, tables: &mut Tables<'_>) -> Result<(), Halt> {
        self.collect(event)?;
        let kind = self.kinds.get(event.kind, tables);
        match kind.table {
            _ if !seen.is_kept => {}
            Table::Logs if self.wants.logs => push_log(event, seen, tables)?,
            Table::Counters if self.wants.counters => push_value(event, seen, kind, tables)?,
            Table::Events if self.wants.events => self.push_event(event, seen, kind, tables)?,
            _ => {}
        }
        if self.wants.links && kind.is_flow {
            self.push_link(event, seen, tables)?;
        }
        if self.wants.args {
            self.push_arguments(event, seen, kind, tables)?;
        }
        Ok(())
    }

    fn push_event(&self, event: &Event<'_>, seen: Seen, kind: Kind, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let given = match event.kind.role {
            Role::TimeStamp if self.wants.event_names => Some(event.name()),
            Role::Mark if self.wants.event_names => text(event, "name"),
            _ => None,
        };
        tables.push(events::Event {
            id: seen.id,
            ts_ns: seen.ts_ns,
            thread_id: Some(event.zone.into()),
            span_id: seen.parent,
            name: named(kind, given.as_ref()),
            category: kind.category.into(),
            definition_id: Some(event.kind.index.into()),
        })
    }

    fn push_arguments(
        &mut self,
        event: &Event<'_>,
        seen: Seen,
        kind: Kind,
        tables: &mut Tables<'_>,
    ) -> Result<(), Halt> {
        let appends = matches!(event.kind.role, Role::ScopeAppend | Role::ScopeAppendAll);
        match seen.parent.filter(|_| appends) {
            Some(scope) => {
                // Its scope may have started within the range even if the event itself is outside.
                let is_kept = self.is_zone_kept(event.zone);
                let owner = Owner { table: Table::Spans, id: scope, is_kept };
                self.arguments.push_appended(event, owner, self.kinds.arguments(kind), tables)
            }
            None => {
                let owner = Owner { table: kind.table, id: seen.id, is_kept: seen.is_kept };
                self.arguments.push(event, owner, self.kinds.arguments(kind), tables)
            }
        }
    }

    fn push_link(&mut self, event: &Event<'_>, seen: Seen, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let scope = seen.parent.and_then(|scope| u32::try_from(scope).ok());
        let Some(step) = self.flows.follow(event, scope)?.filter(|_| seen.is_kept) else { return Ok(()) };
        tables.push(Link {
            id: seen.id,
            flow_id: step.flow.into(),
            from_span_id: step.from.and_then(|from| from.scope).map(Into::into),
            to_span_id: seen.parent,
            ts_ns: seen.ts_ns,
            kind: step.kind.as_str().into(),
        })
    }

    /// Collects events that become a span once all events are known.
    fn collect(&mut self, event: &Event<'_>) -> Result<()> {
        match (event.kind.role, &mut self.frames, &mut self.ranges) {
            (Role::FrameStart | Role::FrameEnd, Some(frames), _) => frames.push(event),
            (Role::RangeBegin | Role::RangeEnd, _, Some(ranges)) => ranges.push(event),
            _ => Ok(()),
        }
    }

    /// Pushes frames and ranges, after the last event.
    pub(super) fn finish(mut self, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let open = self.open.get_or_insert_default();
        while let Some(span) = open.any().and_then(|zone| open.close(zone, None)) {
            tables.push(span)?;
        }
        let frames = self.frames.take().into_iter().flat_map(Frames::finish);
        for (frame, id) in frames.zip(FIRST_FRAME..) {
            self.push_frame(&frame, id, tables)?;
        }
        let ranges = self.ranges.take().into_iter().flat_map(Ranges::finish);
        for (range, id) in ranges.zip(FIRST_RANGE..) {
            self.push_range(&range, id, tables)?;
        }
        Ok(())
    }

    /// A frame that only ends is not a span; its end is in `events`.
    fn push_frame(&mut self, frame: &Frame, id: i64, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let Some(start_us) = frame.start_us else { return Ok(()) };
        let number = Value::Uint(frame.number);
        let category = SpanCategory::Frame;
        let span = Span { name: category.into(), category: category.into(), ..bare_span(id, frame.zone, 0) };
        let owner = self.push_flat_span(span, start_us, frame.end_us, tables)?;
        self.arguments.put(owner, Label::new("number", "uint32"), number, tables)
    }

    fn push_range(&mut self, range: &Range, id: i64, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let Some(start_us) = range.start_us else { return Ok(()) };
        let category = SpanCategory::Range;
        let name = range.name.as_deref().unwrap_or(category.as_str());
        let span = Span { name: name.into(), category: category.into(), ..bare_span(id, range.zone, 0) };
        let owner = self.push_flat_span(span, start_us, range.end_us, tables)?;
        self.arguments.put(owner, Label::new("id", "uint32"), Value::Uint(range.id), tables)?;
        let value = range.value.as_deref().map(|text| traceloom_wtf::Text::utf8(text.as_bytes()));
        self.arguments.put(owner, Label::new("value", "any"), Value::Any(value), tables)
    }

    /// A span that crosses scopes: it nests in nothing and has no self time. An end before the start counts as missing.
    fn push_flat_span(
        &mut self,
        span: Span<'_>,
        start_us: i64,
        end_us: Option<i64>,
        tables: &mut Tables<'_>,
    ) -> Result<Owner, Halt> {
        let ts_ns = self.nanoseconds(start_us);
        let is_kept = self.is_zone_kept(span.thread_id as u32) && self.filter.takes_time(ts_ns);
        let dur_us = end_us.map(|end| end.saturating_sub(start_us)).filter(|us| *us >= 0);
        if is_kept {
            tables.push(Span { ts_ns, dur_ns: dur_us.map(|us| self.nanoseconds(us)), ..span })?;
        }
        Ok(Owner { table: Table::Spans, id: span.id, is_kept })
    }

    fn is_zone_kept(&mut self, zone: u32) -> bool {
        let index = zone as usize;
        // The reader bounds the number of zones.
        while self.zones.len() <= index {
            self.zones.push(self.filter.takes_thread(self.zones.len() as i64));
        }
        self.zones[index]
    }

    /// The nanoseconds of a time range; times that do not fit were reported with the events.
    #[inline]
    fn nanoseconds(&self, us: i64) -> i64 {
        us.saturating_mul(self.unit_ns)
    }
}

/// A log entry of Traceloom's recorder.
fn push_log(event: &Event<'_>, seen: Seen, tables: &mut Tables<'_>) -> Result<(), Halt> {
    let known = |argument| text(event, argument).filter(|text| !text.is_empty());
    let [level, message, format, file] = ["level", "message", "format", "file"].map(known);
    let line = match event.args.get("line") {
        Some(Value::Uint(line)) if file.is_some() => Some(line),
        _ => None,
    };
    let level_name = level.as_deref().unwrap_or_default();
    tables.push(Log {
        id: seen.id,
        ts_ns: Some(seen.ts_ns),
        thread_id: Some(event.zone.into()),
        level: LEVELS.iter().position(|level| *level == level_name).map_or(NO_LEVEL, |level| level as i64),
        level_name: level_name.into(),
        file: file.as_deref().map(Into::into),
        line,
        format: format.as_deref().map(Into::into),
        message: message.as_deref().unwrap_or_default(),
        definition_id: Some(event.kind.index.into()),
    })
}

/// A value of Traceloom's recorder: a number, or the text of anything else.
fn push_value(event: &Event<'_>, seen: Seen, kind: Kind, tables: &mut Tables<'_>) -> Result<(), Halt> {
    let stored = text(event, "value");
    let number = match stored.as_deref() {
        Some("true") => Some(1.0),
        Some("false") => Some(0.0),
        stored => stored.and_then(|stored| stored.parse().ok()),
    };
    tables.push(Counter {
        id: seen.id,
        ts_ns: seen.ts_ns,
        thread_id: Some(event.zone.into()),
        name: kind.name.into(),
        value_id: None,
        value: number,
        text: text(event, "text").or(stored).as_deref().filter(|_| number.is_none()),
    })
}

/// The name in the event, or that of its type.
fn named<'a>(kind: Kind, given: Option<&'a Cow<'_, str>>) -> Named<'a> {
    given.map_or(Named::Symbol(kind.name), |name| Named::Text(name))
}

fn text<'a>(event: &Event<'a>, argument: &str) -> Option<Cow<'a, str>> {
    Some(event.args.get(argument)?.as_text()?.to_str())
}

/// A span of which only the time is known.
pub(super) fn bare_span<'a>(id: i64, zone: u32, ts_ns: i64) -> Span<'a> {
    Span {
        id,
        parent_id: None,
        thread_id: zone.into(),
        depth: 0,
        ts_ns,
        dur_ns: None,
        self_ns: None,
        name: "".into(),
        category: "".into(),
        definition_id: None,
        file: None,
        line: None,
        color: None,
    }
}
