//! Perfetto's own format: tracks, slices with arguments, instants, counters, flows and logs.
//!
//! Perfetto puts events into order by itself, and keeps those of one time in the order of the file. So a slice begins
//! and ends in two packets, thread by thread; what has no duration follows as it comes.

mod annotations;
mod fields;
mod memory;
mod packets;
mod points;
mod slices;
mod tracks;

use std::io::Write;

use traceloom_core::{Loss, Result};

use self::{packets::Packets, tracks::Tracks};
use crate::wire;
use traceloom_passes::{Descriptor, Flows, Gathered, Options, Request, TIMELINE_NEEDS, Target, Timeline};

/// Perfetto.
#[derive(Debug)]
pub(super) struct Perfetto;

static DESCRIPTOR: Descriptor = Descriptor {
    id: "perfetto",
    name: "Perfetto",
    about: "ui.perfetto.dev and trace_processor: tracks, slices, instants, counters, flows, logs, memory",
    extensions: &["pftrace", "perfetto-trace"],
    needs: TIMELINE_NEEDS,
    ..Descriptor::EMPTY
};

impl Target for Perfetto {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let Request { source, options, .. } = *request;
        let mut loss = Loss::default();
        let mut gathered = Gathered::new(source, options, &DESCRIPTOR, &mut loss)?;
        let timeline = Timeline::new(&gathered.roster);
        let flows = Flows::new(source, &mut gathered, options, &mut loss)?;
        let mut packets = Packets::new(out);
        if let Some(unix_ns) = timeline.unix_origin_ns().and_then(|unix_ns| u64::try_from(unix_ns).ok()) {
            packets.clocks(unix_ns)?;
        }
        let mut tracks = Tracks::new(&gathered.roster, &mut packets, &mut loss)?;
        slices::write(&mut gathered, &timeline, &flows, &mut tracks, &mut packets, &mut loss)?;
        let place = Place { timeline: &timeline, options };
        points::write(source, &mut gathered, &place, &mut tracks, &mut packets, &mut loss)?;
        memory::write(source, &mut gathered, &place, &mut tracks, &mut packets, &mut loss)?;
        packets.flush()?;
        Ok(loss)
    }
}

/// Where rows go in time.
struct Place<'a> {
    timeline: &'a Timeline,
    options: &'a Options,
}
