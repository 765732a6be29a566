//! Scopes: which event closes which, and what is inside.
//!
//! Scopes are numbered in the order in which they are entered in the file, over all zones. In a zone whose events are
//! not in time order, scopes nest as if they were, as in WTF.

use std::collections::HashMap;

use traceloom_core::{Arena, Error, Options, Records, Result, Source, Spill, SpillIter, reserve, spill_row};

use crate::{Event, Record, Role};

/// No parent, or no end.
const NONE: u32 = u32::MAX;
const OPEN: i64 = i64::MIN;

/// A scope, as seen from the event that enters it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Scope {
    /// Number of the scope.
    pub number: u32,
    /// When the scope was left; `None` if it never was.
    pub end_us: Option<i64>,
    /// Total time of the scopes directly inside; the rest of its duration is self time.
    pub children_us: u64,
}

/// The position of an event among the scopes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Nested {
    /// The innermost scope around it; for a leave, the scope that it ends.
    pub parent: Option<u32>,
    /// Number of open scopes around it.
    pub depth: u32,
    /// The scope that it enters.
    pub scope: Option<Scope>,
}

/// The effect of an event on the stack.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Step {
    Enter,
    Leave,
    Stay,
}

#[inline]
fn step(event: &Event<'_>) -> Step {
    match event.kind.role {
        Role::ScopeLeave => Step::Leave,
        _ if event.kind.is_scope() => Step::Enter,
        _ => Step::Stay,
    }
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    number: u32,
    begin: i64,
    children: u64,
}

#[derive(Debug)]
struct ZoneStack {
    frames: Vec<Frame>,
    last: i64,
    is_disordered: bool,
}

impl Default for ZoneStack {
    fn default() -> Self {
        Self { frames: Vec::new(), last: i64::MIN, is_disordered: false }
    }
}

/// Collects the events of a file; see [`Tree`].
#[derive(Debug)]
struct TreeBuilder {
    scopes: Spill<Ending>,
    zones: Vec<ZoneStack>,
    /// Events of the zones that are known to be out of order: time and effect.
    disordered: HashMap<u32, Vec<(i64, u32)>>,
    levels: u32,
    orphan_leaves: u64,
    /// Number of bytes that the events of out-of-order zones may still take.
    room_bytes: u64,
}

/// In an out-of-order zone: an event that leaves a scope, or has no effect; any other number is that of a scope.
const LEAVE: u32 = u32::MAX - 1;
const STAY: u32 = u32::MAX;
/// Memory for sorting, per event of such a zone.
const DISORDERED_BYTES: u64 = 16 + 4 + 8;

impl TreeBuilder {
    fn new(options: &Options, disordered: &[u32]) -> Self {
        let tree_bytes = options.limits.tree_bytes;
        Self {
            scopes: Arena::new(tree_bytes).stack(),
            zones: Vec::new(),
            disordered: disordered.iter().map(|zone| (*zone, Vec::new())).collect(),
            levels: 0,
            orphan_leaves: 0,
            room_bytes: tree_bytes,
        }
    }

    /// Adds the next event of the file.
    #[inline]
    fn push(&mut self, event: &Event<'_>) -> Result<()> {
        if event.kind.is_structural() {
            return Ok(());
        }
        let index = event.zone as usize;
        if index >= self.zones.len() {
            self.zones.resize_with(index + 1, ZoneStack::default);
        }
        if !self.disordered.is_empty() && self.collect(event)? {
            return Ok(());
        }
        let Some(zone) = self.zones.get_mut(index) else { return Ok(()) };
        let time = event.time_us;
        zone.is_disordered |= time < zone.last;
        zone.last = time;
        match step(event) {
            Step::Enter => {
                let number = new_scope(&mut self.scopes)?;
                if zone.frames.len() == zone.frames.capacity() {
                    reserve(&mut zone.frames, 1)?;
                }
                zone.frames.push(Frame { number, begin: time, children: 0 });
                self.levels = self.levels.max(zone.frames.len() as u32);
            }
            Step::Leave => close(&mut zone.frames, time, &mut self.scopes, &mut self.orphan_leaves)?,
            Step::Stay => {}
        }
        Ok(())
    }

    /// Keeps an event of a zone that has to be sorted first.
    #[cold]
    #[inline(never)]
    fn collect(&mut self, event: &Event<'_>) -> Result<bool> {
        let Some(events) = self.disordered.get_mut(&event.zone) else { return Ok(false) };
        let room = self.room_bytes.checked_sub(DISORDERED_BYTES);
        self.room_bytes = room.ok_or_else(|| Error::limit("events out of order", events.len() as u64 + 1, 0))?;
        let what = match step(event) {
            Step::Enter => new_scope(&mut self.scopes)?,
            Step::Leave => LEAVE,
            Step::Stay => STAY,
        };
        reserve(events, 1)?;
        events.push((event.time_us, what));
        Ok(true)
    }

    fn disordered_zones(&self) -> Vec<u32> {
        let zones = self.zones.iter().enumerate().filter(|(_, zone)| zone.is_disordered);
        zones.map(|(index, _)| index as u32).collect()
    }

    fn finish(mut self) -> Result<Tree> {
        for zone in &mut self.zones {
            keep_open(&zone.frames, &mut self.scopes)?;
        }
        let mut places = HashMap::new();
        for (zone, events) in std::mem::take(&mut self.disordered) {
            places.insert(zone, self.nest_sorted(&events)?);
        }
        let Self { scopes, levels, orphan_leaves, .. } = self;
        Ok(Tree { scopes, places, levels, orphan_leaves })
    }

    /// Nests the events of a zone in time order; returns parent and depth in file order.
    fn nest_sorted(&mut self, events: &[(i64, u32)]) -> Result<Vec<(u32, u32)>> {
        let mut order: Vec<u32> = (0..events.len() as u32).collect();
        order.sort_by_key(|index| events.get(*index as usize).map_or(0, |(time, _)| *time));
        let mut places = vec![(NONE, 0); events.len()];
        let mut frames: Vec<Frame> = Vec::new();
        for index in order {
            let Some((time, what)) = events.get(index as usize).copied() else { continue };
            if let Some(place) = places.get_mut(index as usize) {
                *place = (frames.last().map_or(NONE, |frame| frame.number), frames.len() as u32);
            }
            match what {
                STAY => {}
                LEAVE => close(&mut frames, time, &mut self.scopes, &mut self.orphan_leaves)?,
                number => {
                    frames.push(Frame { number, begin: time, children: 0 });
                    self.levels = self.levels.max(frames.len() as u32);
                }
            }
        }
        keep_open(&frames, &mut self.scopes)?;
        Ok(places)
    }
}

fn new_scope(scopes: &mut Spill<Ending>) -> Result<u32> {
    let number = scopes.len();
    if number >= LEAVE.into() {
        return Err(Error::limit("scopes", number, LEAVE.into()));
    }
    scopes.push(Ending::OPEN)?;
    Ok(number as u32)
}

#[inline]
fn close(frames: &mut Vec<Frame>, time: i64, scopes: &mut Spill<Ending>, orphans: &mut u64) -> Result<()> {
    let Some(frame) = frames.pop() else {
        *orphans += 1;
        return Ok(());
    };
    if let Some(parent) = frames.last_mut() {
        let duration = u64::try_from(time.saturating_sub(frame.begin)).unwrap_or(0);
        parent.children = parent.children.saturating_add(duration);
    }
    scopes.set(frame.number.into(), Ending { end: time, children: frame.children })
}

fn keep_open(frames: &[Frame], scopes: &mut Spill<Ending>) -> Result<()> {
    let mut with_children = frames.iter().filter(|frame| frame.children > 0);
    let open = |frame: &Frame| Ending { children: frame.children, ..Ending::OPEN };
    with_children.try_for_each(|frame| scopes.set(frame.number.into(), open(frame)))
}

spill_row! {
    /// The end of a scope, and the total time of the scopes directly inside.
    #[derive(Debug)]
    struct Ending {
        end: i64,
        children: u64,
    }
}

impl Ending {
    const OPEN: Self = Self { end: OPEN, children: 0 };
}

/// The scopes of a whole file.
#[derive(Debug)]
pub struct Tree {
    scopes: Spill<Ending>,
    /// Parent and depth of each event, for the zones whose events are out of order.
    places: HashMap<u32, Vec<(u32, u32)>>,
    levels: u32,
    orphan_leaves: u64,
}

impl Tree {
    /// Reads a file and nests its scopes; reads it a second time if a zone turns out to be out of order.
    ///
    /// `unwraps` decides whether times continue when the stored microseconds wrap.
    pub fn build(source: &Source, options: &Options, unwraps: bool) -> Result<Self> {
        let first = Self::collect(source, options, unwraps, &[])?;
        let disordered = first.disordered_zones();
        if disordered.is_empty() {
            return first.finish();
        }
        drop(first);
        Self::collect(source, options, unwraps, &disordered)?.finish()
    }

    fn collect(source: &Source, options: &Options, unwraps: bool, disordered: &[u32]) -> Result<TreeBuilder> {
        let mut reader = crate::open(source.clone(), options)?;
        reader.unwrap_times(unwraps);
        let mut builder = TreeBuilder::new(options, disordered);
        reader.walk(|located| match &located.record {
            Record::Event(event) => builder.push(event),
            _ => Ok(()),
        })?;
        Ok(builder)
    }

    /// Number of scopes.
    pub fn len(&self) -> u64 {
        self.scopes.len()
    }

    /// Whether there are no scopes.
    pub fn is_empty(&self) -> bool {
        self.scopes.is_empty()
    }

    /// Maximum number of scopes that are open at once in one zone.
    pub fn levels(&self) -> u32 {
        self.levels
    }

    /// Leave events without a scope to end, which ring buffers cause.
    pub fn orphan_leaves(&self) -> u64 {
        self.orphan_leaves
    }

    /// Accompanies a second read of the same file.
    pub fn walk(&self) -> Walk<'_> {
        Walk { tree: self, next: 0, endings: self.scopes.iter(), stacks: Vec::new(), seen: HashMap::new() }
    }
}

/// Returns the position of every event, in file order.
#[derive(Debug)]
pub struct Walk<'t> {
    tree: &'t Tree,
    next: u32,
    endings: SpillIter<'t, Ending>,
    stacks: Vec<Vec<u32>>,
    /// Number of events passed in each out-of-order zone.
    seen: HashMap<u32, usize>,
}

impl Walk<'_> {
    /// The position of the next event; `None` for an event that belongs to no zone.
    pub fn nested(&mut self, event: &Event<'_>) -> Result<Option<Nested>> {
        if event.kind.is_structural() {
            return Ok(None);
        }
        let step = step(event);
        let scope = match step {
            Step::Enter => Some(self.scope()?),
            _ => None,
        };
        let (parent, depth) = match self.tree.places.get(&event.zone) {
            Some(places) => {
                let seen = self.seen.entry(event.zone).or_default();
                *seen += 1;
                places.get(*seen - 1).copied().unwrap_or((NONE, 0))
            }
            None => self.replay(event.zone, step, scope),
        };
        Ok(Some(Nested { parent: Some(parent).filter(|parent| *parent != NONE), depth, scope }))
    }

    fn scope(&mut self) -> Result<Scope> {
        let number = self.next;
        self.next += 1;
        let Ending { end, children } = self.endings.next().unwrap_or(Ok(Ending::OPEN))?;
        Ok(Scope { number, end_us: Some(end).filter(|end| *end != OPEN), children_us: children })
    }

    fn replay(&mut self, zone: u32, step: Step, scope: Option<Scope>) -> (u32, u32) {
        let index = zone as usize;
        if index >= self.stacks.len() {
            self.stacks.resize_with(index + 1, Vec::new);
        }
        let Some(stack) = self.stacks.get_mut(index) else { return (NONE, 0) };
        let place = (stack.last().copied().unwrap_or(NONE), stack.len() as u32);
        match step {
            Step::Enter => stack.extend(scope.map(|scope| scope.number)),
            Step::Leave => {
                stack.pop();
            }
            Step::Stay => {}
        }
        place
    }
}
