//! Names, stacks and threads with their numbers in the file.

use hashbrown::{HashMap, HashSet};
use traceloom_core::Result;
use traceloom_memlyze::{Frame, MetadataBuilder};
use traceloom_model::{Table, select};

use traceloom_passes::{Attribute, FrameRows, NameId, NamePool, Pass, StackRows, ThreadIndex, Trace, phrase};

select! {
    /// Functions and other definitions.
    pub(super) struct DefinitionRows of definitions { id, kind, name }
}

select! {
    /// Source files.
    pub(super) struct FileRows of files { trace_id, id, name }
}

/// A row of another table: the number of its trace, and its id.
type Key = (usize, i64);

/// Everything that has a number.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) metadata: MetadataBuilder,
    /// Whether the trace is from the upstream tracer, which knows neither addresses nor names; the output then uses the
    /// same dialect.
    pub(super) is_growth: bool,
    functions: HashMap<NameId, u64>,
    frames: HashMap<Key, (NameId, Option<NameId>, Option<u32>)>,
    stacks: HashMap<Key, (Option<i64>, i64)>,
    /// The ids of stacks that were requested.
    known: HashMap<Key, u64>,
    threads: Vec<u16>,
}

impl Names {
    /// Reads the names that the traces declare, so that they keep their order.
    pub(super) fn read(pass: &mut Pass<'_>) -> Result<Self> {
        let mut names = Self {
            metadata: MetadataBuilder::new(&pass.options.limits),
            threads: number_threads(pass),
            is_growth: read_attributes(pass)?,
            functions: HashMap::new(),
            frames: HashMap::new(),
            stacks: HashMap::new(),
            known: HashMap::new(),
        };
        names.read_declared(pass)?;
        if pass.rows(Table::Allocations) > 0 {
            names.read_stacks(pass)?;
        } else {
            // No allocation refers to them: they belong to spans and are lost with those.
            pass.lose_rows(&[Table::Frames, Table::Stacks]);
        }
        pass.lose_processes();
        Ok(names)
    }

    fn read_declared(&mut self, pass: &mut Pass<'_>) -> Result<()> {
        let rest = pass.rest();
        let Pass { roster, names, loss, .. } = pass;
        rest.pour(&[Table::Definitions, Table::Files], |table, batch| {
            if table == Table::Files {
                let rows = FileRows::of(batch)?;
                for row in 0..rows.rows {
                    let trace = roster.trace_number(rows.trace_id.get(row))?;
                    if is_ours(&roster.traces[trace]) {
                        self.metadata.file(rows.name.get(row).as_bytes())?;
                    } else {
                        loss.lose(phrase(table), || format!("files {}", rows.id.get(row)));
                    }
                }
                return Ok(());
            }
            let rows = DefinitionRows::of(batch)?;
            for row in 0..rows.rows {
                match rows.kind.get(row) {
                    "function" => drop(self.function(names.intern(rows.name.get(row))?, names)?),
                    _ => loss.lose(phrase(table), || format!("definitions {}", rows.id.get(row))),
                }
            }
            Ok(())
        })
    }

    fn read_stacks(&mut self, pass: &mut Pass<'_>) -> Result<()> {
        let (rest, limits) = (pass.rest(), &pass.options.limits);
        let Pass { roster, names, .. } = pass;
        rest.pour(&[Table::Frames, Table::Stacks], |table, batch| {
            if table == Table::Frames {
                let rows = FrameRows::of(batch)?;
                for row in 0..rows.rows {
                    limits.check_entries("frames", self.frames.len() as u64 + 1)?;
                    let key = (roster.trace_number(rows.trace_id.get(row))?, rows.id.get(row));
                    let function = names.intern(rows.function.get(row))?;
                    let file = rows.file.get(row).map(|file| names.intern(file)).transpose()?;
                    self.frames.insert(key, (function, file, rows.line.get(row)));
                }
                return Ok(());
            }
            let rows = StackRows::of(batch)?;
            for row in 0..rows.rows {
                limits.check_entries("call stacks", self.stacks.len() as u64 + 1)?;
                let key = (roster.trace_number(rows.trace_id.get(row))?, rows.id.get(row));
                self.stacks.insert(key, (rows.parent_id.get(row), rows.frame_id.get(row)));
            }
            Ok(())
        })
    }

    /// The id of a function, or of a marker's name.
    pub(super) fn function(&mut self, name: NameId, names: &mut NamePool) -> Result<u64> {
        if let Some(id) = self.functions.get(&name) {
            return Ok(*id);
        }
        let text = names.get(name)?;
        // In such a file, names are only numbers.
        let id = match self.is_growth.then(|| number_of(text, "marker ")).flatten() {
            Some(number) => number,
            None => self.metadata.function(text.as_bytes())?,
        };
        self.functions.insert(name, id);
        Ok(id)
    }

    /// The id of a stack; for no stack, that of a stack without frames.
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
        // Bounds the walk if a stack is its own ancestor.
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

/// Threads keep their numbers if these fit in 16 bits and are free.
fn number_threads(pass: &mut Pass<'_>) -> Vec<u16> {
    let Pass { roster, loss, .. } = pass;
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
            loss.lose("thread names and numbers", || thread.label());
        }
        numbers.push(number);
    }
    numbers
}

fn is_ours(trace: &Trace) -> bool {
    trace.format == traceloom_memlyze::FORMAT.id
}

/// Whether there is exactly one trace and it is from the upstream tracer. Attributes from the header are not lost,
/// because the header is written again.
fn read_attributes(pass: &mut Pass<'_>) -> Result<bool> {
    let mut is_growth = false;
    pass.each_attribute(|pass, Attribute { trace, key, value }| {
        let is_ours = is_ours(&pass.roster.traces[trace]);
        is_growth |= is_ours && key == "dialect" && value == Some("growth");
        if !is_ours || key.starts_with("metadata.") {
            pass.lose_attribute(key);
        }
        Ok(())
    })?;
    Ok(is_growth && pass.roster.traces.len() == 1)
}
