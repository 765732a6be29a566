//! Builds a profile from tables.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use traceloom_model::{LineLevel, Table, select};
use traceloom_passes::{Interner, NO_NUMBER, Translation, Words, number_of};

use super::{Caller, Cost, Figures, Profile, Sub, SubKind};

select! { pub(super) struct Traces of traces { trace_id, path, format } }
select! { pub(super) struct Attributes of attributes { trace_id, key, value } }
select! { pub(super) struct Files of files { trace_id, id, name, parent_file_id, parent_line, flags } }
select! { pub(super) struct Sources of sources { trace_id, file_id, line, text } }
select! { pub(super) struct LineTimes of line_times { trace_id, file_id, line, level, calls, incl_ns, excl_ns } }
select! {
    pub(super) struct Calls of calls {
        trace_id, caller, callee, file, line, count, incl_ns, excl_ns, recursive_ns, max_depth,
    }
}
select! { pub(super) struct Args of args { trace_id, owner_table, owner_id, key, text_value } }
select! { pub(super) struct Definitions of definitions { trace_id, id, kind, name, file, line, last_line } }

/// The tables of one trace.
#[derive(Debug, Default)]
pub(super) struct Collected {
    profile: Profile,
    names: Interner,
    callers: Translation,
    callees: Translation,
    call_files: Translation,
    levels: Words<LineLevel>,
    calls: HashMap<CallKey, Figures>,
    definitions: Vec<Definition>,
    /// The kinds of subs, by the id of the definition.
    kinds: HashMap<i64, SubKind>,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
struct CallKey {
    callee: u32,
    caller: u32,
    file: u32,
    line: Option<u32>,
}

#[derive(Debug)]
struct Definition {
    id: i64,
    name: String,
    file: Option<String>,
    first_line: Option<u32>,
    last_line: Option<u32>,
}

/// The file id of data that belongs to no file.
const NO_FILE: i64 = -1;

impl Collected {
    pub(super) fn take_trace(&mut self, view: &Traces<'_>) {
        for row in 0..view.rows {
            self.profile.path = view.path.get(row).to_owned();
            self.profile.format = view.format.get(row).to_owned();
        }
    }

    pub(super) fn take_attributes(&mut self, view: &Attributes<'_>) {
        for row in 0..view.rows {
            let value = view.value.get(row).unwrap_or_default().to_owned();
            self.profile.attributes.insert(view.key.get(row).to_owned(), value);
        }
    }

    pub(super) fn take_files(&mut self, view: &Files<'_>) {
        for row in 0..view.rows {
            let file = self.profile.files.entry(view.id.get(row)).or_default();
            file.name = view.name.get(row).to_owned();
            file.parent = view.parent_file_id.get(row).zip(view.parent_line.get(row));
            file.flags = view.flags.get(row);
        }
    }

    pub(super) fn take_sources(&mut self, view: &Sources<'_>) {
        for row in 0..view.rows {
            let file = self.profile.files.entry(view.file_id.get(row)).or_default();
            file.source.insert(view.line.get(row), view.text.get(row).to_owned());
        }
    }

    pub(super) fn take_line_times(&mut self, view: &LineTimes<'_>) {
        let levels = self.levels.of(view.level.values(), LineLevel::of);
        for row in 0..view.rows {
            let file = self.profile.files.entry(view.file_id.get(row).unwrap_or(NO_FILE)).or_default();
            let lines = match levels[view.level.keys()[row] as usize] {
                Some(LineLevel::Block) => &mut file.blocks,
                Some(LineLevel::Sub) => &mut file.sub_lines,
                _ => &mut file.lines,
            };
            let cost =
                Cost { count: view.calls.get(row), incl_ns: view.incl_ns.get(row), excl_ns: view.excl_ns.get(row) };
            lines.entry(view.line.get(row)).or_default().add(&cost);
        }
    }

    pub(super) fn take_calls(&mut self, view: &Calls<'_>) {
        let callees = self.callees.of(view.callee.values(), &mut self.names);
        let callers = self.callers.of(view.caller.values(), &mut self.names);
        let files = self.call_files.of(view.file.values(), &mut self.names);
        for row in 0..view.rows {
            let callee = callees.get(view.callee.keys()[row] as usize).copied().unwrap_or(NO_NUMBER);
            let caller = number_of(callers, view.caller.key(row));
            let file = number_of(files, view.file.key(row));
            let figures = Figures {
                count: view.count.get(row),
                incl_ns: view.incl_ns.get(row),
                excl_ns: view.excl_ns.get(row),
                recursive_ns: view.recursive_ns.get(row).unwrap_or(0),
                depth: view.max_depth.get(row).unwrap_or(0),
            };
            self.calls.entry(CallKey { callee, caller, file, line: view.line.get(row) }).or_default().add(&figures);
        }
    }

    pub(super) fn take_args(&mut self, view: &Args<'_>) {
        for row in 0..view.rows {
            if view.owner_table.get(row) == Table::Definitions.name() && view.key.get(row) == "kind" {
                let kind = view.text_value.get(row).and_then(SubKind::of);
                self.kinds.extend(kind.map(|kind| (view.owner_id.get(row), kind)));
            }
        }
    }

    pub(super) fn take_definitions(&mut self, view: &Definitions<'_>) {
        for row in (0..view.rows).filter(|row| view.kind.get(*row) == "sub") {
            self.definitions.push(Definition {
                id: view.id.get(row),
                name: view.name.get(row).to_owned(),
                file: view.file.get(row).map(str::to_owned),
                first_line: view.line.get(row),
                last_line: view.last_line.get(row),
            });
        }
    }

    /// Builds the profile.
    pub(super) fn finish(mut self, trace_id: u64) -> Profile {
        self.profile.trace_id = trace_id;
        if let Some(file) = self.profile.files.get_mut(&NO_FILE) {
            file.name = "(unknown)".to_owned();
        }
        self.link_evals();
        let numbers = self.file_numbers();
        for definition in std::mem::take(&mut self.definitions) {
            let sub = self.profile.subs.entry(definition.name).or_default();
            sub.file = definition.file.and_then(|name| numbers.get(name.as_str()).copied());
            (sub.first_line, sub.last_line) = (definition.first_line, definition.last_line);
            sub.kind = self.kinds.get(&definition.id).copied().unwrap_or_default();
        }
        for (key, figures) in std::mem::take(&mut self.calls) {
            let Some(callee) = self.names.get(key.callee) else { continue };
            let file = self.names.get(key.file).and_then(|name| numbers.get(name).copied());
            let by = self.names.get(key.caller).map(str::to_owned);
            let sub = self.profile.subs.entry(callee.to_owned()).or_default();
            sub.total.add(&figures);
            sub.callers.push(Caller { file, line: key.line, by, figures });
        }
        self.profile.subs.values_mut().for_each(sort_callers);
        self.profile
    }

    fn link_evals(&mut self) {
        let parents: Vec<_> =
            self.profile.files.iter().filter_map(|(id, file)| file.parent.map(|(parent, _)| (parent, *id))).collect();
        for (parent, eval) in parents {
            match self.profile.files.get_mut(&parent) {
                Some(file) => file.evals.push(eval),
                None => _ = self.profile.files.get_mut(&eval).map(|file| file.parent = None),
            }
        }
    }

    /// File ids by name; if several files share a name, calls and subs refer to the first one.
    fn file_numbers(&self) -> BTreeMap<String, i64> {
        let mut numbers = BTreeMap::new();
        for (id, file) in self.profile.files.iter().filter(|(id, _)| **id != NO_FILE) {
            numbers.entry(file.name.clone()).or_insert(*id);
        }
        numbers
    }
}

pub(super) fn sort_callers(sub: &mut Sub) {
    sub.callers.sort_by(|one, other| (one.file, one.line, &one.by).cmp(&(other.file, other.line, &other.by)));
}
