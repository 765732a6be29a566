//! Chrome's JSON: an object with an array of trace events, written incrementally.

mod events;
mod lanes;
mod points;
mod slices;

use std::io::Write;

use traceloom_core::Result;

use self::{events::Events, lanes::Lanes};
use traceloom_passes::{Flows, Pass, TIMELINE, Target, Writer, memory_in_use};

pub(super) static TARGET: Target = Target {
    id: "chrome",
    name: "Chrome trace events",
    about: "chrome://tracing, Perfetto, Firefox Profiler and many more: JSON, compressed as `.json.gz`",
    extensions: &["json", "trace.json"],
    needs: TIMELINE,
    is_text: true,
    writer: Writer::Pass(write),
    ..Target::EMPTY
};

fn write(pass: &mut Pass<'_>, out: &mut dyn Write) -> Result<()> {
    let flows = Flows::new(pass)?;
    let mut events = Events::new(out);
    let lanes = Lanes::new(&pass.roster, &mut events, &mut pass.loss)?;
    let mut output = Output { lanes, events };
    slices::write(pass, &flows, &mut output)?;
    points::write(pass, &mut output)?;
    let (timeline, Output { lanes, mut events }) = (pass.timeline, output);
    memory_in_use(pass, |in_use| {
        let place = lanes.process(in_use.trace);
        for (name, value) in [("memory in use", in_use.bytes), ("live allocations", in_use.pieces)] {
            events.begin(b'C', place, timeline.at(in_use.ts_ns));
            events.json.key("name").string(name);
            events.json.key("args").begin_object().key("value").int(value).end_object();
            events.end()?;
        }
        Ok(())
    })?;
    events.finish(timeline.unix_origin_ns())
}

/// Events, and the lanes that they belong to.
struct Output<'o> {
    lanes: Lanes,
    events: Events<'o>,
}
