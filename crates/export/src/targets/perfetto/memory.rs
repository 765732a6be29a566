//! Allocations as two counters: bytes in use, and how many pieces they are.

use traceloom_core::{Loss, Result};
use traceloom_model::TableSource;

use super::{
    Place,
    fields::event,
    packets::Packets,
    tracks::{CounterKey, Tracks, Unit},
};
use traceloom_passes::{Gathered, memory_in_use};

/// Writes the counters.
pub(super) fn write(
    source: &dyn TableSource,
    gathered: &mut Gathered,
    place: &Place<'_>,
    tracks: &mut Tracks,
    packets: &mut Packets<'_>,
    loss: &mut Loss,
) -> Result<()> {
    let kinds = [("memory in use", Unit::Bytes), ("live allocations", Unit::Count)];
    let names = [gathered.names.intern(kinds[0].0)?, gathered.names.intern(kinds[1].0)?];
    memory_in_use(source, gathered, place.options, loss, |in_use| {
        for (((label, unit), name), value) in kinds.into_iter().zip(names).zip([in_use.bytes, in_use.pieces]) {
            let key = CounterKey { parent: tracks.process(in_use.trace), name, value_id: None, idx: None };
            let track = tracks.counter(key, || Ok(label.to_owned()), unit, packets)?;
            packets.begin(event::TYPE_COUNTER, track);
            packets.event.int(event::COUNTER_VALUE, value);
            packets.finish(place.timeline.at(in_use.trace, in_use.ts_ns))?;
        }
        Ok(())
    })
}
