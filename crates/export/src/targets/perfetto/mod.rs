//! Perfetto's own format: tracks, slices with arguments, instants, counters, flows and logs.
//!
//! Perfetto sorts events by time itself, and keeps events with equal times in file order. So a slice is written as two
//! packets, start and end, thread by thread; rows without a duration follow in any order.

mod annotations;
mod fields;
mod memory;
mod packets;
mod points;
mod slices;
mod tracks;

use std::io::Write;

use traceloom_core::Result;

use self::{packets::Packets, tracks::Tracks};
use crate::wire;
use traceloom_passes::{Flows, Pass, TIMELINE, Target, Writer};

pub(super) static TARGET: Target = Target {
    id: "perfetto",
    name: "Perfetto",
    about: "ui.perfetto.dev and trace_processor: tracks, slices, instants, counters, flows, logs, memory",
    extensions: &["pftrace", "perfetto-trace"],
    needs: TIMELINE,
    writer: Writer::Pass(write),
    ..Target::EMPTY
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let flows = Flows::new(pass)?;
    let mut packets = Packets::new(out);
    if let Some(unix_ns) = pass.timeline.unix_origin_ns().and_then(|unix_ns| u64::try_from(unix_ns).ok()) {
        packets.clocks(unix_ns)?;
    }
    let tracks = Tracks::new(&pass.roster, &mut packets, &mut pass.loss)?;
    let mut output = Output { tracks, packets };
    slices::write(pass, &flows, &mut output)?;
    points::write(pass, &mut output)?;
    memory::write(pass, &mut output)?;
    output.packets.flush()
}

/// Packets, and the tracks that they belong to.
struct Output<'o> {
    tracks: Tracks,
    packets: Packets<'o>,
}
