//! Sorts spans, which a source may deliver in order of their ends.

use arrow_array::{Array, types::ArrowPrimitiveType};
use traceloom_core::{Arena, Result, Slice, Sorter};
use traceloom_model::{MaybeNumbers, select};

use crate::{
    KeyMap, Layer, Look, LookId, Looks, NamePool, Roster, SpanOrder,
    order::{OPEN, Row},
    pour::span_is_taken,
};

select! {
    /// The columns of spans for sorting and for their looks.
    pub struct SpanRows of spans { trace_id, id, parent_id, thread_id, depth, ts_ns, dur_ns, name, category }
}

select! {
    /// The columns for targets that also show the source location and the color of a span.
    pub struct SpanSites of spans { file, line, color }
}

select! {
    /// The column for targets that also show the declaration of a span.
    pub struct SpanDefinitions of spans { definition_id }
}

select! {
    /// Context switches, which become spans of a separate layer.
    pub struct SwitchRows of switches { trace_id, id, ts_ns, dur_ns, thread_id, target_tid, name }
}

/// A batch of spans, with the columns that the target wants.
pub(crate) struct SpanBatch<'b> {
    pub(crate) rows: SpanRows<'b>,
    pub(crate) sites: Option<SpanSites<'b>>,
    pub(crate) definitions: Option<SpanDefinitions<'b>>,
}

/// Where threads, texts and looks get their numbers.
pub(crate) struct Registry<'a> {
    pub(crate) roster: &'a mut Roster,
    pub(crate) names: &'a mut NamePool,
    pub(crate) looks: &'a mut Looks,
}

/// Collects spans in any order.
#[derive(Debug)]
pub(crate) struct SpanSorter {
    /// Blocks, calls and scopes, which arrive nearly in order.
    stack: Sorter<Row>,
    /// The other layers, which arrive at other times, so that they would be far from their final position among those.
    beside: Sorter<Row>,
    names: KeyMap,
    categories: KeyMap,
    files: KeyMap,
    /// The last look for each key of the names' dictionary.
    seen: Vec<Option<(Cells, Seen)>>,
    switch_names: KeyMap,
    slice: Slice,
}

/// The cells of a span besides its name that determine its look, as keys of its batch.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Cells {
    category: Option<i32>,
    file: Option<i32>,
    line: Option<u32>,
    color: Option<u32>,
    definition_id: Option<i64>,
}

/// The layer and the look of such a span.
#[derive(Clone, Copy, Debug)]
struct Seen {
    look: LookId,
    layer: Layer,
}

impl SpanSorter {
    /// An empty sorter for spans that overlap the slice.
    pub(crate) fn new(arena: &Arena, slice: &Slice) -> Self {
        Self {
            stack: Sorter::new(arena),
            beside: Sorter::new(arena),
            names: KeyMap::default(),
            categories: KeyMap::default(),
            files: KeyMap::default(),
            seen: Vec::new(),
            switch_names: KeyMap::default(),
            slice: slice.clone(),
        }
    }

    /// Adds a batch.
    pub(crate) fn take(&mut self, batch: &SpanBatch<'_>, mut registry: Registry<'_>) -> Result<()> {
        self.turn_to(batch);
        let SpanBatch { rows: view, sites, definitions } = batch;
        let (traces, threads) = (view.trace_id.values(), view.thread_id.values());
        let (ids, depths, starts) = (view.id.values(), view.depth.values(), view.ts_ns.values());
        let (names, categories) = (view.name.keys(), view.category.keys());
        let (durations, parents) = (quick(Some(view.dur_ns)), quick(Some(view.parent_id)));
        let files = sites.as_ref().map(|rows| rows.file);
        let lines = quick(sites.as_ref().map(|rows| rows.line));
        let colors = quick(sites.as_ref().map(|rows| rows.color));
        let definitions = quick(definitions.as_ref().map(|rows| rows.definition_id));
        let mut current = None;
        for row in 0..view.rows {
            let key = (traces[row], threads[row]);
            let (thread, is_taken) = match current {
                Some((before, thread)) if before == key => thread,
                _ => {
                    let index = registry.roster.index(key.0, key.1)?;
                    let thread = (index, registry.roster.thread(index).is_taken);
                    current = Some((key, thread));
                    thread
                }
            };
            let (id, ts_ns, dur_ns) = (ids[row], starts[row], durations(row));
            if !is_taken || !span_is_taken(&self.slice, ts_ns, dur_ns) {
                continue;
            }
            registry.roster.note(thread, ts_ns);
            let name = names.get(row).copied().unwrap_or(-1);
            let cells = Cells {
                category: categories.get(row).copied(),
                file: files.and_then(|files| files.key(row)),
                line: lines(row),
                color: colors(row),
                definition_id: definitions(row),
            };
            let Seen { look, layer } = match self.seen.get(name as usize) {
                Some(Some((before, seen))) if *before == cells => *seen,
                _ => self.see(name, cells, view.category.get(row), &mut registry)?,
            };
            let parent_id = parents(row);
            let sorter = if layer == Layer::Stack { &mut self.stack } else { &mut self.beside };
            sorter.push(Row {
                ts_ns,
                dur_ns: dur_ns.map_or(OPEN, |dur| dur.max(0)),
                id,
                above: parent_id.map_or(0, |parent_id| parent_id.wrapping_sub(id)),
                thread: thread.0,
                depth: depths[row],
                look: look.0,
                layer: layer as u8,
                has_parent: parent_id.is_some(),
            })?;
        }
        Ok(())
    }

    /// Switches to the dictionaries of a batch.
    fn turn_to(&mut self, batch: &SpanBatch<'_>) {
        let are_new = [
            self.names.turn_to(batch.rows.name.values()),
            self.categories.turn_to(batch.rows.category.values()),
            self.files.turn_to(batch.sites.as_ref().and_then(|rows| rows.file.values())),
        ];
        if are_new.contains(&true) {
            self.seen.clear();
            self.seen.resize(batch.rows.name.values().map_or(0, Array::len), None);
        }
    }

    /// Handles a span whose name occurred with other cells before, or not at all.
    #[cold]
    fn see(&mut self, name: i32, cells: Cells, category: &str, registry: &mut Registry<'_>) -> Result<Seen> {
        let Registry { names: pool, looks, .. } = registry;
        let category_id = self.categories.get(cells.category.unwrap_or(-1), pool)?;
        let look = Look {
            category: category_id,
            name: self.names.get(name, pool)?,
            definition_id: cells.definition_id,
            file: cells.file.map(|key| self.files.get(key, pool)).transpose()?,
            line: cells.line,
            color: cells.color,
        };
        let seen = Seen { look: looks.intern(look)?, layer: Layer::of_category(category) };
        if let Some(slot) = self.seen.get_mut(name as usize) {
            *slot = Some((cells, seen));
        }
        Ok(seen)
    }

    /// Adds a batch of switches, as spans of a separate layer.
    pub(crate) fn take_switches(&mut self, view: &SwitchRows<'_>, registry: Registry<'_>) -> Result<()> {
        let Registry { roster, names: pool, looks } = registry;
        self.switch_names.turn_to(view.name.values());
        let category = pool.intern("switch")?;
        for row in 0..view.rows {
            let thread = roster.index(view.trace_id.get(row), view.thread_id.get(row))?;
            let (ts_ns, dur_ns) = (view.ts_ns.get(row), view.dur_ns.get(row));
            if !roster.thread(thread).is_taken || !span_is_taken(&self.slice, ts_ns, Some(dur_ns)) {
                continue;
            }
            let name = self.switch_names.get(view.name.keys().get(row).copied().unwrap_or(-1), pool)?;
            let look = Look { name, category, definition_id: None, file: None, line: None, color: None };
            self.beside.push(Row {
                ts_ns,
                dur_ns: dur_ns.max(0),
                id: view.id.get(row),
                above: view.target_tid.get(row) as i64,
                thread: thread.0,
                depth: 0,
                look: looks.intern(look)?.0,
                layer: Layer::Switches as u8,
                has_parent: false,
            })?;
        }
        Ok(())
    }

    /// All spans, sorted.
    pub(crate) fn finish(self) -> Result<SpanOrder> {
        Ok(SpanOrder { sorted: self.stack.finish()?.join(self.beside.finish()?) })
    }
}

/// Reads a column, without a check per cell if the batch has no NULL.
fn quick<'b, T: ArrowPrimitiveType>(column: Option<MaybeNumbers<'b, T>>) -> impl Fn(usize) -> Option<T::Native> + 'b {
    let dense = column.and_then(|column| column.dense()).unwrap_or_default();
    move |row| dense.get(row).copied().or_else(|| column?.get(row))
}
