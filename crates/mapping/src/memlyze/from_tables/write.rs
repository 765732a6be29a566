//! Writes items in order as events of the file.

use std::io::Write;

use traceloom_core::{Result, Sorted};
use traceloom_memlyze::{
    Alloc, Clock, Free, Gc, Header, Marker, Padding, Record, create_with_metadata,
    raw::{Dialect, Packing},
};

use super::{
    item::{ALLOC, FREE, GC, Item},
    names::Names,
};
use traceloom_passes::Pass;

/// Writes the file.
pub(super) fn write(items: Sorted<Item>, names: Names, pass: &Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let packing = if pass.variant == "lz4" { Packing::Blocks } else { Packing::Plain };
    let start_us = pass.timeline.unix_origin_ns().map_or(0, |origin| origin.max(0).unsigned_abs() / 1000);
    let dialect = if names.is_growth { Dialect::Growth } else { Dialect::Document };
    let header = Header { dialect, ..Header::new(start_us).packed(packing) };
    let mut writer = create_with_metadata(out, &header, &names.metadata.finish()?)?;
    let mut clock = Clock::new(dialect);
    for item in items.iter()? {
        writer.write(&record(&item?, &mut clock))?;
    }
    writer.finish()?;
    Ok(())
}

#[inline]
fn record(item: &Item, clock: &mut Clock) -> Record<'static> {
    let &Item { number, size_bytes, stack, thread, .. } = item;
    let (then_us, padding) = (item.ts_ns / 1000, Padding::default());
    let is_memory = matches!(item.kind, ALLOC | FREE);
    let delta_us = if is_memory { clock.memory_delta(then_us) } else { clock.other_delta(then_us) };
    let time_us = clock.now_us();
    match item.kind {
        ALLOC => Record::Alloc(Alloc { delta_us, time_us, address: number, size_bytes, stack, thread, padding }),
        FREE => Record::Free(Free { delta_us, time_us, address: number, padding }),
        GC => Record::Gc(Gc { delta_us, time_us, objects: number, size_bytes, padding }),
        _ => Record::Marker(Marker { delta_us, time_us, name: number, padding }),
    }
}
