//! Names, stacks and threads with the numbers that the file knows them by.

use hashbrown::{HashMap, HashSet};
use traceloom_core::{Limits, Loss, Result};
use traceloom_memlyze::{Frame, MetadataBuilder};
use traceloom_model::{Table, TableSource, attributes, definitions, files, frames, stacks};

use traceloom_passes::{Gathered, NameId, NamePool, Options, Roster, ThreadIndex, phrase};

/// A row of another table: the number of its trace, and its id.
type Key = (usize, i64);

/// Everything that has a number.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) metadata: MetadataBuilder,
    /// Whether the trace is one of the upstream tracer, which knows neither addresses nor names: the file is one, too.
    pub(super) is_growth: bool,
    functions: HashMap<NameId, u64>,
    frames: HashMap<Key, (NameId, Option<NameId>, Option<u32>)>,
    stacks: HashMap<Key, (Option<i64>, i64)>,
    /// The ids of stacks that are asked for.
    known: HashMap<Key, u64>,
    threads: Vec<u16>,
}

impl Names {
    /// Reads the names that the traces declare, so that they keep their order.
    pub(super) fn read(
        source: &dyn TableSource,
        gathered: &mut Gathered,
        options: &Options,
        loss: &mut Loss,
    ) -> Result<Self> {
        let limits = &options.limits;
        let (functions, frames, stacks, known) = Default::default();
        let threads = number_threads(&gathered.roster, loss);
        let metadata = MetadataBuilder::new(limits);
        let is_growth = read_attributes(source, gathered, loss)?;
        let mut names = Self { metadata, is_growth, functions, frames, stacks, known, threads };
        names.read_declared(source, gathered, loss)?;
        match gathered.rows(Table::Allocations) {
            0 => {
                // Nobody refers to them: they tell of spans, and are lost with those.
                for table in [Table::Frames, Table::Stacks] {
                    loss.lose_many(phrase(table), gathered.rows(table), || table.name().to_owned());
                }
            }
            _ => names.read_stacks(source, gathered, limits)?,
        }
        for process in &gathered.roster.processes {
            if process.pid.is_some() || process.name.is_some() {
                loss.lose("numbers and names of processes", || format!("processes {}", process.id));
            }
        }
        Ok(names)
    }

    fn read_declared(&mut self, source: &dyn TableSource, gathered: &mut Gathered, loss: &mut Loss) -> Result<()> {
        let rest = gathered.rest();
        let Gathered { roster, names, .. } = gathered;
        rest.pour(source, &[Table::Definitions, Table::Files], |table, batch| {
            if table == Table::Files {
                let view = files::View::of(batch);
                for row in 0..view.rows {
                    let trace = roster.trace_number(view.trace_id.get(row))?;
                    match roster.traces[trace].format == "memlyze" {
                        true => drop(self.metadata.file(view.name.get(row).as_bytes())?),
                        false => loss.lose(phrase(table), || format!("files {}", view.id.get(row))),
                    }
                }
                return Ok(());
            }
            let view = definitions::View::of(batch);
            for row in 0..view.rows {
                match view.kind.get(row) {
                    "function" => drop(self.function(names.intern(view.name.get(row))?, names)?),
                    _ => loss.lose(phrase(table), || format!("definitions {}", view.id.get(row))),
                }
            }
            Ok(())
        })
    }

    fn read_stacks(&mut self, source: &dyn TableSource, gathered: &mut Gathered, limits: &Limits) -> Result<()> {
        let rest = gathered.rest();
        let Gathered { roster, names, .. } = gathered;
        rest.pour(source, &[Table::Frames, Table::Stacks], |table, batch| {
            if table == Table::Frames {
                let view = frames::View::of(batch);
                for row in 0..view.rows {
                    limits.check_entries("frames", self.frames.len() as u64 + 1)?;
                    let key = (roster.trace_number(view.trace_id.get(row))?, view.id.get(row));
                    let function = names.intern(view.function.get(row))?;
                    let file = view.file.get(row).map(|file| names.intern(file)).transpose()?;
                    self.frames.insert(key, (function, file, view.line.get(row)));
                }
                return Ok(());
            }
            let view = stacks::View::of(batch);
            for row in 0..view.rows {
                limits.check_entries("call stacks", self.stacks.len() as u64 + 1)?;
                let key = (roster.trace_number(view.trace_id.get(row))?, view.id.get(row));
                self.stacks.insert(key, (view.parent_id.get(row), view.frame_id.get(row)));
            }
            Ok(())
        })
    }

    /// The id of a function or of the name of a marker.
    pub(super) fn function(&mut self, name: NameId, names: &mut NamePool) -> Result<u64> {
        if let Some(id) = self.functions.get(&name) {
            return Ok(*id);
        }
        let text = names.get(name)?;
        // In such a file nothing has a name but the number that it has.
        let id = match self.is_growth.then(|| number_of(text, "marker ")).flatten() {
            Some(number) => number,
            None => self.metadata.function(text.as_bytes())?,
        };
        self.functions.insert(name, id);
        Ok(id)
    }

    /// The id of a stack; of none, that of a stack without frames.
    pub(super) fn stack(&mut self, trace: usize, stack: Option<i64>, names: &mut NamePool) -> Result<u64> {
        let key = (trace, stack.unwrap_or(i64::MIN));
        if let Some(id) = self.known.get(&key) {
            return Ok(*id);
        }
        let id = match self.growth_stack(key, names) {
            Some(id) => id,
            None => {
                let frames = self.frames_of(trace, stack, names)?;
                self.metadata.stack(&frames)?
            }
        };
        self.known.insert(key, id);
        Ok(id)
    }

    fn growth_stack(&self, key: Key, names: &NamePool) -> Option<u64> {
        let (_, frame) = self.stacks.get(&key).filter(|_| self.is_growth)?;
        let (function, ..) = self.frames.get(&(key.0, *frame))?;
        number_of(names.resident(*function)?, "stack ")
    }

    /// The frames of a stack, the innermost first.
    fn frames_of(&mut self, trace: usize, stack: Option<i64>, names: &mut NamePool) -> Result<Vec<Frame>> {
        let (mut list, mut next) = (Vec::new(), stack);
        // Nothing else bounds a stack that stands on itself.
        for _ in 0..=self.stacks.len() {
            let Some((parent, frame)) = next.and_then(|id| self.stacks.get(&(trace, id)).copied()) else { break };
            next = parent;
            let Some((function, file, line)) = self.frames.get(&(trace, frame)).copied() else { continue };
            let function = Some(self.function(function, names)?);
            let file = match file {
                Some(file) => Some(self.metadata.file(names.get(file)?.as_bytes())?),
                None => None,
            };
            list.push(Frame { file, line: line.map(u64::from), function });
        }
        Ok(list)
    }

    /// The number of a thread.
    pub(super) fn thread(&self, index: ThreadIndex) -> u16 {
        self.threads.get(index.index()).copied().unwrap_or(0)
    }
}

fn number_of(text: &str, before: &str) -> Option<u64> {
    text.strip_prefix(before)?.parse().ok()
}

/// Threads keep their numbers where these have 16 bits and are not taken.
fn number_threads(roster: &Roster, loss: &mut Loss) -> Vec<u16> {
    let mut taken = HashSet::new();
    let own: Vec<Option<u16>> = roster
        .threads()
        .iter()
        .map(|thread| thread.tid.and_then(|tid| u16::try_from(tid).ok()).filter(|tid| taken.insert(*tid)))
        .collect();
    let mut next = 0_u16;
    let mut numbers = Vec::with_capacity(own.len());
    for (thread, own) in roster.threads().iter().zip(own) {
        let number = own.unwrap_or_else(|| {
            while taken.len() <= usize::from(u16::MAX) && !taken.insert(next) {
                next = next.wrapping_add(1);
            }
            next
        });
        let is_other = thread.tid.is_some_and(|tid| tid != u64::from(number));
        if thread.is_taken && (thread.name.is_some() || is_other) {
            loss.lose("names and numbers of threads", || thread.label());
        }
        numbers.push(number);
    }
    numbers
}

/// Tells whether there is one trace, of the upstream tracer. What the header says is said again.
fn read_attributes(source: &dyn TableSource, gathered: &mut Gathered, loss: &mut Loss) -> Result<bool> {
    let mut is_growth = false;
    let rest = gathered.rest();
    let roster = &mut gathered.roster;
    rest.pour(source, &[Table::Attributes], |table, batch| {
        let view = attributes::View::of(batch);
        for row in 0..view.rows {
            let trace = roster.trace_number(view.trace_id.get(row))?;
            let is_ours = roster.traces[trace].format == "memlyze";
            let key = view.key.get(row);
            is_growth |= is_ours && key == "dialect" && view.value.get(row) == Some("growth");
            if !is_ours || key.starts_with("metadata.") {
                loss.lose(phrase(table), || key.to_owned());
            }
        }
        Ok(())
    })?;
    Ok(is_growth && roster.traces.len() == 1)
}
