//! Web Tracing Framework records to tables.

mod args;
mod events;
mod growing;
mod header;
mod kinds;

use std::sync::Arc;

use traceloom_core::{Findings, Records};
use traceloom_model::{Halt, Table, Tables, resources, threads::Thread};
use traceloom_wtf::{Reader, Record, Resource, Zone, derive::Tree, open};

pub(crate) use self::growing::grow;
use self::{
    events::{Mapper, Wants},
    kinds::push_definitions,
};
use crate::{prepared::Preparation, shared::report_clock, trace::Input};

/// The scope around an event, and the end of that scope.
pub(crate) static TREE: Preparation = Preparation {
    is_needed: events::needs_tree,
    prepare: |source, options| Ok(Arc::new(Tree::build(source, options, true)?)),
};

pub(crate) fn to_tables(input: &Input<'_>, tables: &mut Tables<'_>) -> Result<Findings, Halt> {
    let options = &input.options.read;
    let mut reader = open(input.source.clone(), options)?;
    let header = reader.header().clone();
    header::push_attributes(&header, tables)?;
    header::push_process(&header.info, tables)?;

    let wants = Wants::new(tables);
    let tree = input.prepared::<Tree>();
    let mut mapper = Mapper::new(wants, header::unit_ns(&header.info), tree, &options.limits, tables);
    if wants.anything {
        let mut resources = Resources::default();
        reader.walk(|located| match &located.record {
            Record::Event(event) => mapper.push(event, tables),
            record => resources.take(record, tables),
        })?;
    } else if is_walk_needed(tables) {
        let mut resources = Resources::default();
        reader.walk(|located| resources.take(&located.record, tables))?;
    }
    let (clock, extent) = (mapper.clock, mapper.extent);
    mapper.finish(tables)?;
    push_threads(&reader, tables)?;
    push_definitions(reader.types(), tables)?;
    header::push_facts(input, &header, extent, tables)?;
    let mut findings = reader.into_findings();
    report_clock(&clock, &mut findings)?;
    Ok(findings)
}

/// Whether something is wanted that may be anywhere in the file.
fn is_walk_needed(tables: &Tables<'_>) -> bool {
    [Table::Threads, Table::Definitions, Table::Resources].into_iter().any(|table| tables.wants(table))
}

/// Resources have no names; they are counted per chunk.
#[derive(Debug, Default)]
struct Resources {
    chunks: u64,
    next_id: i64,
}

impl Resources {
    fn take(&mut self, record: &Record<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        match record {
            Record::Chunk(_) => {
                self.chunks += 1;
                Ok(())
            }
            Record::Resource(resource) if tables.wants(Table::Resources) => self.push(resource, tables),
            _ => Ok(()),
        }
    }

    fn push(&mut self, resource: &Resource<'_>, tables: &mut Tables<'_>) -> Result<(), Halt> {
        let id = self.next_id;
        self.next_id += 1;
        tables.push(resources::Resource {
            id,
            name: &format!("chunk {} resource {}", self.chunks, resource.ordinal),
            kind: (&*resource.kind.to_string()).into(),
            bytes: resource.bytes,
        })
    }
}

fn push_threads(reader: &Reader, tables: &mut Tables<'_>) -> Result<(), Halt> {
    for (Zone { id: tid, name, kind, location }, id) in reader.zones().iter().zip(0..) {
        tables.push(Thread {
            id,
            tid: tid.map(Into::into),
            process_id: 0,
            name: name.as_deref().map(Into::into),
            kind: kind.as_deref().map(Into::into),
            location: location.as_deref(),
        })?;
    }
    Ok(())
}
