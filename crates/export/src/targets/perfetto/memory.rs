//! Allocations as two counters: bytes in use, and number of live allocations.

use traceloom_core::Result;

use super::{
    Output,
    fields::event,
    tracks::{CounterKey, Unit},
};
use traceloom_passes::{Pass, memory_in_use};

/// Writes the counters.
pub(super) fn write(pass: &mut Pass<'_>, output: &mut Output<'_>) -> Result<()> {
    let kinds = [("memory in use", Unit::Bytes), ("live allocations", Unit::Count)];
    let names = [pass.names.intern(kinds[0].0)?, pass.names.intern(kinds[1].0)?];
    let (timeline, Output { tracks, packets }) = (pass.timeline, output);
    memory_in_use(pass, |in_use| {
        for (((label, unit), name), value) in kinds.into_iter().zip(names).zip([in_use.bytes, in_use.pieces]) {
            let key = CounterKey { parent: tracks.process(in_use.trace), name, value_id: None, idx: None };
            let track = tracks.counter(key, || Ok(label.to_owned()), unit, packets)?;
            packets.begin(event::TYPE_COUNTER, track);
            packets.event.int(event::COUNTER_VALUE, value);
            packets.finish(timeline.at(in_use.ts_ns))?;
        }
        Ok(())
    })
}
