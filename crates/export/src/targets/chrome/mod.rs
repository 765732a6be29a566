//! Chrome's JSON: an object with an array of trace events, written as it goes.

mod events;
mod lanes;
mod points;
mod slices;

use std::io::Write;

use traceloom_core::{Loss, Result};

use self::{events::Events, lanes::Lanes};
use traceloom_passes::{Descriptor, Flows, Pass, Request, TIMELINE_NEEDS, Target, memory_in_use};

/// Chrome's JSON.
#[derive(Debug)]
pub(super) struct Chrome;

static DESCRIPTOR: Descriptor = Descriptor {
    id: "chrome",
    name: "Chrome trace events",
    about: "chrome://tracing, Perfetto, Firefox Profiler and many more: JSON, `.json.gz` for less of it",
    extensions: &["json", "trace.json"],
    needs: TIMELINE_NEEDS,
    is_text: true,
    ..Descriptor::EMPTY
};

impl Target for Chrome {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn write(&self, request: &Request<'_>, out: &mut dyn Write) -> Result<Loss> {
        let mut pass = Pass::new(request, &DESCRIPTOR)?;
        let flows = Flows::new(&mut pass)?;
        let mut events = Events::new(out);
        let lanes = Lanes::new(&pass.roster, &mut events, &mut pass.loss)?;
        let mut output = Output { lanes, events };
        slices::write(&mut pass, &flows, &mut output)?;
        points::write(&mut pass, &mut output)?;
        let (timeline, Output { lanes, mut events }) = (pass.timeline, output);
        memory_in_use(&mut pass, |in_use| {
            let place = lanes.process(in_use.trace);
            for (name, value) in [("memory in use", in_use.bytes), ("live allocations", in_use.pieces)] {
                events.begin('C', place, timeline.at(in_use.ts_ns));
                events.json.key("name").string(name);
                events.json.key("args").begin_object().key("value").int(value).end_object();
                events.end()?;
            }
            Ok(())
        })?;
        events.finish(timeline.unix_origin_ns())?;
        Ok(pass.loss)
    }
}

/// Events, and the lanes that they belong to.
struct Output<'o> {
    lanes: Lanes,
    events: Events<'o>,
}
